"""The area waf as one object: from the previous WAF managed rules to WAF Managed Rules."""

from __future__ import annotations

from edgeshift.areas.area import AreaDefinition, OwnList, Phrases, TicketText
from edgeshift.areas.waf.answers import Reading
from edgeshift.areas.waf.body import Adjustment
from edgeshift.areas.waf.evidence_again import AGAIN
from edgeshift.areas.waf.support import support_cause, ticket_of
from edgeshift.model.fleet import Area
from edgeshift.model.steps import Step

DEFINITION = AreaDefinition(
    name=Area.WAF,
    title="previous WAF managed rules to WAF Managed Rules",
    workflow="WafZone",
    reversible=False,
    validates=True,
    evidence=AGAIN,
    first_step=Step.VALIDATE,
    asks_support=True,
    support_cause=support_cause,
    ticket=TicketText(Reading, ticket_of),
    sections=("validation", "consents"),
    lists=(
        OwnList(
            key="adjustments",
            model=Adjustment,
            meaning="Changes to every proposal, beside what the service returns; signed off with it.",
            example=[
                {
                    "ruleset": "efb7b8c949ac4650a09736fc376e9aee",
                    "rule": "5de7edfa648c4d6891dc3e7f84534ffa",
                    "action": "log",
                }
            ],
        ),
    ),
    # After the plan's reading: fresh configuration, page rules, PUT, status, stored rules (docs/calls.md).
    # With a window its plan, fresh configuration, page rules, status, stored rules, validation PUT and stored
    # rules more; then a status, its rules and the queries of its events; and its stored rules before the
    # commit. After a long window, such as the usual one, it is read anew as a whole. Firewall rules that
    # bypass the WAF, which few zones have, are a call more before each PUT.
    calls=5,
    calls_validated=5 + 7 + 4 + 1,
    calls_read_anew=11 + 1,
    waits="besides validation windows, sign-offs and the service's own time",
    needs="name and targets",
    promise="nothing irreversible happens without a sign-off",
    sent={
        "validate": "the validation",
        "delete_overrides": "the deletion of the URI overrides",
        "commit": "the commit (irreversible)",
    },
    phrases=Phrases(
        drifted="not sent: the zone's configuration was no longer the one that was signed",
        done="migrated, or already so",
        to_change="to migrate",
        basis="the configuration",
        permit="for",
    ),
    parts={
        "campaign_file": "edgeshift.campaign_file.areas.waf:PART",
        "checks": "edgeshift.operations.areas.waf:CHECK",
        "cli": "edgeshift.cli.areas.waf:PART",
        "demo": "edgeshift.testbed.demo.areas.waf:PART",
        "doctor": "edgeshift.doctor.areas.waf:PART",
        "documents": "edgeshift.stores.documents.areas.waf:PART",
        "proposals": "edgeshift.operations.areas.waf:PART",
        "stack": "edgeshift.testbed.stack.areas.waf:PART",
        "views": "edgeshift.views.areas.waf:PART",
        "worker": "worker.areas.waf:PART",
    },
)

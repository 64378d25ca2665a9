"""The area esc as one object: Edge Side Code off, for zones or for whole accounts."""

from __future__ import annotations

from edgeshift.areas import esc
from edgeshift.areas.area import AreaDefinition, OwnSection, Phrases
from edgeshift.areas.esc.evidence_again import AGAIN
from edgeshift.areas.esc.terms import LONGEST_PROBE, EscSpec
from edgeshift.model.fleet import Area
from edgeshift.model.steps import Step

DEFINITION = AreaDefinition(
    name=Area.ESC,
    title="Edge Side Code off",
    workflow="EscScope",
    beside=("ZoneHold",),
    reversible=True,
    evidence=AGAIN,
    first_step=Step.SET_SECRET,
    longest_step=LONGEST_PROBE,
    section=OwnSection(
        key="esc",
        model=EscSpec,
        meaning="How Edge Side Code is turned off.",
    ),
    calls=esc.CALLS,
    calls_a_look=1,
    waits="besides probes, sign-offs, the time that is watched and the service's own",
    promise="a test secret and a probe come before each sign-off",
    too_late=esc.too_late,
    words={
        "zone": "scope",
        "working": "being read or probed",
        "waiting": "esc off, being watched",
        "watching": "esc off, being watched",
        "probing": "asking with and without the secret",
        "settled": "esc off",
        "already_settled": "esc was off",
        "rolled_back": "esc on again",
        "set_secret": "set a test secret",
        "commit": "turn esc off",
        "roll_back": "turn esc on again",
        "committing": "turning esc off",
        "rolling_back": "turning esc on again",
        "ready_validate": "ready for a test secret",
    },
    sent={
        "set_secret": "a test secret",
        "commit": "what turns esc off",
        "roll_back": "what turns esc on again",
    },
    phrases=Phrases(
        changed="esc was turned off for {}",
        undone="esc was turned on again for {}",
        change="what turns esc off",
        shows="the service shows esc off",
        shows_undone="the service shows esc on again",
        drifted="not sent: the scope was no longer as it was when it was signed",
        done="esc off, or off before",
    ),
    parts={
        "campaign_file": "edgeshift.campaign_file.areas.esc:PART",
        "cli": "edgeshift.cli.areas.esc:PART",
        "demo": "edgeshift.testbed.demo.areas.esc:PART",
        "doctor": "edgeshift.doctor.areas.esc:PART",
        "documents": "edgeshift.stores.documents.areas.esc:PART",
        "proposals": "edgeshift.operations.areas.esc:PART",
        "stack": "edgeshift.testbed.stack.areas.esc:PART",
        "views": "edgeshift.views.areas.esc:PART",
        "worker": "worker.areas.esc:PART",
    },
)

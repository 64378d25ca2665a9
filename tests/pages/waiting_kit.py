"""A campaign that waits for people, whose page for approvers is looked at in a browser; and one of esc."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from edgeshift.areas.esc import body as esc_body
from edgeshift.areas.esc import body_items as esc_items
from edgeshift.areas.esc.features import Feature
from edgeshift.areas.esc.features import Kind as FactKind
from edgeshift.areas.esc.probe import Controls, Coverage, Difference, ProbeReport
from edgeshift.areas.esc.report import summary as esc_summary
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.areas.waf.loss_texts import text_of_loss
from edgeshift.areas.waf.preview_part import WafShown
from edgeshift.areas.waf.rule_items import items
from edgeshift.messages import Step, Waiting
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Area, Zone, ZoneOutcome
from edgeshift.operations import Preview
from edgeshift.operations.group import Otherwise, Rest
from edgeshift.views.approval import Approval, Sheet, WithSupport, render_approval
from tests.pages.page_kit import (
    BEGAN,
    LATER,
    LOST,
    REASONS,
    RULES,
    TICKETS,
    evidence,
    report,
    signed_body,
    summary,
    wave_began,
    zones,
)


def preview(zone: Zone, number: int, seen: Evidence | None) -> Preview:
    """What a zone proposes, beside what it has: of every other, some rules."""
    body = signed_body(zone.name, login=number % 2 == 0, action="managed_challenge" if number == 2 else "log")
    before = signed_body(zone.name, login=True) if number % 2 else None
    return Preview(
        zone=zone.name,
        plan=zone.plan.value,
        step=Step.COMMIT,
        digest=digest(body),
        fingerprint=fingerprint(body, zone),
        additions=("rule 3: the OWASP core ruleset, which the zone did not run",),
        losses=tuple(map(text_of_loss, LOST[1:4])),
        carried_over=tuple(map(text_of_loss, LOST[:1])),
        warnings=("only on /login the core ruleset runs",) if number % 2 == 0 else (),
        evidence=seen,
        drifted=number == 3,
        changes=("rules[1].action_parameters.overrides: added",) if number == 3 else (),
        body=body,
        items=items(body, before, RULES),
        proposal=digest({"proposal": number}),
        compare=tuple(map(text_of_loss, LOST[-1:])),
        speaks_against=seen is not None and seen.verdict is EvidenceVerdict.FAIL,
        own=WafShown(names=RULES),
    )


def rest_of_first(some: Sequence[Zone]) -> Rest:
    """Eight other zones: two lose something else by the same rules."""
    other = Otherwise(
        zones=tuple(zone.name for zone in some[6:8]),
        more=(f"lost: {text_of_loss(LOST[4])}",),
        less=(f"carried over: {text_of_loss(LOST[0])}",),
    )
    seen = "all 9 zones have none: nothing has been seen of the rules at work"
    return Rest(same=6, otherwise=(other,), evidence=(seen,))


@cache
def approval_data() -> Approval:
    """What waits: three fingerprints, two zones whose own evidence did not pass, two with support."""
    some = zones()
    groups = [preview(zone, number, None) for number, zone in enumerate(some[0:60:20])]
    apart = [
        preview(some[70 + at], 3 + at, evidence(1 + at, some[70 + at].name, wave_began(2))) for at in range(2)
    ]
    sheets = [
        Sheet(
            title=f"Fingerprint {number} of 3: {9 * number} zones",
            digest=shown.fingerprint,
            names=tuple(zone.name for zone in some[20 * (number - 1) : 20 * number - 11]),
            zones=9 * number,
            shown=shown,
            separate=1 if number == 1 else 0,
            waves=(1, 2, 3),
            rest=rest_of_first(some) if number == 1 else Rest(same=9 * number - 1),
        )
        for number, shown in enumerate(groups, 1)
    ]
    singly = [
        Sheet(
            title=shown.zone,
            digest=shown.digest,
            names=(shown.zone,),
            zones=1,
            shown=shown,
            waves=(3,),
            single=True,
        )
        for shown in apart
    ]
    waiting = [
        Waiting(fingerprint=sheet.digest, zones=sheet.zones, waves=[0, 1, 2], example=0, step=Step.COMMIT)
        for sheet in sheets
    ]
    places = {
        "migrated": 31,
        "awaiting": 54,
        "awaiting_separate": 2,
        "support": 2,
        "working": 6,
        "pending": 25,
    }
    return Approval(
        summary=summary(places, "running", waiting=waiting, fingerprints_waiting=3),
        made_at=LATER,
        policy="2 approvals, from ada, grace, alan",
        sheets=(*sheets, *singly),
        support=tuple(
            WithSupport(
                zone.name,
                REASONS[ZoneOutcome.NEEDS_SUPPORT][0],
                (f"{TICKETS}/waf-too_many_rules-{zone.id}.md",),
            )
            for zone in some[80:82]
        ),
    )


@cache
def approval() -> str:
    """The page of what waits for a person."""
    return render_approval(approval_data())


@cache
def esc_approval() -> str:
    """The page of a scope that waits: what the probe found is what is signed."""
    zone = zones()[5]
    found = ProbeReport(
        differences=tuple(
            Difference(
                host=zone.name,
                path=f"/{path}",
                kind=FactKind.STATUS,
                what="",
                before="301",
                after="404",
                feature=Feature.REDIRECT_RULE,
            )
            for path in ("old", "shop/cart", "shop/checkout/delivery-and-payment")
        ),
        coverage=Coverage(urls=20, zones_covered=1, zones_probed=1),
        controls=Controls(pairs=20, alarms=0),
        made_at=BEGAN,
        rounds=3,
    )
    body = esc_body(zone, esc_summary(found))
    shown = Preview(
        zone=zone.name,
        plan=zone.plan.value,
        step=Step.COMMIT,
        digest=digest(body),
        fingerprint=fingerprint(body, zone),
        additions=(),
        losses=(),
        warnings=(),
        evidence=found,
        drifted=False,
        area=Area.ESC,
        body=body,
        items=esc_items.items(body, None),
    )
    sheet = Sheet(
        title="Fingerprint 1 of 1: 1 scope",
        digest=shown.fingerprint,
        names=(zone.name,),
        zones=1,
        shown=shown,
        waves=(1,),
    )
    known = summary({"awaiting": 1, "pending": 119}, "running").model_copy(update={"area": Area.ESC})
    return render_approval(
        Approval(summary=known, made_at=BEGAN, policy="one approval, from ada", sheets=(sheet,))
    )


PAGES = {"report": report, "approval": approval, "esc-approval": esc_approval}
"""The pages, by their names."""

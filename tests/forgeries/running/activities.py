"""Every activity that edgeshift's workers register, done for a workflow of the enemy's, with messages of his
own; those of the areas are in activities_of_areas.py. What is not tried is named with the reason.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel

from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import (
    Announce,
    AssessBatch,
    AwaitService,
    Change,
    CompareOutcomes,
    DescribeZones,
    GiveUpPermits,
    LetCallsGo,
    MergeAssessment,
    OpenTicket,
    PermitGrant,
    RecallRulings,
    RecordRejection,
    RecordRulings,
    ReportKind,
    ResolveTargets,
    RulingNote,
    StartZones,
    Step,
    Stop,
    TellZones,
    ZoneAssessment,
    ZoneReport,
)
from edgeshift.model.fleet import Plan, ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import Choice
from edgeshift.rate_limit.circuit import OpenCircuit, Trouble
from edgeshift.runtime.queues import Queue
from edgeshift.stores.documents import AssessedTargets, put_document
from tests.forgeries.running.attack import ENEMY, Attack
from tests.forgeries.running.dresses import (
    Dress,
    by_a_strangers_proxy,
    by_a_strangers_service,
    by_a_strangers_webhook,
    in_a_later_attempt,
    in_its_own_name,
    of_another_zone,
)
from tests.forgeries.running.scheduling import ATTEMPTS, PERMITS, PLANTED, SPECS, ZONES, done, waits

NOT_TRIED: dict[str, str] = {}
"""Activities that workers register and that no forgery has done, each with the reason."""


# --- changes


def _change(dress: Dress, step: Step | None = None, **more: Any) -> Change:
    prepared = dress.prepared
    said = {
        "start": dress.start,
        "step": step or (Step.ROLL_BACK if dress.back else prepared.step),
        "permit": dress.permit.model_copy(update={"step": step or prepared.step}),
        "snapshot": prepared.snapshot,
        "proposal": prepared.proposal,
        "digest": prepared.digest,
        "fingerprint": prepared.fingerprint,
        "config": prepared.config,
        "decisions": dress.decisions,
        "evidence": dress.evidence,
    }
    return Change(**{**said, **more})


@done("change_zone", *ZONES, *ATTEMPTS, *PERMITS, *SPECS, *PLANTED, queue=Queue.CHANGES)
async def _changed(a: Attack, dress: Dress) -> Change:
    return _change(dress)


@done("change_zone", in_its_own_name, queue=Queue.CHANGES, as_="change_zone_after_a_reset")
async def _changed_anew(a: Attack, dress: Dress) -> Change:
    return _change(dress, anew=True)


@done("change_zone", in_its_own_name, of_another_zone, queue=Queue.CHANGES, as_="change_zone_to_validate")
async def _validated(a: Attack, dress: Dress) -> Change:
    target = dress.start.target
    zone = target.zone.model_copy(update={"plan": Plan.ENTERPRISE})
    start = dress.start.model_copy(update={"target": target.model_copy(update={"zone": zone})})
    return _change(dress, Step.VALIDATE, start=start, mode=ValidationMode.ENFORCE)


@done("change_zone", in_its_own_name, of_another_zone, queue=Queue.CHANGES, as_="change_zone_secretly")
async def _given_a_secret(a: Attack, dress: Dress) -> Change:
    return _change(dress, Step.SET_SECRET)


@done("change_zone", in_its_own_name, queue=Queue.CHANGES, as_="change_zone_without_overrides")
async def _without_overrides(a: Attack, dress: Dress) -> Change:
    return _change(dress, Step.DELETE_OVERRIDES)


@done("give_up_change", in_its_own_name, of_another_zone, in_a_later_attempt, *PERMITS, *SPECS)
async def _given_up(a: Attack, dress: Dress) -> Change:
    return _change(dress)


@waits("give_up_permits", in_its_own_name, of_another_zone, *PERMITS)
async def _permits_given_up(a: Attack, dress: Dress) -> GiveUpPermits:
    return GiveUpPermits(
        campaign=dress.start.campaign,
        origin=dress.start.origin,
        targets=dress.campaign.targets,
        area=dress.start.area,
        permits=(dress.permit.model_copy(update={"index": dress.start.index}),),
        over_after=timedelta(0),
        archive=dress.start.archive,
    )


@done("look_back_at_commits", *ZONES, *SPECS)
async def _looked_back(a: Attack, dress: Dress) -> BaseModel:
    return dress.start


# --- words


@done("tell_campaign", *ZONES)
async def _told(a: Attack, dress: Dress) -> Announce:
    start = dress.start
    finished = ZoneReport(
        campaign_run=start.campaign_run,
        index=start.index,
        attempt=start.attempt,
        sequence=60_000,
        kind=ReportKind.FINISHED,
        outcome={"waf": ZoneOutcome.MIGRATED}.get(start.area.value, ZoneOutcome.SETTLED),
        reason=ENEMY,
    )
    return Announce(campaign=start.campaign, report=finished)


@done("record_rulings", in_its_own_name)
async def _ruled(a: Attack, dress: Dress) -> RecordRulings:
    """Somebody rejects what all propose, and somebody reopens it: neither is anybody."""
    about: dict[str, Any] = {"by": ENEMY, "reason": ENEMY, "fingerprints": (dress.prepared.fingerprint,)}
    now = datetime.now(UTC)
    return RecordRulings(
        campaign=dress.start.campaign,
        run=ENEMY,
        targets=dress.campaign.targets,
        notes=(
            RulingNote(verb="rejected", at=now, **about),
            RulingNote(verb="approved", at=now + timedelta(milliseconds=1), **about),
            RulingNote(verb="reopened", at=now + timedelta(milliseconds=2), **about),
        ),
        archive=dress.start.archive,
    )


@done("record_rejection", in_its_own_name, in_a_later_attempt)
async def _rejected(a: Attack, dress: Dress) -> RecordRejection:
    said = a.word(ENEMY, Choice.REJECT)
    return RecordRejection(
        start=dress.start, digest=dress.prepared.digest, decision=said, at=datetime.now(UTC)
    )


@done("recall_rulings", in_its_own_name)
async def _recalled(a: Attack, dress: Dress) -> RecallRulings:
    return RecallRulings(campaign=dress.start.campaign, run=ENEMY, archive=dress.start.archive)


@done(
    "open_ticket",
    in_its_own_name,
    by_a_strangers_service,
    by_a_strangers_proxy,
    by_a_strangers_webhook,
)
async def _ticketed(a: Attack, dress: Dress) -> OpenTicket:
    return OpenTicket(
        start=dress.start,
        cause=ReasonCode.OTHER,
        snapshot=dress.prepared.snapshot,
        refusal=ENEMY,
    )


# --- a campaign's work on its zones


@waits("start_zones", in_its_own_name, by_a_strangers_service)
async def _started(a: Attack, dress: Dress) -> StartZones:
    """In a later attempt, with a permit."""
    start = dress.start
    return StartZones(
        campaign=start.campaign,
        campaign_run=start.campaign_run,
        origin=start.origin,
        start=dress.campaign,
        indexes=(start.index,),
        attempts=(start.attempt + 1,),
        permits=(dress.permit,),
        reopened=(start.index,),
    )


@waits("start_zones", in_its_own_name, as_="start_zones_of_another_campaign")
async def _started_elsewhere(a: Attack, dress: Dress) -> StartZones:
    started = await _started(a, dress)
    return started.model_copy(update={"campaign": f"campaign/{a.enemys_name}", "campaign_run": ENEMY})


@done("tell_zones", in_its_own_name, of_another_zone)
async def _permitted(a: Attack, dress: Dress) -> TellZones:
    start = dress.start
    grant = PermitGrant(permit=dress.permit, decisions=dress.decisions, attempt=start.attempt)
    return TellZones(
        campaign=start.campaign,
        campaign_run=start.campaign_run,
        targets=dress.campaign.targets,
        area=start.area,
        signal="permit",
        indexes=(start.index,),
        grants=(grant,),
        archive=start.archive,
    )


@done("tell_zones", in_its_own_name, as_="tell_zones_to_stop")
async def _stopped(a: Attack, dress: Dress) -> TellZones:
    told = await _permitted(a, dress)
    stop = Stop(by=ENEMY, reason=ENEMY)
    return told.model_copy(update={"signal": "stop", "grants": (), "stop": stop})


@waits("describe_zones", *ZONES, *SPECS)
async def _described(a: Attack, dress: Dress) -> DescribeZones:
    start = dress.start
    return DescribeZones(
        campaign=start.campaign,
        campaign_run=start.campaign_run,
        targets=dress.campaign.targets,
        spec=dress.spec,
        area=start.area,
        indexes=(start.index,),
        attempts=(start.attempt,),
        settles_in=timedelta(0),
        origin=start.origin,
        ended=frozenset({start.index}),
        archive=start.archive,
    )


@waits("compare_outcomes", *ZONES, *SPECS)
async def _compared(a: Attack, dress: Dress) -> CompareOutcomes:
    """As if every one of them were done, and undone."""
    start = dress.start
    outcomes = (ZoneOutcome.MIGRATED, ZoneOutcome.SETTLED, ZoneOutcome.ROLLED_BACK)
    return CompareOutcomes(
        origin=start.origin or start.campaign_run,
        targets=dress.campaign.targets,
        spec=dress.spec,
        area=start.area,
        indexes=(start.index,) * len(outcomes),
        attempts=(start.attempt,) * len(outcomes),
        outcomes=outcomes,
        settles_in=timedelta(0),
        read=frozenset({start.index}),
        archive=start.archive,
    )


# --- waiting for the service


@waits("await_service", in_its_own_name, by_a_strangers_service, by_a_strangers_proxy)
async def _awaited(a: Attack, dress: Dress) -> AwaitService:
    """The service is said to refuse the campaign's credential, and to be out."""
    credential = a.stage.play.spec.service.credentials[0]
    held: dict[str, Any] = {"said": ENEMY, "since": datetime.now(UTC)}
    refused = OpenCircuit(trouble=Trouble.REFUSED, credential=credential.reference, **held)
    return AwaitService(spec=dress.spec, holds=(refused, OpenCircuit(trouble=Trouble.OUTAGE, **held)))


@done("let_calls_go", in_its_own_name, *SPECS)
async def _let_go(a: Attack, dress: Dress) -> LetCallsGo:
    return LetCallsGo(spec=dress.spec)


# --- targets


@waits("resolve_targets", in_its_own_name, *SPECS)
async def _resolved(a: Attack, dress: Dress) -> ResolveTargets:
    return ResolveTargets(spec=dress.spec)


@waits("assess_targets", in_its_own_name, *SPECS)
async def _assessed(a: Attack, dress: Dress) -> AssessBatch:
    first = dress.start.index
    return AssessBatch(spec=dress.spec, targets=dress.campaign.targets, first=first, end=first + 1)


@waits("merge_assessment", in_its_own_name, *SPECS)
async def _merged(a: Attack, dress: Dress) -> MergeAssessment:
    """Of a report that the enemy has planted."""
    lines = tuple(
        ZoneAssessment(index=index, zone=target.zone, fingerprint="8" * 64, reasons=[ENEMY])
        for index, target in enumerate(a.stage.play.targets)
    )
    report = await put_document(a.archive, AssessedTargets(lines))
    return MergeAssessment(spec=dress.spec, targets=dress.campaign.targets, reports=(report,))

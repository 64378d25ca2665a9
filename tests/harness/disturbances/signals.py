"""Signals that come twice, early, late, out of order, in floods, from nobody, or as nonsense."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.client import WorkflowHandle, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.messages import (
    Expire,
    Permit,
    PermitGrant,
    ReportKind,
    Revoke,
    Ruling,
    Step,
    Stop,
    SupportResolved,
    ZonePhase,
    ZoneReport,
    ZoneState,
)
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice, Decision
from tests.harness.disturbances import Acting, Disturbance, disturbance
from tests.harness.disturbances.patience import seen_through
from tests.kit import APPROVER
from tests.kit.faults import Stage

APPROVERS: dict[str, object] = {"approvers": [APPROVER, "bob"]}
"""Who may sign where strangers try to."""

STRANGER = "mallory"
NOWHERE = "0" * 64

NO_APPROVERS = ("opal", "erin", STRANGER)
"""Who signs without being an approver of the zone: one has another role, one other accounts, one nothing."""

ZONE_SIGNALS = ("sign_off", "support_resolved", "permit", "revoke", "ruling", "expire", "stop", "nobody")
NONSENSE: tuple[object, ...] = (
    "rubbish",
    17,
    None,
    [],
    {},
    {"choice": "maybe", "digest": "x", "by": ""},
    {"choice": "approve", "digest": ["a"], "by": {"name": APPROVER}},
    {"choice": "approve", "digest": NOWHERE, "by": APPROVER, "reason": "r" * 2000},
    "\x00" * 500,
)


async def say(acting: Acting, handle: WorkflowHandle[Any, Any], name: str, message: object) -> bool:
    """Send a signal; whether the server took it: a closed workflow takes none, nor one that is flooded."""
    try:
        await handle.signal(name, message)
    except RPCError as refused:
        taken_by_nobody = (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.UNAVAILABLE)
        if refused.status not in (*taken_by_nobody, RPCStatusCode.RESOURCE_EXHAUSTED):
            raise
        return False
    acting.told(f"signal {name}")
    return True


async def looked_at(stage: Stage, short: str) -> ZoneState | None:
    """The zone's state, or None where nobody answers for it at the moment."""
    with contextlib.suppress(RPCError, WorkflowQueryFailedError, TimeoutError):
        return await asyncio.wait_for(stage.play.state(stage.name(short)), 5)
    return None


def approval(digest: str, by: str, choice: Choice = Choice.APPROVE) -> Decision:
    """A word that may or may not be a person's."""
    return Decision(choice=choice, digest=digest, by=by, reason="because")


async def forge(acting: Acting, short: str) -> None:
    """Everything that somebody may send who is no approver, and everything that only the campaign may say, of
    a run that is not this campaign's or with numbers that were never given. Where people have keys, those
    sign too who may not approve here.
    """
    stage = acting.stage
    play = stage.play
    handle = play.zone(stage.name(short))
    state = await looked_at(stage, short)
    digest = (state.digest if state else "") or NOWHERE
    fingerprint = (state.fingerprint if state else "") or NOWHERE
    run = (await seen_through(play.campaign.describe)).run_id or ""
    index = play.index(stage.name(short))
    number = acting.chance.randrange(10**9, 2 * 10**9)
    until = datetime.now(UTC) + timedelta(minutes=5)
    permit = Permit(number=number, name=f"forged-{number}", index=index, step=Step.COMMIT, expires_at=until)
    if state is not None and state.digest:
        await play.sign_zone_by_key(stage.name(short), digest, Choice.APPROVE, NO_APPROVERS)
    by_stranger = approval(acting.chance.choice([digest, fingerprint]), STRANGER)
    for message in (by_stranger, approval(NOWHERE, APPROVER)):
        await say(acting, handle, "sign_off", message)
    for campaign_run in ("another", run):
        for decisions in ((), (by_stranger,)):
            grant = PermitGrant(campaign_run=campaign_run, permit=permit, decisions=decisions)
            await say(acting, handle, "permit", grant)
        await say(acting, handle, "revoke", Revoke(campaign_run=campaign_run, number=number + 1))
    rejection = approval(fingerprint, STRANGER, Choice.REJECT)
    await say(acting, handle, "ruling", Ruling(campaign_run="another", decision=rejection))
    await say(acting, handle, "ruling", Ruling(campaign_run=run, decision=rejection))
    await say(acting, handle, "stop", Stop(campaign_run="another", by=STRANGER, reason="forged"))
    await say(acting, handle, "expire", Expire(campaign_run="another", attempt=1))
    await say(acting, handle, "expire", Expire(campaign_run=run, attempt=200))
    done = ZoneReport(
        campaign_run=run,
        index=index,
        attempt=200,
        sequence=60_000,
        kind=ReportKind.FINISHED,
        releases=number,
        outcome=ZoneOutcome.MIGRATED,
    )
    for report in (
        done,
        done.model_copy(update={"campaign_run": "another", "attempt": 1}),
        done.model_copy(update={"index": 10**9}),
        done.model_copy(update={"index": -1}),
    ):
        await say(acting, play.campaign, "zone_report", report)


async def garble(acting: Acting, short: str) -> None:
    """Raw JSON that is no message at all, by every signal."""
    stage = acting.stage
    handle = stage.play.zone(stage.name(short))
    for nonsense in NONSENSE:
        for name in ZONE_SIGNALS:
            # Whatever names somebody is a word that can be understood.
            if not (isinstance(nonsense, dict) and "by" in nonsense):
                await say(acting, handle, name, nonsense)
        await say(acting, stage.play.campaign, "zone_report", nonsense)


async def flood(acting: Acting, short: str, number: int) -> None:
    """Thousands of words of nobody, to a zone and to its campaign."""
    stage = acting.stage
    handle = stage.play.zone(stage.name(short))
    gate = asyncio.Semaphore(50)

    async def one(place: int) -> None:
        async with gate:
            if place % 2:
                await say(acting, handle, "sign_off", approval(f"{place:064x}", STRANGER))
            else:
                report = ZoneReport(
                    campaign_run="another", index=0, attempt=1, sequence=place, kind=ReportKind.AWAITING
                )
                await say(acting, stage.play.campaign, "zone_report", report)

    await asyncio.gather(*map(one, range(number)))
    acting.told("flood")


async def repeat(acting: Acting, short: str) -> None:
    """A person's own words, again and again, and after the zone is closed. What is said is kept as said."""
    stage = acting.stage
    state = await looked_at(stage, short)
    if state is None or state.phase is not ZonePhase.AWAITING_SIGN_OFF or not state.digest:
        await say(acting, stage.play.zone(stage.name(short)), "support_resolved", SupportResolved(by="sam"))
        return
    for _ in range(3):
        with contextlib.suppress(RPCError):
            await stage.play.sign_zone(stage.name(short), digest=state.digest)
            acting.told("signal sign_off")


async def stuck(stage: Stage) -> list[str]:
    """A complaint for each open workflow of the scene whose task fails again and again by an error in it."""
    found = []
    unhandled = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
    async for execution in stage.play.client.list_workflows(""):
        handle = stage.play.client.get_workflow_handle(execution.id, run_id=execution.run_id)
        async for event in handle.fetch_history_events():
            failed = event.workflow_task_failed_event_attributes
            if failed.cause == unhandled:
                found.append(f"{execution.id}: a workflow task failed: {failed.failure.message[:200]}")
    return found


async def _forged(acting: Acting) -> None:
    for _ in range(acting.chance.randint(3, 20)):
        await asyncio.sleep(acting.chance.uniform(0.3, 2.0))
        short = acting.chance.choice(acting.stage.names)
        await acting.chance.choice([forge, forge, garble])(acting, short)


async def _repeated(acting: Acting) -> None:
    for _ in range(acting.chance.randint(5, 60)):
        await asyncio.sleep(acting.chance.uniform(0.1, 1.0))
        await repeat(acting, acting.chance.choice(acting.stage.names))


async def _flooded(acting: Acting) -> None:
    await asyncio.sleep(acting.chance.uniform(1.0, 4.0))
    await flood(acting, acting.chance.choice(acting.stage.names), 2_000)


disturbance(Disturbance("forged-signals", _forged, terms={"sign_off": APPROVERS}))
disturbance(Disturbance("duplicate-signals", _repeated))
disturbance(Disturbance("flood", _flooded, terms={"sign_off": APPROVERS}))

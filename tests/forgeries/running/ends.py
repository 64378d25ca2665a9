"""Ends that are none, of zones that are changed: the enemy has a change made and looked at that people have
signed, and stops the zone's own workflow, which knows of nothing; or a workflow of his ends in its place.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from temporalio.client import WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy

from edgeshift.areas.waf import Mode
from edgeshift.messages import Stop
from edgeshift.messages.areas.waf import Verify
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.runtime.queues import Queue
from tests.forgeries.running.attack import ENEMY, Attack, Trace
from tests.forgeries.running.foreign import forged_change
from tests.forgeries.running.kinds import KINDS, Kind
from tests.forgeries.running.scheduling import A_WHILE, scheduled
from tests.kit import eventually


async def a_zone_that_is_changed_looked_at_and_stopped(a: Attack) -> Trace:
    """By messages alone: a worker signs that it is migrated, and its own workflow has sent nothing."""
    change = await forged_change(a)
    a.touched.add(a.state.zone.id)
    await scheduled(a, "change_zone", change, Queue.CHANGES)
    look = Verify(
        start=change.start,
        mode=Mode.PENDING,
        proposal=change.proposal,
        snapshot=change.snapshot,
        digest=change.digest,
        limit=timedelta(seconds=A_WHILE),
        since=datetime.now(UTC),
    )
    await scheduled(a, "verify_waf_zone", look, within=A_WHILE, beats=True)
    return await a.say("stop", Stop(by=ENEMY, reason=ENEMY))


KINDS["a_zone_that_is_changed_looked_at_and_stopped"] = Kind(
    a_zone_that_is_changed_looked_at_and_stopped, ("waf",), beside=True
)


async def _about_to_change(a: Attack) -> None:
    """Until a worker has recorded what it is about to send of the zone, where it does."""
    folder = a.folder / "intent" / a.state.zone.id / a.stage.play.spec.area.value

    async def recorded() -> bool:
        return folder.is_dir()

    with suppress(AssertionError):
        await eventually(recorded, A_WHILE, "it is about to be changed")


async def _ended_in_the_place_of_ours(a: Attack, outcome: ZoneOutcome) -> Trace:
    """The zone's workflow is ended, and one of the enemy's, with its memo, ends so under its id."""
    await _about_to_change(a)
    start = await a.started_with()
    memo = {"campaign": start.campaign, "campaign_run": start.campaign_run, "attempt": a.state.attempt}
    handle = await a.enemy.start_workflow(
        "Forged",
        {"outcome": outcome.value, "reason": ENEMY, "why": [{"code": "failed", "said": ENEMY}]},
        id=a.zone.id,
        task_queue=a.own,
        memo=memo,
        id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
    )
    a.theirs.add(handle.result_run_id or "")
    with suppress(WorkflowFailureError, TimeoutError):
        await asyncio.wait_for(handle.result(), A_WHILE)
    return a.enemy.get_workflow_handle(handle.id, run_id=handle.result_run_id)


async def a_failure_in_the_place_of_ours(a: Attack) -> Trace:
    return await _ended_in_the_place_of_ours(a, ZoneOutcome.FAILED)


async def an_unknown_end_in_the_place_of_ours(a: Attack) -> Trace:
    return await _ended_in_the_place_of_ours(a, ZoneOutcome.UNKNOWN)


async def a_rejection_in_the_place_of_ours(a: Attack) -> Trace:
    return await _ended_in_the_place_of_ours(a, ZoneOutcome.REJECTED)


for _work in (
    a_failure_in_the_place_of_ours,
    an_unknown_end_in_the_place_of_ours,
    a_rejection_in_the_place_of_ours,
):
    KINDS[_work.__name__] = Kind(_work, beside=True)

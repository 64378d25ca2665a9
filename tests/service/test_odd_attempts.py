"""Of which attempt and run something is sent is a message's word. Nothing is sent for one that no campaign
can have, and where that is on record all the same, it keeps nothing of the campaign's own from going on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from activities.change.intent_records import beside_of
from activities.change.intents import ClosedAs
from edgeshift.messages import ChangeStatus, Step
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.stores.documents import Intent, NothingMore
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import ago

RUNS = ("", "a b", "..", "a/b", "x" * 101)


async def was_taken_back(door: Guarded) -> None:
    """What people approved was sent and rolled back, and approved once more since, for another zone."""
    await door.begin(issued=ago(9))
    await door.approve_alike(issued=ago(8))
    await door.sent_before("first", 6)
    back = await door.sent_before("back", 5, step="roll_back")
    answered = NothingMore.of(ClosedAs.ANSWERED)
    assert await door.gate.connections.records.create(beside_of(back, "nothing"), answered)
    await door.approve_alike(issued=ago(3))


@pytest.mark.parametrize("step", [Step.COMMIT, Step.ROLL_BACK])
@pytest.mark.parametrize("attempt", [0, -1, 256, 60_000])
async def test_an_attempt_that_no_campaign_counts_sends_nothing(
    attempt: int, step: Step, tmp_path: Path
) -> None:
    """Nobody can have signed that it begins, and no result could be of it; nor is anything taken back in one,
    which nobody has to begin.
    """
    async with guarded(tmp_path) as door:
        await was_taken_back(door)
        await door.again("retry", issued=ago(2))
        result = await door.with_start(attempt=attempt).commit(step=step)
        assert (result.status, result.unsigned) == (ChangeStatus.NOTHING_HAPPENED, True), result
        assert "that no campaign has" in result.reason
        assert await door.sent() == 0


@pytest.mark.parametrize("run", RUNS)
async def test_a_run_that_is_no_part_of_a_name_sends_nothing(run: str, tmp_path: Path) -> None:
    """What is recorded of it would be found by nobody, and no worker could sign how it ended."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve_alike()
        result = await door.with_start(origin=run, campaign_run=run).commit()
        assert (result.status, result.unsigned) == (ChangeStatus.NOTHING_HAPPENED, True), result
        assert await door.sent() == 0
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("run", RUNS)
async def test_what_an_odd_run_has_sent_keeps_nothing_from_going_on(run: str, tmp_path: Path) -> None:
    """A worker of an earlier version has let it through: the zone's own attempt is sent, and its end signed,
    also where the odd one was the last.
    """
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await door.approve_alike(issued=ago(8))
        await door.sent_before("odd", 6, run=run, start=door.start)
        assert (await door.commit()).status is ChangeStatus.ANSWERED
        assert await signed_beside(door, run=run)


@pytest.mark.parametrize("attempt", [0, -1, 256])
async def test_what_an_odd_attempt_has_sent_keeps_no_end_from_being_signed(
    attempt: int, tmp_path: Path
) -> None:
    """As where another run is named with it."""
    async with guarded(tmp_path) as door:
        await door.begin()
        assert await signed_beside(door, run="another", attempt=attempt)


async def signed_beside(door: Guarded, **odd: Any) -> bool:
    """Whether the zone's own attempt is signed as settled, where what was read of it was sent otherwise."""
    start, spec = door.gate.start, await door.gate.connections.spec(door.gate.start.spec)
    said = {"step": "commit", "at": ago(6), "campaign": start.campaign, "attempt": 1, **odd}
    results = door.gate.connections.results
    await results.record(start, ZoneOutcome.SETTLED, proposal=door.digest, sent=Intent(**said))
    found = await results.proven(spec, start.campaign_run, door.gate.zone.id, 1)
    return ZoneOutcome.SETTLED in found

"""Whoever reaches Temporal can have a target looked at again and again: what that shows is signed once, until
something was sent since. A place with thousands of results would count for nothing.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from edgeshift.authority.records import results_at
from edgeshift.authority.statements import ResultStatement
from edgeshift.model.fleet import ENDS, ZoneOutcome
from edgeshift.stores.documents import Intent
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import ago

FOUND = (ZoneOutcome.ALREADY_MIGRATED, ZoneOutcome.ALREADY_SETTLED)


def sent(door: Guarded, hours: float, run: str | None = None) -> Intent:
    """A commit of the campaign's, so many hours ago."""
    said = {"step": "commit", "at": ago(hours), "campaign": door.gate.start.campaign, "attempt": 1}
    return Intent.model_validate({**said, "run": run} if run else said)


async def signed(door: Guarded, run: str = "") -> int:
    """How many results there are of the zone's first attempt."""
    place = results_at(door.campaign, run or door.gate.start.campaign_run, door.gate.zone.id, 1)
    return len([key async for key in door.archive.list(place)])


@pytest.mark.parametrize("outcome", ENDS)
async def test_an_end_is_signed_once_until_something_was_sent_since(
    outcome: ZoneOutcome, tmp_path: Path
) -> None:
    """Also for the run that has sent it; of another proposal it is another one."""
    async with guarded(tmp_path) as door:
        await door.begin()
        start, results = door.gate.start, door.gate.connections.results
        for seen in "123":
            named = sent(door, 6, "another")
            await results.record(start, outcome, proposal=door.digest, seen=seen * 64, sent=named)
        assert (await signed(door), await signed(door, "another")) == (1, 1)
        await results.record(start, outcome, proposal="9" * 64, sent=sent(door, 6))
        assert await signed(door) == 2
        # By a clock that is ahead: no result is of later.
        await results.record(start, outcome, proposal=door.digest, sent=sent(door, -1))
        assert await signed(door) == 3


async def test_an_end_that_another_one_followed_is_signed_again(tmp_path: Path) -> None:
    """The last one is what a campaign tells."""
    async with guarded(tmp_path) as door:
        await door.begin()
        start, results = door.gate.start, door.gate.connections.results
        for outcome in (ZoneOutcome.ROLLED_BACK, ZoneOutcome.SETTLED, ZoneOutcome.ROLLED_BACK):
            await results.record(start, outcome, proposal=door.digest, sent=sent(door, 6))
            # Results are told to the second.
            await asyncio.sleep(1.1)
        assert await signed(door) == 3


@pytest.mark.parametrize("outcome", FOUND)
async def test_what_was_found_so_is_signed_once(outcome: ZoneOutcome, tmp_path: Path) -> None:
    """By the zone's own activity, and by whatever looks at zones of the frozen list."""
    async with guarded(tmp_path) as door:
        await door.begin()
        start, results = door.gate.start, door.gate.connections.results
        zone, run = door.gate.zone.id, start.campaign_run
        for seen in "123":
            await results.record(start, outcome, seen=seen * 64)
            await results.of_listed(start.spec, door.targets, run, zone, 1, outcome)
        assert await signed(door) == 1


async def test_what_does_not_count_keeps_no_result_from_being_signed(tmp_path: Path) -> None:
    """A stranger has laid the very same there, by a key of his own."""
    async with guarded(tmp_path) as door:
        await door.begin()
        start, results = door.gate.start, door.gate.connections.results
        said = ResultStatement(
            **door.about("worker"),
            run=start.campaign_run,
            spec=start.spec,
            zone=door.gate.zone.id,
            attempt=1,
            outcome=ZoneOutcome.ALREADY_MIGRATED,
        )
        await door.put(said, door.stranger)
        await results.record(start, ZoneOutcome.ALREADY_MIGRATED)
        assert await signed(door) == 2
        found = await results.proven(
            await door.gate.connections.spec(start.spec), start.campaign_run, door.gate.zone.id, 1
        )
        assert ZoneOutcome.ALREADY_MIGRATED in found

"""Until when a change may still come to show: by the server's clock, whatever this machine's says, and for as
long as its request may have been on the wire before that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities.boundary import named_failures
from activities.change.door import MutationActivities
from activities.change.intents import own_commit
from activities.change.own_changes import OwnChange, landed_change, last_change, never_showed
from activities.standing import where_undone
from edgeshift.messages import Part
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.runtime.clock import SystemClock
from tests.forgeries.doors import Guarded, guarded

AHEAD = timedelta(hours=3)
"""How far ahead of the server's a worker's clock is."""

LIMIT = timedelta(seconds=3)
"""What a migration may take here; its request as long again, and a second's margin."""

HOURS = 1 / 3600
"""A second, in hours."""


class ClockAhead(SystemClock):
    """A clock that was set wrong; it runs as others do."""

    def now(self) -> datetime:
        """Three hours too late."""
        return super().now() + AHEAD


def begun() -> ActivityEnvironment:
    """An activity that the server begins now."""
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, started_time=datetime.now(UTC))
    return environment


@asynccontextmanager
async def sent(folder: Path, *, ago: float = 0, ahead: bool = False) -> AsyncIterator[Guarded]:
    """A zone to which a commit was sent so many seconds ago, by a worker whose clock is right."""
    terms: dict[str, Any] = {"commit": {"migration_limit": "3s", "margin": "1s"}, "request_limit": "3s"}
    async with guarded(folder, clock=ClockAhead() if ahead else None, **terms) as door:
        await door.begin(issued=datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=9))
        proposal = await door.archive.put_json({"body": door.gate.body})
        named: dict[str, Any] = {"proposal": proposal, "snapshot": door.gate.snapshot}
        await door.sent_before("first", ago * HOURS, **named)
        yield door


async def test_a_clock_that_runs_ahead_ends_no_time_in_which_a_commit_may_show(tmp_path: Path) -> None:
    """A zone that ends would else be looked at once, and be told as not touched before the commit shows."""
    async with sent(tmp_path, ahead=True) as door:
        look = MutationActivities(door.gate.connections, {}).look_back
        part: Part = await begun().run(look, door.gate.start)
        assert part.prepared is not None and part.may_show


async def test_a_clock_that_runs_ahead_has_nothing_told_as_undone(tmp_path: Path) -> None:
    """Neither by what compares outcomes, nor by what a worker signs of its own change."""
    async with sent(tmp_path, ahead=True) as door:
        start, there = door.gate.start, door.gate.connections

        @named_failures
        async def asked() -> tuple[ZoneOutcome, OwnChange | None]:
            undone = await where_undone(
                there, start.spec, start.campaign_run, start.target, 1, ZoneOutcome.ROLLED_BACK, LIMIT
            )
            return undone, await last_change(there, start)

        undone, own = await begun().run(asked)
        assert undone is ZoneOutcome.UNKNOWN
        assert own is not None and own.may_show and not own.is_over


async def test_a_commit_that_may_have_been_on_the_wire_has_not_landed_when_its_effect_is_due(
    tmp_path: Path,
) -> None:
    """What closes it waits until its request is over as well; nothing is closed before that."""
    async with sent(tmp_path, ago=LIMIT.total_seconds() + 0.5) as door:
        start, there = door.gate.start, door.gate.connections

        @named_failures
        async def landed() -> tuple[OwnChange | None, OwnChange | None, datetime]:
            before = await last_change(there, start)
            return before, await landed_change(there, start), datetime.now(UTC)

        before, after, at = await begun().run(landed)
        assert before is not None and before.is_over and before.may_land_in > timedelta(0)
        assert after is not None and after.may_land_in <= timedelta(0)
        assert at >= after.record.at + 2 * LIMIT + timedelta(seconds=1)


@pytest.mark.parametrize("ahead", [False, True], ids=["clock right", "clock ahead"])
async def test_what_was_just_sent_is_not_waited_for(tmp_path: Path, ahead: bool) -> None:
    """Its effect is still to come, whatever the clock says: it is not closed."""
    async with sent(tmp_path, ahead=ahead) as door:

        @named_failures
        async def landed() -> OwnChange | None:
            return await landed_change(door.gate.connections, door.gate.start)

        assert await begun().run(landed) is None


async def test_what_never_showed_is_taken_up_by_nobody_and_uses_no_approval(tmp_path: Path) -> None:
    """Whoever makes the change later is somebody else; a retry may send it with what was signed."""
    async with sent(tmp_path, ago=60) as door:
        there, start, zone = door.gate.connections, door.gate.start, door.gate.zone

        @named_failures
        async def closed() -> tuple[bool, bool]:
            before = await own_commit(there, zone, Area.WAF, start.campaign, LIMIT) is not None
            own = await landed_change(there, start)
            assert own is not None
            await never_showed(there, start, own)
            return before, await own_commit(there, zone, Area.WAF, start.campaign, LIMIT) is not None

        assert await begun().run(closed) == (True, False)
        statement = door.decision(
            "ada", issued=datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5)
        )
        await door.put(statement)
        result = await door.commit()
        assert not result.uncounted, result

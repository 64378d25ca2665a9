"""What a look for a change says of how long it took: without what the look itself waited for."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities.effects import Effects
from activities.polling import Lookout
from edgeshift.runtime.settings import Settings
from edgeshift.stores.archive import Archive

SENT_AGO = timedelta(seconds=30)
"""How old a change is at the first look of an attempt."""


class Clock:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        """The seconds so far."""
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        """Let them pass."""
        self.seconds += seconds


def lookout(clock: Clock, folder: Path, since: datetime, **more: Any) -> Lookout:
    """The looks for one zone's change, every 20 seconds at first, for an hour."""
    start: Any = SimpleNamespace(
        policy=SimpleNamespace(poll=timedelta(seconds=20), patience=timedelta(hours=1)),
        target=SimpleNamespace(zone=SimpleNamespace(id="z")),
        area=SimpleNamespace(value="waf"),
        origin="r",
        campaign_run="r",
    )
    archive = Archive(Settings(state_dir=folder).archive)
    connections: Any = SimpleNamespace(clock=clock, effects=Effects(archive))
    return Lookout(connections, start, "pending", limit=timedelta(hours=1), since=since, **more)


@pytest.mark.parametrize(
    ("waits", "took"),
    [(0.0, SENT_AGO), (3000.0, None)],
    ids=["at once", "waits for its turn"],
)
async def test_a_look_that_waits_for_its_turn_says_nothing(
    waits: float, took: timedelta | None, tmp_path: Path
) -> None:
    """What a change took is its age where the look was in time, and not known where it had to wait."""
    environment, clock = ActivityEnvironment(), Clock()
    since = environment.info.started_time - SENT_AGO

    async def looks() -> timedelta | None:
        with lookout(clock, tmp_path, since) as looking:
            await looking.turn()
            clock.seconds += waits
            return await looking.showed()

    assert await environment.run(looks) == took


async def test_an_outage_before_the_look_is_no_part_of_it(tmp_path: Path) -> None:
    """The next attempt looks for it an hour after it was due: what others took counts."""
    environment, clock = ActivityEnvironment(), Clock()
    since = environment.info.started_time - timedelta(hours=1)

    async def looks() -> timedelta | None:
        with lookout(clock, tmp_path, since) as looking:
            looking._looks.times.observe(None, 300.0)
            await looking.turn()
            return await looking.showed()

    assert await environment.run(looks) == timedelta(seconds=300)
    assert clock.seconds == 0


async def test_what_is_read_after_the_status_does_not_count(tmp_path: Path) -> None:
    """The rules are read back by calls of their own, which may wait."""
    environment, clock = ActivityEnvironment(), Clock()
    since = environment.info.started_time - SENT_AGO

    async def looks() -> timedelta | None:
        with lookout(clock, tmp_path, since) as looking:
            await looking.turn()
            age = looking.age
            clock.seconds += 900
            return await looking.showed(age)

    assert await environment.run(looks) == SENT_AGO

"""Zones of a campaign are started although the archive takes its time to list what was rejected before."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.testing import ActivityEnvironment

from activities import fanout
from activities.connections import Connections
from activities.fanout import ZoneActivities
from edgeshift.messages import StartedZones
from edgeshift.stores.archive import ArchiveError

COUNT, SILENCE = 4, 0.15


class Slow:
    """An archive that lists for longer than a listing is kept, and than an activity may be silent."""

    def __init__(self, *, fails: int = 0) -> None:
        self.listed, self._fails = 0, fails

    async def list(self, prefix: str) -> AsyncIterator[str]:
        """Nothing, late."""
        self.listed += 1
        await asyncio.sleep(3 * SILENCE)
        if self.listed <= self._fails:
            raise ArchiveError("the store does not answer")
        if self.listed < 0:
            yield prefix


class Start:
    """Tries to start a batch of zones."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, archive: Slow) -> None:
        async def targets(_: str) -> list[Any]:
            return [SimpleNamespace(zone=SimpleNamespace(id=str(number))) for number in range(COUNT)]

        async def one(_: Any, place: int, *__: Any) -> None:
            await asyncio.sleep(SILENCE)
            self.started.append(place)

        connections = SimpleNamespace(
            archive=archive, targets=targets, authority=SimpleNamespace(policy_for=lambda asked: asked)
        )
        self.zones = ZoneActivities(cast(Connections, connections), {})
        self.told: list[tuple[float, Any]] = []
        self.started: list[int] = []
        monkeypatch.setattr(self.zones._starter, "start", one)
        monkeypatch.setattr(fanout, "LISTED_AGAIN", 2 * SILENCE)

    async def once(self, *details: Any) -> StartedZones:
        """One try, with what the one before it had told."""
        clock = asyncio.get_running_loop().time
        environment = ActivityEnvironment()
        environment.info = dataclasses.replace(
            environment.info, heartbeat_details=details, heartbeat_timeout=timedelta(seconds=SILENCE)
        )
        environment.on_heartbeat = lambda *told: self.told.append((clock(), told[0] if told else None))
        start = SimpleNamespace(targets="", policy=SimpleNamespace(sign_off=1))
        batch: Any = SimpleNamespace(
            campaign="campaign/c",
            campaign_run="r",
            indexes=range(COUNT),
            reopened=(),
            hears=True,
            start=start,
        )
        return await environment.run(self.zones.start, batch)


def silences(begun: float, told: list[tuple[float, Any]]) -> Iterator[float]:
    """How long nothing was told, each time."""
    for at, _ in told:
        yield at - begun
        begun = at


async def test_a_batch_is_heard_of_before_its_first_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """And each heartbeat tells how far it has come, so that no later one takes that back."""
    begun, archive = asyncio.get_running_loop().time(), Slow()
    play = Start(monkeypatch, archive)
    await play.once()
    assert max(silences(begun, play.told)) < 2 * SILENCE
    come = [done for _, done in play.told]
    assert come.count(None) >= 3 and come[come.count(None) :] == sorted(come[come.count(None) :])
    assert set(come) == {None, *range(1, COUNT + 1)} and play.started == list(range(COUNT))


async def test_a_try_that_is_lost_while_it_lists_has_told_what_was_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the one before it: the next begins after that."""
    play = Start(monkeypatch, Slow())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(play.once(2, StartedZones().model_dump()), SILENCE)
    assert {done for _, done in play.told} == {2} and play.started == []
    await play.once(2, StartedZones().model_dump())
    assert play.started == [2, 3]


async def test_batches_that_begin_together_share_a_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it took: it is kept from its end on. One that fails, or is given up, is none."""
    archive = Slow(fails=1)
    play = Start(monkeypatch, archive)
    found = await asyncio.gather(*(play.once() for _ in range(4)), return_exceptions=True)
    assert len([one for one in found if isinstance(one, BaseException)]) == 1 and archive.listed == 2
    archive = Slow()
    play = Start(monkeypatch, archive)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(play.once(), SILENCE)
    assert archive.listed == 1
    await asyncio.gather(*(play.once() for _ in range(4)))
    assert archive.listed == 2

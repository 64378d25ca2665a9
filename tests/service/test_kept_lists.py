"""What a worker keeps of what it has read: one reading for all who ask at once, and lists by their size."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from activities.connections import Connections
from activities.kept import Kept
from edgeshift.model.fleet import Plan, Target, Zone
from edgeshift.runtime.clock import SystemClock
from edgeshift.runtime.settings import Settings
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import FrozenTargets, PlannedReadings, put_document
from tests.kit.stored import put_json


class Loads:
    """Loads lists by their keys, each once it is let."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.may = asyncio.Event()
        self.fails = False

    async def __call__(self, key: str) -> list[str]:
        """A list as long as its key."""
        self.made.append(key)
        await self.may.wait()
        if self.fails:
            raise ValueError(key)
        return list(key)


async def test_all_who_ask_at_once_share_one_reading() -> None:
    """One that is cancelled takes nothing from the others."""
    load = Loads()
    kept = Kept(4, load)
    asking = [asyncio.create_task(kept.get("list")) for _ in range(40)]
    await asyncio.sleep(0.01)
    asking[0].cancel()
    await asyncio.sleep(0.01)
    load.may.set()
    found = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(found[0], asyncio.CancelledError) and found[1:] == [list("list")] * 39
    assert load.made == ["list"]


async def test_a_reading_that_fails_is_not_kept() -> None:
    """All who waited for it hear of it, and the next one reads again."""
    load = Loads()
    load.fails = True
    load.may.set()
    kept = Kept(4, load)
    found = await asyncio.gather(*(kept.get("list") for _ in range(5)), return_exceptions=True)
    assert [type(one) for one in found] == [ValueError] * 5 and load.made == ["list"]
    load.fails = False
    assert await kept.get("list") == list("list")


async def test_what_is_kept_is_bounded_by_what_it_weighs_and_by_its_use() -> None:
    """What was not asked for longest goes first; a single one stays, however much it weighs."""
    load, now = Loads(), 0.0
    load.may.set()
    kept: Kept[str, list[str]] = Kept(10, load, weighs=len, idle=60, clock=lambda: now)
    for key in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa"):
        await kept.get(key)
    assert load.made == ["aaaa", "bbbb", "cccc"]
    await kept.get("bbbb")
    assert load.made == ["aaaa", "bbbb", "cccc", "bbbb"]
    now = 61.0
    for key in ("d", "bbbb", "aaaa"):
        await kept.get(key)
    assert load.made[4:] == ["d", "bbbb", "aaaa"]
    for _ in range(2):
        await kept.get("e" * 20)
    assert load.made[7:] == ["e" * 20]


class Counting(Archive):
    """Counts what is read of it."""

    reads = 0

    async def get_object(self, digest: str) -> bytes:
        """The object."""
        self.reads += 1
        return await super().get_object(digest)


def targets(count: int, account: str = "a") -> FrozenTargets:
    """A frozen list."""
    zones = (
        Zone(id=f"{n:032x}", name=f"{n}.example", account=account * 32, plan=Plan.PRO) for n in range(count)
    )
    return FrozenTargets(tuple(Target(zone=zone, wave=0) for zone in zones))


def connections(folder: Path) -> tuple[Connections, Counting]:
    """Those of a worker, and its archive."""
    nobody: Any = None
    archive = Counting(Settings(state_dir=folder).archive)
    return Connections(nobody, archive, SystemClock(), nobody, str(folder)), archive


async def test_the_lists_of_five_campaigns_are_read_once_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also their plans' readings, which take no room from the lists."""
    monkeypatch.setattr("activities.connections.MOST_TARGETS", 5 * 30)
    there, archive = connections(tmp_path)
    lists = [targets(30, account) for account in "abcde"]
    digests = [await put_document(archive, one) for one in lists]
    readings = [(account * 64,) * 30 for account in "abcde"]
    planned = [await put_document(archive, PlannedReadings(one)) for one in readings]
    archive.reads = 0
    for _ in range(20):
        for digest, one, plan, read in zip(digests, lists, planned, readings, strict=True):
            assert await there.targets(digest) == list(one.root)
            assert list(await there.readings(plan)) == list(read)
    assert archive.reads == 10


async def test_others_go_on_while_a_long_list_is_read(tmp_path: Path) -> None:
    """Its targets are made a thousand at a time."""
    there, archive = connections(tmp_path)
    long = targets(10_000)
    digest = await put_document(archive, long)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    data = await archive.get_object(digest)

    async def at_once(digest: str) -> bytes:
        return data

    archive.get_object = at_once  # type: ignore[method-assign]
    beside = asyncio.create_task(others())
    assert await there.targets(digest) == list(long.root)
    beside.cancel()
    assert turns >= 10


@pytest.mark.parametrize(
    "value,told",
    [
        ({}, "frozen targets .* it: Input should be a valid tuple"),
        (None, "it: Input should be a valid tuple"),
        (["x"] * 2, "0: Input should be"),
        ([*targets(1_500).model_dump(mode="json"), {"wave": 0}], "1500.zone: Field required"),
    ],
    ids=["an object", "null", "texts", "its end"],
)
async def test_a_list_that_is_none_is_told_as_ever(tmp_path: Path, value: Any, told: str) -> None:
    """What is wrong, and at which place of the whole list."""
    there, archive = connections(tmp_path)
    with pytest.raises(Exception, match=told) as raised:
        await there.targets(await put_json(archive, value))
    assert type(raised.value).__name__ == "DocumentUnreadable"

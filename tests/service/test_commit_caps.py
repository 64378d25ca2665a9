"""No more commits of an hour, a wave or a campaign than the roots say, whoever counts them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.fence import Fence
from activities.change.intents import ClosedAs, close_intent
from activities.change.not_sent import NotSent
from activities.proof.commit_caps import Cap, CommitCaps
from activities.proof.records import WorkerRecords
from edgeshift.messages import ChangeStatus
from edgeshift.rate_limit.errors import TooLate
from edgeshift.rate_limit.terms import Lane
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.archive import Archive, ArchiveUnavailable
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import begun


async def test_no_more_commits_an_hour_than_the_roots_say(tmp_path: Path) -> None:
    """Whoever comes after the last one waits for the next hour: nothing is wrong with the zone."""
    async with guarded(tmp_path) as door:
        door.most_commits(1)
        await door.begin()
        await door.approve()
        archive = door.gate.connections.archive
        for hour in (datetime.now(UTC), datetime.now(UTC) + timedelta(hours=1)):
            await archive.create_once(f"commits/{hour:%Y%m%dT%H}/0", b"another")
        held = await door.commit()
        assert not held.unsigned and not held.turn and "in this hour" in held.reason
        door.most_commits(2)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED
        assert (await door.commit(permit=3)).status is ChangeStatus.NOTHING_HAPPENED
        assert await door.sent() == 1


class LateAtFirst(Unpaced):
    """Has no turn for the first call in time."""

    def __init__(self) -> None:
        self.late = [True]

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """At once, but for the first."""
        if self.late:
            self.late.pop()
            raise TooLate


async def test_a_commit_that_never_had_a_turn_uses_up_no_place_of_the_hour(tmp_path: Path) -> None:
    """It is tried again under another permit, and is the one commit that the roots let through."""
    async with guarded(tmp_path, pacer=LateAtFirst()) as door:
        door.most_commits(1)
        await door.begin()
        await door.approve()
        late = await door.commit()
        assert (late.status, late.turn, late.full) == (ChangeStatus.NOTHING_HAPPENED, False, False), late
        assert [key async for key in door.archive.list("commits")] == []
        made = await door.commit(permit=2)
        assert made.status is ChangeStatus.ANSWERED, made
        assert await door.sent() == 1


async def test_whoever_loses_the_last_place_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was free when it was looked for, and another commit takes it first. On record is that nothing came
    of this one: it is sent once there are more.
    """
    async with guarded(tmp_path) as door:
        door.most_commits(1)
        await door.begin()
        await door.approve()
        full = CommitCaps.full

        async def after_another(caps: CommitCaps, *asked: Any, sent: bool) -> Cap | None:
            if sent:
                for hour in (datetime.now(UTC), datetime.now(UTC) + timedelta(hours=1)):
                    await door.archive.create_once(f"commits/{hour:%Y%m%dT%H}/0", b"another")
            return await full(caps, *asked, sent=sent)

        monkeypatch.setattr(CommitCaps, "full", after_another)
        held = await door.commit()
        assert held.status is ChangeStatus.NOTHING_HAPPENED
        assert (held.turn, held.full) == (False, True) and "in this hour" in held.reason, held
        door.most_commits(2)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED
        assert await door.sent() == 1
        assert len([key async for key in door.archive.list("nothing")]) == 1


@pytest.mark.parametrize("of", ["hour", "wave", "campaign"])
@pytest.mark.parametrize("meanwhile", [False, True], ids=["before", "meanwhile"])
async def test_commits_under_permits_that_were_given_up_use_up_no_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str, meanwhile: bool
) -> None:
    """One signed ``retry`` begins whichever attempt comes next, as long as none is sent: whoever can start
    activities gives up the permit of each, or does so while its commit is about to be recorded.
    """
    async with guarded(tmp_path) as door:
        door.most_commits(5, of)
        await door.begin()
        await door.approve_alike()
        there, first = door.gate.connections, await door.sent_before("first", 0.01)
        await begun().run(close_intent, there, first, ClosedAs.NOTHING_CAME)
        await door.again("retry")
        create = door.archive.create_once
        for attempt in range(2, 12):
            asked = door.with_start(attempt=attempt)

            async def gives_up(asked: Guarded = asked, attempt: int = attempt) -> None:
                assert await asked.gate.give_up(door.gate.body, door.gate.body, permit=attempt)

            async def given_up_first(key: str, data: bytes, **how: bool) -> bool:
                if key.startswith("intent/"):
                    monkeypatch.undo()
                    await gives_up()
                return await create(key, data, **how)

            if meanwhile:
                monkeypatch.setattr(door.archive, "create_once", given_up_first)
            else:
                await gives_up()
            told = await asked.commit(permit=attempt)
            assert told.status is ChangeStatus.NOTHING_HAPPENED and told.called_off, told
        assert [key async for key in door.archive.list("commits")] == []
        assert (await door.with_start(attempt=12).commit(permit=12)).status is ChangeStatus.ANSWERED
        assert len([key async for key in door.archive.list("commits")]) == await door.sent() == 1


async def test_commits_under_a_permit_that_was_used_use_up_no_places(tmp_path: Path) -> None:
    """However often they are asked for."""
    async with guarded(tmp_path) as door:
        door.most_commits(1)
        await door.begin()
        await door.approve()
        name = (await door.gate.message(door.gate.body, door.gate.body)).permit.name
        used = await door.sent_before(name, 0.01)
        await begun().run(close_intent, door.gate.connections, used, ClosedAs.NOTHING_CAME)
        assert (await door.commit()).status is ChangeStatus.UNKNOWN
        assert [key async for key in door.archive.list("commits")] == []
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("of", ["wave", "campaign"])
@pytest.mark.parametrize("there", [False, True], ids=["no such proposal", "what is proposed"])
async def test_attempts_that_nobody_began_use_up_no_places(tmp_path: Path, of: str, there: bool) -> None:
    """An approved fingerprint names no attempt, and the message has it: whoever can start activities names
    one after the other. Nothing is sent, and the zones that wait go on.
    """
    async with guarded(tmp_path) as door:
        door.most_commits(5, of)
        await door.begin()
        await door.approve_alike()
        for attempt in range(2, 12):
            told = await door.with_start(attempt=attempt).commit(permit=attempt, missing=not there)
            assert told.status is ChangeStatus.NOTHING_HAPPENED and not told.full, told
        assert [key async for key in door.archive.list("commits")] == []
        assert (await door.commit()).status is ChangeStatus.ANSWERED
        assert len([key async for key in door.archive.list(f"commits/{of}")]) == await door.sent() == 1


@pytest.mark.parametrize("of", ["hour", "wave", "campaign"])
async def test_a_permit_that_has_expired_as_its_turn_comes_uses_up_no_place(tmp_path: Path, of: str) -> None:
    """Nothing is sent under it, however often it is tried."""
    async with guarded(tmp_path) as door:
        door.most_commits(1, of)
        await door.begin()
        await door.approve()
        play = door.gate
        late = await play.message(play.body, play.body, lasts=timedelta(seconds=-1))
        fence = Fence(play.connections, late, play.connections.clock.monotonic())
        fence.checked = play.connections.clock.monotonic()
        with pytest.raises(NotSent, match="ran out"):
            await begun().run(fence.intend)
        assert [key async for key in door.archive.list("commits")] == []
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


async def test_two_workers_make_as_many_commits_an_hour_as_the_roots_say(tmp_path: Path) -> None:
    """Each keeps which places of the hour are taken, and finds those that the other one took."""
    archive = Archive(tmp_path / "archive")
    one, other = (CommitCaps(archive, WorkerRecords(None, archive, SystemClock())) for _ in range(2))

    async def went(worker: CommitCaps, hour: int, most: int) -> bool:
        return await worker.take([Cap(f"commits/{hour}", most, "in this hour")], "p") is None

    found = [await went(worker, 1, 12) for _ in range(8) for worker in (one, one, other)]
    assert found == [True] * 12 + [False] * 12
    assert await went(other, 2, 1) and not await went(one, 2, 1)


async def test_workers_beside_each_other_seldom_list_all_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most places are others', and a campaign of 100,000 has as many: to list them takes a second or more."""
    archive, listed = Archive(tmp_path / "archive"), []
    records, list_all = WorkerRecords(None, archive, SystemClock()), archive.list

    def noted(name: str) -> AsyncIterator[str]:
        listed.append(name)
        return list_all(name)

    monkeypatch.setattr(archive, "list", noted)
    workers = [CommitCaps(archive, records) for _ in range(4)]
    cap = Cap("commits/campaign/wide", 100_000, "of the campaign")
    for number in range(400):
        assert await workers[number % 4].take([cap], f"permit-{number}") is None
    assert 0 < len(listed) < 100
    assert len([key async for key in list_all(cap.name)]) == 400


async def test_a_cap_that_has_no_place_left_uses_up_none_of_the_others(tmp_path: Path) -> None:
    """Forty zones of a wave that takes ten: the campaign keeps its places for the waves after it; nor does a
    full campaign, or a full hour, use up places.
    """
    archive = Archive(tmp_path / "archive")
    caps = CommitCaps(archive, WorkerRecords(None, archive, SystemClock()))

    async def tried(zone: int, wave: int, hour: int = 1) -> str:
        found = await caps.take(
            (
                Cap(f"commits/{hour}", 25, "in this hour"),
                Cap(f"commits/wave/x/{wave}", 10, f"of wave {wave}"),
                Cap("commits/campaign/x", 30, "of x"),
            ),
            f"p{zone}",
        )
        return found.of if found else ""

    async def taken(of: str) -> int:
        return len([key async for key in archive.list(f"commits/{of}")])

    assert [await tried(zone, 0) for zone in range(40)] == [""] * 10 + ["of wave 0"] * 30
    assert [await taken(of) for of in ("1", "wave/x/0", "campaign/x")] == [10, 10, 10]
    assert [await tried(zone, zone // 10) for zone in range(10, 40)] == [""] * 15 + ["in this hour"] * 15
    assert [await taken(of) for of in ("wave/x/3", "campaign/x")] == [0, 25]
    assert [await tried(zone, zone // 10, 2) for zone in range(30, 40)] == [""] * 5 + ["of x"] * 5
    assert [await taken(of) for of in ("2", "wave/x/3", "campaign/x")] == [5, 5, 30]


@pytest.mark.parametrize("of", ["wave", "campaign"])
async def test_no_more_commits_of_a_wave_or_a_campaign_than_the_roots_say(tmp_path: Path, of: str) -> None:
    """A commit that is tried again counts once; where the places are taken, the zone waits until the roots
    have more. Who plants a record that it had been counted has won nothing.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        archive, name = door.gate.connections.archive, door.campaign
        places = f"commits/{of}/{name}" + ("/0" if of == "wave" else "")
        counted = f"counted/{places.removeprefix('commits/')}/{door.gate.zone.id}/1"
        door.most_commits(1, of)
        await archive.create_once(f"{places}/0", b"another")
        await archive.create_once(counted, b'{"place": 1}')
        held = await door.commit()
        assert not held.unsigned and not held.turn and f"of {name}, the most by the roots" in held.reason
    async with guarded(tmp_path / "other") as door:
        await door.begin()
        await door.approve()
        archive = door.gate.connections.archive
        door.most_commits(1, of)
        door.most_commits(1)
        for hour in (datetime.now(UTC), datetime.now(UTC) + timedelta(hours=1)):
            await archive.create_once(f"commits/{hour:%Y%m%dT%H}/0", b"another")
        assert "in this hour" in (await door.commit()).reason
        door.most_commits(2)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED
        assert await door.sent() == 1


LOST = ["raises", "is told that one is there", "was killed then", "could not record that it has it"]


@pytest.mark.parametrize("most", [2, 3], ids=["the last place", "one of two"])
@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("of", ["wave", "campaign"])
async def test_a_commit_whose_place_got_lost_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str, lost: str, most: int
) -> None:
    """The store has its place, and the worker does not know: it is the same place when it is tried again, so
    that the last zone of a wave has one too.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        door.most_commits(most, of)
        places = f"commits/{of}/{door.campaign}" + ("/0" if of == "wave" else "")
        await door.archive.create_once(f"{places}/0", b"another")
        create, lose = door.archive.create_once, [lost]

        async def answers(key: str, data: bytes, **how: bool) -> bool:
            if key.startswith("counted/") and lose and lost in LOST[2:]:
                lose.clear()
                if lost != "was killed then":
                    await create(key, data, **how)
                raise ArchiveUnavailable("no answer")
            made = await create(key, data, **how)
            if key.startswith(places) and lose and lost in LOST[:2]:
                lose.clear()
                if lost == "raises":
                    raise ArchiveUnavailable("no answer")
                return False
            return made

        monkeypatch.setattr(door.archive, "create_once", answers)
        first = await door.commit()
        found = first if first.status is ChangeStatus.ANSWERED else await door.commit(permit=2)
        assert not lose and found.status is ChangeStatus.ANSWERED, found
        assert sorted([key async for key in door.archive.list(places)]) == [f"{places}/0", f"{places}/1"]


async def test_nobody_has_a_place_beyond_the_cap_by_what_it_holds(tmp_path: Path) -> None:
    """What lies there is signed by nobody: whoever can write to the archive lays as many as they like."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        door.most_commits(1, "wave")
        of = f"wave/{door.campaign}/0"
        first = await door.sent_before("first", 0.01)
        await begun().run(close_intent, door.gate.connections, first, ClosedAs.NOTHING_CAME)
        await door.archive.create_once(f"commits/{of}/0", b"another")
        await door.archive.create_once(f"commits/{of}/1", f"counted/{of}/{door.gate.zone.id}/1".encode())
        held = await door.commit(permit=2)
        assert held.full and await door.sent() == 0, held

"""What a rollback may still undo: by intents, each read by itself, and what was signed of their end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.intents import close_intents
from activities.change.rollbacks import is_over
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER
from edgeshift.authority.statements import ResultStatement
from edgeshift.messages import ChangeStatus, Step
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.stores.documents import Intent, NothingMore, Seen, intent_key
from edgeshift.stores.documents.intents import ClosedAs
from tests.forgeries.doors import Guarded, guarded

HOUR = timedelta(hours=1)
LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
OTHER: dict[str, Any] = {"campaign": "campaign/other", "run": "other"}


async def sent(door: Guarded, name: str, hours: float, step: Step = Step.COMMIT, **more: Any) -> str:
    """Record what a campaign has sent, as a worker does: the record's name."""
    change = await door.gate.message(door.gate.body, door.gate.body)
    said = {"proposal": change.proposal, "snapshot": change.snapshot, "step": step.value, **more}
    return await door.sent_before(name, hours, **said)


async def beside(
    door: Guarded, key: str, *, seen: bool = False, showed: bool | None = None, why: ClosedAs | None = None
) -> None:
    """Record what became of an intent."""
    records = door.gate.connections.records
    if why:
        assert await records.create(key.replace("intent/", "nothing/", 1), NothingMore.of(why))
    if seen:
        assert await records.create(key.replace("intent/", "seen/", 1), Seen(showed=showed))


async def signed(door: Guarded, outcome: ZoneOutcome) -> None:
    """Sign how it ended, now."""
    await door.gate.connections.results.record(door.gate.start, outcome, proposal=door.digest, seen="a" * 64)


async def settled(door: Guarded) -> None:
    """People agreed to a commit, which was sent and seen to its end."""
    now = datetime.now(UTC).replace(microsecond=0)
    await door.begin(issued=now - 8 * HOUR)
    await door.approve(issued=now - 7 * HOUR)
    await beside(door, await sent(door, "p", 6), seen=True, why=ClosedAs.ANSWERED)
    await signed(door, ZoneOutcome.SETTLED)


async def rubbish(door: Guarded) -> None:
    await door.archive.create_once(intent_key(door.gate.zone, door.gate.start.area, "x"), b"rubbish")


async def flood(door: Guarded) -> None:
    start = door.gate.start
    place = f"signed/{door.campaign}/result/{start.campaign_run}/{start.target.zone.id}/1"
    for number in range(6):
        await door.archive.create_once(f"{place}/{number:064x}", b"{}")


async def another(door: Guarded) -> None:
    await sent(door, "q", 1, **OTHER)


async def revoked(door: Guarded) -> None:
    RootsEditor(door.keyring.roots).revoke("worker")


@pytest.mark.parametrize("lifts", [rubbish, flood, another, revoked], ids=lambda one: one.__name__)
async def test_nothing_opens_again_what_was_settled(
    lifts: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither whoever may write to the archive, nor another campaign's commit, nor the worker's key, which is
    revoked since.
    """
    monkeypatch.setattr("edgeshift.authority.records.MOST", 3)
    async with guarded(tmp_path) as door:
        await settled(door)
        await lifts(door)
        back = await door.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
        assert (back.status, back.final) == (ChangeStatus.NOTHING_HAPPENED, True), back
        assert back.settled == "a" * 64
        assert await left(door) is False


async def of_another_run(door: Guarded) -> None:
    """Half of it was sent by a message that names another run; the zone's own attempt has sent the rest."""
    await beside(door, await sent(door, "half", 6, run="another", start=door.start), why=ClosedAs.ANSWERED)


async def of_a_later_attempt(door: Guarded) -> None:
    """An operator has signed that all begin again, and it was sent as of an attempt that none has come to."""
    await beside(door, await sent(door, "half", 6, attempt=200, start=door.start), why=ClosedAs.ANSWERED)


async def of_both(door: Guarded) -> None:
    half = await sent(door, "half", 6, run="another", attempt=200, start=door.start)
    await beside(door, half, why=ClosedAs.ANSWERED)


@pytest.mark.parametrize("half", [of_another_run, of_a_later_attempt, of_both], ids=lambda one: one.__name__)
async def test_what_was_settled_is_so_for_whoever_has_sent_a_part_of_it(half: Any, tmp_path: Path) -> None:
    """Under the same signed start, by a message that names the run and the attempt."""
    async with guarded(tmp_path) as door:
        now = datetime.now(UTC).replace(microsecond=0)
        await door.begin(issued=now - 8 * HOUR)
        await door.approve_alike(issued=now - 7 * HOUR)
        await half(door)
        await beside(door, await sent(door, "own", 5, start=door.start), why=ClosedAs.ANSWERED)
        back = await door.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
        assert not back.settled
        await signed(door, ZoneOutcome.SETTLED)
        back = await door.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK, permit=2)
        assert (back.status, back.final, back.settled) == (
            ChangeStatus.NOTHING_HAPPENED,
            True,
            "a" * 64,
        ), back
        assert await left(door) is False


async def under_another_start(door: Guarded) -> None:
    await sent(door, "other", 6, run="another", start="5" * 64)


async def of_another_proposal(door: Guarded) -> None:
    await sent(door, "other", 6, digest="6" * 64, attempt=2, start=door.start)


async def after_it_was_settled(door: Guarded) -> None:
    await sent(door, "other", -0.1, run="another", start=door.start)


async def stored_after_it_was_settled(door: Guarded) -> None:
    """By a clock that is behind that of whoever has signed the end."""
    await sent(door, "other", 0.3, attempt=2, start=door.start)


OPEN = (under_another_start, of_another_proposal, after_it_was_settled, stored_after_it_was_settled)


@pytest.mark.parametrize("other", OPEN, ids=lambda one: one.__name__)
async def test_what_was_settled_says_nothing_of_what_is_another_matter(other: Any, tmp_path: Path) -> None:
    """It may still be taken back."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await beside(door, await sent(door, "own", 6, start=door.start), seen=True, why=ClosedAs.ANSWERED)
        await signed(door, ZoneOutcome.SETTLED)
        await other(door)
        assert await left(door) is True


async def left(door: Guarded, **start: Any) -> bool:
    """Whether something is left that a rollback may undo."""
    asked = door.gate.start.model_copy(update=start)
    return not await is_over(door.gate.connections, asked)


async def test_a_flood_from_before_opens_nothing_that_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands beside the intent is found by its own name, however many stand beside the result."""
    monkeypatch.setattr("edgeshift.authority.records.MOST", 3)
    async with guarded(tmp_path) as door:
        await flood(door)
        await settled(door)
        await revoked(door)
        assert not await left(door)


async def test_what_was_rolled_back_is_open_no_more(tmp_path: Path) -> None:
    """Once a worker has signed it; a little longer where nobody has, since it may have to be tried again."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await beside(door, await sent(door, "p", 6), seen=True, why=ClosedAs.SHOWS)
        await beside(door, await sent(door, "b", 5, Step.ROLL_BACK), seen=True, why=ClosedAs.ANSWERED)
        assert await left(door)
        await signed(door, ZoneOutcome.ROLLED_BACK)
        assert not await left(door)


async def test_a_rollback_is_not_tried_for_ever(tmp_path: Path) -> None:
    """What was answered days ago is done, also where nobody has signed its end: whoever has changed the
    target since did so on purpose. One that nobody answered is tried still.
    """
    async with guarded(tmp_path) as door:
        await sent(door, "p", 24 * 30)
        back = await sent(door, "b", 24 * 29, Step.ROLL_BACK)
        assert await left(door)
        await beside(door, back, why=ClosedAs.ANSWERED)
        assert not await left(door)


async def test_times_that_others_wrote_keep_nobody_from_asking(tmp_path: Path) -> None:
    """A rollback and a result of the last second, as whoever has a worker's key dates them: the one is tried
    still, the other is an end.
    """
    async with guarded(tmp_path) as door:
        await door.begin(issued=datetime.now(UTC).replace(microsecond=0) - HOUR)
        await sent(door, "p", 0.5, start=door.start)
        back = await sent(door, "b", 0, Step.ROLL_BACK, at=LAST)
        await beside(door, back, why=ClosedAs.ANSWERED)
        assert await left(door)
        await door.begin(spec="5" * 64)
        start, said = door.gate.start, door.about(WORKER, issued=LAST - timedelta(seconds=1), expires=LAST)
        end = ResultStatement(
            **said,
            run=start.campaign_run,
            spec="5" * 64,
            zone=start.target.zone.id,
            attempt=1,
            outcome=ZoneOutcome.SETTLED,
            proposal=door.digest,
        )
        await door.put(end)
        assert not await left(door)


async def test_what_never_showed_is_not_undone(tmp_path: Path) -> None:
    """Nor what was not sent: what is there is somebody else's."""
    async with guarded(tmp_path) as door:
        assert not await left(door)
        await beside(door, await sent(door, "p", 6), why=ClosedAs.NOTHING_CAME)
        await beside(door, await sent(door, "r", 5), seen=True, showed=False, why=ClosedAs.NEVER_SHOWED)
        await beside(door, await sent(door, "s", 4), seen=True, showed=False, why=ClosedAs.ANSWERED)
        assert not await left(door)


async def test_what_another_campaign_has_made_since_is_its_own(tmp_path: Path) -> None:
    """Once it has settled: until then either may be in force."""
    async with guarded(tmp_path) as door:
        await beside(door, await sent(door, "p", 6), why=ClosedAs.ANSWERED)
        other = await sent(door, "q", 5, **OTHER)
        assert await left(door)
        await beside(door, other, seen=True)
        assert not await left(door)


async def test_no_worker_closes_an_intent_that_cannot_be_read(tmp_path: Path) -> None:
    """What came of it is a person's to say, and there is one place for that."""
    async with guarded(tmp_path) as door:
        zone, area = door.gate.zone, door.gate.start.area
        await rubbish(door)
        key = intent_key(zone, area, "x")
        await close_intents(door.gate.connections, zone, area, {key})
        assert await door.archive.get_named(key.replace("intent/", "nothing/", 1)) is None


async def test_what_another_campaign_has_settled_is_not_undone_by_a_second_try(tmp_path: Path) -> None:
    """That the first one was answered, and nobody has signed what came of it, says nothing of the other's."""
    async with guarded(tmp_path) as door:
        await beside(door, await sent(door, "p", 6), why=ClosedAs.ANSWERED)
        await beside(door, await sent(door, "b", 5, Step.ROLL_BACK), why=ClosedAs.ANSWERED)
        assert await left(door)
        await beside(door, await sent(door, "q", 4, **OTHER), seen=True)
        assert not await left(door)


async def test_a_key_that_was_revoked_opens_nothing_that_came_to_nothing_or_was_undone(
    tmp_path: Path,
) -> None:
    """What its worker has recorded of it counts: whoever has made what is there since did so on purpose."""
    async with guarded(tmp_path) as door:
        await beside(door, await sent(door, "r", 24 * 40), why=ClosedAs.NOTHING_CAME)
        await revoked(door)
        assert not await left(door)
    async with guarded(tmp_path / "undone") as door:
        await sent(door, "p", 24 * 30)
        await beside(door, await sent(door, "b", 24 * 29, Step.ROLL_BACK), why=ClosedAs.ANSWERED)
        await revoked(door)
        assert not await left(door)


@pytest.mark.parametrize("why", [None, ClosedAs.ANSWERED, ClosedAs.SHOWS])
async def test_a_commit_that_is_watched_is_open(why: ClosedAs | None, tmp_path: Path) -> None:
    """Answered or not, by whichever attempt, and whatever cannot be read beside it; also where its worker's
    key was revoked since.
    """
    async with guarded(tmp_path) as door:
        key = await sent(door, "p", 24 * 90)
        await beside(door, key, why=why)
        for name in ("seen", "over", "nothing"):
            await door.archive.create_once(key.replace("intent/", f"{name}/", 1), b"rubbish")
        await rubbish(door)
        assert await left(door) and await left(door, attempt=2)
        await revoked(door)
        assert await left(door)


@pytest.mark.parametrize("ended", [ZoneOutcome.ROLLED_BACK, ZoneOutcome.SETTLED])
async def test_a_second_attempt_is_open_whatever_became_of_the_first(
    ended: ZoneOutcome, tmp_path: Path
) -> None:
    """Also where the clock of whoever wrote the first one's records was ahead."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await beside(door, await sent(door, "p", 0.2), seen=True, why=ClosedAs.SHOWS)
        if ended is ZoneOutcome.ROLLED_BACK:
            await beside(door, await sent(door, "b", 0.15, Step.ROLL_BACK), seen=True, why=ClosedAs.ANSWERED)
        await signed(door, ended)
        key = await sent(door, "again", 0.3, attempt=2)
        assert await left(door, attempt=2)
        await beside(door, key, seen=True)
        assert not await left(door, attempt=2)


async def test_a_campaign_of_the_same_name_is_asked_for_its_own_end(tmp_path: Path) -> None:
    """Its run is another: attempts of the two say nothing of each other."""
    async with guarded(tmp_path) as door:
        await beside(door, await sent(door, "p", 6, attempt=3), seen=True, why=ClosedAs.SHOWS)
        await beside(
            door, await sent(door, "b", 5, Step.ROLL_BACK, attempt=3), seen=True, why=ClosedAs.ANSWERED
        )
        await sent(door, "again", 1, run="r2")
        assert await left(door, campaign_run="r2")


async def test_a_commit_of_another_version_is_read_another_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an intent cannot be read now, nobody can say that nothing is left."""
    from edgeshift.stores.archive import ArchiveUnavailable

    async with guarded(tmp_path) as door:
        await settled(door)
        records = door.gate.connections.records
        find, unread = records.find, await sent(door, "q", 1)

        async def failing(model: Any, key: str, **how: Any) -> Any:
            if key == unread:
                raise ArchiveUnavailable("no answer")
            return await find(model, key, **how)

        monkeypatch.setattr(records, "find", failing)
        with pytest.raises(ArchiveUnavailable):
            await left(door)
        assert isinstance(await records.proven(Intent, unread), Intent)

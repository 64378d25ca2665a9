"""What the door asks of a rollback: it needs no sign-off of its own, and undoes nothing but what people had
agreed to.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.proof.authority import NotSigned
from edgeshift.messages import ChangeStatus, Step
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.stores.documents import (
    FrozenTargets,
    Intent,
    create_record,
    intent_key,
    put_document,
    unproven_there,
)
from tests.forgeries.doors import Guarded, guarded

HOUR = timedelta(hours=1)
FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


async def ask(door: Guarded) -> None:
    """Ask whether the rollback of what is proposed may be sent. Raises NotSigned."""
    gate, there = door.gate, door.gate.connections
    change = await gate.message(gate.body, gate.body, step=Step.ROLL_BACK)
    spec = await there.spec(gate.start.spec)
    await there.authority.check(change, spec, there.targets, datetime.now(UTC))


async def sent(door: Guarded, name: str = "p", *, by_worker: bool = True, **more: Any) -> None:
    """Record a commit of what is proposed. ``by_worker``: signed by one."""
    said: dict[str, Any] = {
        "step": "commit",
        "at": datetime.now(UTC),
        "campaign": door.gate.start.campaign,
        "digest": door.digest,
        "fingerprint": door.fingerprint,
        "attempt": 1,
    }
    key = intent_key(door.gate.zone, door.gate.start.area, name)
    record = Intent(**{**said, **more})
    if by_worker:
        assert await door.gate.connections.records.create(key, record)
    else:
        assert await create_record(door.archive, key, record)


async def test_what_people_agreed_to_is_undone_without_asking(tmp_path: Path) -> None:
    """Also while the campaign is paused, once it was rejected, once the key was revoked, and once the least
    policy asks for more.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door)
        await ask(door)
        await door.say("pause", 1)
        await door.approve("grace", choice=Choice.REJECT)
        await ask(door)
        door.least(required=2)
        await ask(door)
        from edgeshift.authority.editing import RootsEditor

        RootsEditor(door.keyring.roots).revoke("ada")
        await ask(door)


@pytest.mark.parametrize("attempt", [1, 2])
async def test_what_was_settled_is_not_undone(attempt: int, tmp_path: Path) -> None:
    """In its own attempt, or in a later one that has taken it up, whatever attempt a message names. The zone
    is told what was signed, and that trying again cannot help.
    """
    async with guarded(tmp_path) as door:
        now = datetime.now(UTC).replace(microsecond=0)
        await door.begin(issued=now - 3 * HOUR)
        await door.approve(issued=now - 2 * HOUR)
        change = await door.gate.message(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
        await door.sent_before("p", 1, proposal=change.proposal, snapshot=change.snapshot)
        start = door.gate.start.model_copy(update={"attempt": attempt})
        settled = ZoneOutcome.SETTLED
        await door.gate.connections.results.record(start, settled, proposal=door.digest, seen="a" * 64)
        for asked in (door, door.with_start(attempt=3)):
            back = await asked.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
            assert (back.status, back.final) == (ChangeStatus.NOTHING_HAPPENED, True), back
            assert back.settled == "a" * 64
        assert await door.sent() == 0


@pytest.mark.parametrize("step", [Step.COMMIT, Step.ROLL_BACK])
async def test_roots_that_cannot_be_read_for_a_moment_are_waited_for(step: Step, tmp_path: Path) -> None:
    """It is as if its turn had not come: nothing was sent, and no person has to look."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        roots = door.keyring.roots
        aside = roots.rename(roots.with_suffix(".aside"))
        result = await door.gate.change(door.gate.body, door.gate.body, step=step)
        assert (result.status, result.turn, result.unsigned) == (ChangeStatus.NOTHING_HAPPENED, False, False)
        assert "roots of authority cannot be read" in result.reason
        aside.rename(roots)
        assert await door.sent() == 0


async def test_a_way_back_waits_until_the_roots_have_the_service_again(tmp_path: Path) -> None:
    """Who stops every campaign by its roots has changes watched and taken back once they are back."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door)
        door.without_service()
        back = await door.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
        assert (back.status, back.turn, back.unsigned) == (ChangeStatus.NOTHING_HAPPENED, False, False)
        commit = await door.commit()
        assert (commit.status, commit.turn, commit.unsigned) == (ChangeStatus.NOTHING_HAPPENED, True, True)


@pytest.mark.parametrize("name", ["olga", "ada"])
async def test_a_way_back_waits_until_the_roots_have_whoever_signed_again(name: str, tmp_path: Path) -> None:
    """Whoever started it, or agreed to it, was taken out of the roots, with the key or without: a rollback
    that people had agreed to does not fail for that. A commit does not wait.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door)
        for key in (True, False):
            with door.without(name, key=key):
                back = await door.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
                assert (back.turn, back.unsigned) == (False, False), back
                assert "by the roots as they are" in back.reason
                commit = await door.commit()
                assert (commit.turn, commit.unsigned) == (True, True), commit
        await ask(door)
        assert await door.sent() == 0


async def test_a_rollback_that_nobody_agreed_to_waits_for_nobody(tmp_path: Path) -> None:
    """Though the starter was taken out of the roots: with them, too, it would be refused."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await sent(door)
        with door.without("olga"):
            back = await door.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
        assert (back.turn, back.unsigned) == (True, True), back


@pytest.mark.parametrize(
    "planted",
    [
        {},
        {"digest": "0" * 64},
        {"campaign": "campaign/other"},
        {"step": "roll_back"},
        {"at": datetime(2020, 1, 1, tzinfo=UTC)},
    ],
    ids=["nobody agreed", "of another body", "of another campaign", "no commit", "before it was agreed to"],
)
async def test_a_planted_record_triggers_no_rollback(tmp_path: Path, planted: dict[str, Any]) -> None:
    """Whoever may write to the archive cannot have undone what nobody had the campaign do."""
    async with guarded(tmp_path) as door:
        await door.begin()
        if planted:
            await door.approve()
        await sent(door, **planted)
        await sent(door, "odd", step="opened")
        with pytest.raises(NotSigned, match="it would undo"):
            await ask(door)


async def test_a_planted_commit_that_people_had_agreed_to_triggers_no_rollback(tmp_path: Path) -> None:
    """Nobody has sent it: no worker has signed its record. What workers find so is said in the archive."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door, "planted", by_worker=False)
        with pytest.raises(NotSigned, match="nothing is on record that it would undo"):
            await ask(door)
        (said,) = (await unproven_there(door.archive)).found
        assert said.key == intent_key(door.gate.zone, door.gate.start.area, "planted")
        assert said.why == "no worker has signed it"
        await sent(door)
        await ask(door)


async def test_a_commit_of_a_worker_whose_key_was_revoked_is_undone(tmp_path: Path) -> None:
    """What it has sent has to be taken back all the same."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door)
        from edgeshift.authority.editing import RootsEditor

        RootsEditor(door.keyring.roots).revoke("worker")
        await ask(door)


async def test_no_start_that_counted_when_it_was_given_holds_a_rollback_back(tmp_path: Path) -> None:
    """Whoever started the campaign has lost the key since, and the start's own time is over; the thief signs
    another start, whose list of targets has no such zone, or is nowhere.
    """
    async with guarded(tmp_path) as door:
        then = datetime.now(UTC).replace(microsecond=0) - 3 * HOUR
        await door.begin(issued=then, expires=then + HOUR)
        first = door.start
        await door.approve(issued=then)
        await sent(door, at=then + HOUR / 2)
        from edgeshift.authority.editing import RootsEditor

        RootsEditor(door.keyring.roots).revoke("olga")
        await ask(door)
        none = await put_document(door.archive, FrozenTargets(()))
        for targets in (none, "0" * 64):
            await door.begin(targets=targets)
        assert door.start != first
        await ask(door)


async def test_a_start_of_the_last_second_holds_nothing_up(tmp_path: Path) -> None:
    """Whoever has a revoked key dates a start as they like: the rollback goes through, a permit is given up,
    and what a worker has read is signed, all the same.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door)
        from edgeshift.authority.editing import RootsEditor

        RootsEditor(door.keyring.roots).revoke("olga")
        await door.begin(issued=LAST - timedelta(seconds=1), expires=LAST)
        await ask(door)
        gate, results = door.gate, door.gate.connections.results
        assert await gate.give_up(gate.body, gate.body, permit=7)
        await results.record(gate.start, ZoneOutcome.MIGRATED, proposal=door.digest, seen="a" * 64)
        spec = await gate.connections.spec(gate.start.spec)
        assert ZoneOutcome.MIGRATED in await results.proven(spec, "r", gate.zone.id)


@pytest.mark.parametrize("at", [LAST, FIRST], ids=["the last", "the first"])
async def test_a_commit_of_no_time_of_ours_is_judged(at: datetime, tmp_path: Path) -> None:
    """As whoever has a revoked key of a worker dates it: people had agreed to it, or not."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=FIRST, expires=LAST)
        await door.approve(issued=FIRST + HOUR, expires=LAST)
        await sent(door, at=at)
        with pytest.raises(NotSigned, match="people had not agreed to what it would undo"):
            await ask(door)
        await sent(door, "q")
        await door.approve()
        await ask(door)


async def test_a_start_that_nobody_who_may_has_signed_brings_no_rollback(tmp_path: Path) -> None:
    """One that never counted does not count for the rollback, either."""
    async with guarded(tmp_path) as door:
        await door.begin("ada")
        await door.approve()
        await sent(door)
        with pytest.raises(NotSigned, match="its start did not count: ada is no starter"):
            await ask(door)


@pytest.mark.parametrize("place", ["start", "word", "decision"])
async def test_no_flood_of_names_holds_a_rollback_back(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there when the commit was sent is older than all that somebody has planted since. A commit
    stays held back.
    """
    monkeypatch.setattr("edgeshift.authority.records.MOST", 3)
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door)
        under = f"{place}/{door.digest}" if place == "decision" else place
        for number in range(20):
            await door.archive.create_once(f"signed/{door.campaign}/{under}/{number:064x}", b"{}")
        await ask(door)
        result = await door.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and await door.sent() == 0


async def test_no_damaged_word_or_decision_holds_a_rollback_back(tmp_path: Path) -> None:
    """A whole one does not, either: what a stranger plants keeps nothing from being undone."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door)
        for place in ("word", f"decision/{door.digest}", "again/every-zone"):
            await door.archive.create_once(f"signed/{door.campaign}/{place}/{'0' * 64}", b"{}")
        await ask(door)


async def test_a_rollback_of_nothing_is_refused(tmp_path: Path) -> None:
    """As a message that anybody can send asks for it: nothing was sent that it would undo."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        with pytest.raises(NotSigned, match="nothing is on record that it would undo"):
            await ask(door)


async def test_a_step_that_an_area_does_not_know_is_not_sent(tmp_path: Path) -> None:
    """A migration of the WAF has no rollback: a message that asks for one comes to nothing, also where people
    had agreed to the commit.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door, at=datetime.now(UTC) - 3 * HOUR)
        await door.approve(issued=datetime.now(UTC).replace(microsecond=0) - 4 * HOUR)
        for step in (Step.ROLL_BACK, Step.SET_SECRET):
            result = await door.commit(step=step)
            assert result.status is ChangeStatus.NOTHING_HAPPENED
            assert f"waf knows no step {step.value}" in result.reason
        assert await door.sent() == 0

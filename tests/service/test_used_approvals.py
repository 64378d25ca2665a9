"""An approval lets one effective change of a target through; another attempt needs a person's word that it
begins. A stranger who has every message, and no key, has nothing sent once more.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from activities.change.intent_records import beside_of
from activities.change.intents import ClosedAs
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.statements import AgainStatement
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.stores.documents import NothingMore, Seen, create_record
from edgeshift.stores.documents.snapshots import snapshot_key
from tests.forgeries.doors import Guarded, guarded
from tests.kit.signing import signed
from tests.service.gate_kit import ago


async def beside(door: Guarded, key: str, what: str, record: Any) -> None:
    """Record what came of it."""
    assert await door.gate.connections.records.create(beside_of(key, what), record)


async def rolled_back(door: Guarded) -> None:
    """A worker has sent the rollback, which was answered."""
    key = await door.sent_before("back", 5, step="roll_back")
    await beside(door, key, "nothing", NothingMore.of(ClosedAs.ANSWERED))


async def told(door: Guarded, outcome: ZoneOutcome) -> None:
    """A worker has signed how the attempt ended."""
    start = door.gate.start.model_copy(update={"attempt": 1})
    await door.gate.connections.results.record(start, outcome, proposal=door.digest)


async def was_rolled_back(door: Guarded, key: str) -> None:
    """The rollback was sent."""
    await rolled_back(door)


async def was_seen_undone(door: Guarded, key: str) -> None:
    """A worker has signed that it is rolled back."""
    await told(door, ZoneOutcome.ROLLED_BACK)


async def was_settled(door: Guarded, key: str) -> None:
    """A worker has signed that it is settled; somebody has taken it back by hand since."""
    await told(door, ZoneOutcome.SETTLED)


async def was_watched(door: Guarded, key: str) -> None:
    """It was watched to its end."""
    await beside(door, key, "seen", Seen())


ENDS = (was_rolled_back, was_seen_undone, was_settled, was_watched)


async def approved(door: Guarded, about: str, issued: datetime, **more: Any) -> None:
    """An approval of the zone's own proposal, or of its fingerprint."""
    said: dict[str, Any] = {}
    if about == "fingerprint":
        said = {"about": about, "subjects": (door.fingerprint,), "zone": None, "attempt": None}
    await door.approve(issued=issued, **{**said, **more})


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
@pytest.mark.parametrize("about", ["fingerprint", "proposal"])
async def test_an_approval_that_was_used_sends_nothing_once_more(
    about: str, end: Any, tmp_path: Path
) -> None:
    """Whatever permit a message names: the target is as before, and the signature has not expired."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await approved(door, about, ago(8))
        await end(door, await door.sent_before("first", 6))
        for permit in (1, 2):
            result = await door.commit(permit=permit)
            assert result.status is ChangeStatus.NOTHING_HAPPENED and result.uncounted, result
            assert "attempt 1 has sent it" in result.reason
        assert await door.sent() == 0


async def test_a_record_that_says_no_attempt_is_of_the_first(tmp_path: Path) -> None:
    """As the verifier of audit files has it: what it used sends nothing once more."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await approved(door, "fingerprint", ago(8))
        await was_watched(door, await door.sent_before("first", 6, attempt=None))
        result = await door.commit()
        assert result.uncounted and "attempt 1 has sent it" in result.reason, result
        assert await door.sent() == 0


@pytest.mark.parametrize("about", ["fingerprint", "proposal"])
async def test_what_was_rolled_back_is_sent_again_by_a_later_word(about: str, tmp_path: Path) -> None:
    """An operator begins it again, and people approve it after that: neither alone is enough, nor is what was
    approved between the change and its rollback.
    """
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await approved(door, about, ago(8))
        await door.sent_before("first", 6)
        await approved(door, about, ago(5.5))
        await rolled_back(door)
        second = door.with_start(attempt=2)
        more = {} if about == "fingerprint" else {"attempt": 2}
        assert (await second.commit()).unsigned
        await door.again("reopen", issued=ago(4), zones=(door.gate.zone.id,))
        used = await second.commit(permit=2)
        assert used.uncounted and "0 of 1" in used.reason
        if about == "fingerprint":
            assert "what ada signed was used" in used.reason
        await approved(door, about, ago(3), **more)
        assert (await door.commit(permit=3)).uncounted
        assert (await second.commit(permit=4)).status is ChangeStatus.ANSWERED
        assert await door.sent() == 1


async def test_a_campaign_that_is_started_again_begins_with_its_first_attempt(tmp_path: Path) -> None:
    """What an earlier start has sent and taken back keeps nothing from being approved for this one."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await approved(door, "fingerprint", ago(8))
        await door.sent_before("first", 6)
        await rolled_back(door)
        await door.begin(issued=ago(4))
        assert (await door.commit()).uncounted
        await approved(door, "fingerprint", ago(3))
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


async def came_to_nothing(door: Guarded, key: str) -> None:
    """Nothing came of it."""
    await beside(door, key, "nothing", NothingMore.of(ClosedAs.NOTHING_CAME, "the service refused it"))
    await beside(door, key, "seen", Seen())


async def never_showed(door: Guarded, key: str) -> None:
    """It was answered and never showed: it is sent once more where the file says so, or a person does."""


async def way_back_came_to_nothing(door: Guarded, key: str) -> None:
    """The rollback was not sent in the end."""
    back = await door.sent_before("back", 5, step="roll_back")
    await beside(door, back, "nothing", NothingMore.of(ClosedAs.NOTHING_CAME, "it was not sent"))


async def planted_way_back(door: Guarded, key: str) -> None:
    """Whoever may write to the archive has no approval used."""
    await door.sent_before("back", 5, step="roll_back", by_worker=False)
    assert await create_record(door.archive, beside_of(key, "seen"), Seen())


UNUSED = (came_to_nothing, never_showed, way_back_came_to_nothing)


@pytest.mark.parametrize("end", UNUSED, ids=lambda end: end.__name__)
async def test_what_had_no_effect_uses_no_approval(end: Any, tmp_path: Path) -> None:
    """The same attempt goes on with what was signed."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await approved(door, "proposal", ago(8))
        await end(door, await door.sent_before("first", 6))
        assert (await door.commit()).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize(
    "other",
    [
        {"digest": "0" * 64, "fingerprint": "0" * 64},
        {"campaign": "campaign/other"},
        {"step": "delete_overrides"},
    ],
    ids=["another proposal", "another campaign", "another step"],
)
async def test_what_was_sent_of_something_else_uses_no_approval(other: Any, tmp_path: Path) -> None:
    """Each approval is of one thing."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await approved(door, "proposal", ago(8))
        await beside(door, await door.sent_before("first", 6, **other), "seen", Seen())
        assert (await door.commit()).status is ChangeStatus.ANSWERED


async def test_a_request_that_nobody_could_tell_of_is_sent_as_often_as_the_file_says(tmp_path: Path) -> None:
    """``commit.resend_unchanged``: once more here, and not twice."""
    async with guarded(tmp_path, commit={"resend_unchanged": 1}) as door:
        await door.begin(issued=ago(9))
        await approved(door, "proposal", ago(8))
        await beside(door, await door.sent_before("first", 6), "seen", Seen())
        await beside(door, await door.sent_before("second", 5), "seen", Seen())
        assert (await door.commit()).uncounted
    async with guarded(tmp_path / "once", commit={"resend_unchanged": 1}) as door:
        await door.begin(issued=ago(9))
        await approved(door, "proposal", ago(8))
        await beside(door, await door.sent_before("first", 6), "seen", Seen())
        assert (await door.commit()).status is ChangeStatus.ANSWERED


async def test_a_planted_record_uses_no_approval(tmp_path: Path) -> None:
    """It keeps the zone from a commit while it may be one, and is named: no approval is spent by it."""
    async with guarded(tmp_path, commit={"migration_limit": "1s"}, request_limit="1s") as door:
        await door.begin(issued=ago(9))
        await approved(door, "proposal", ago(8))
        await planted_way_back(door, await door.sent_before("first", 6))
        result = await door.commit()
        assert not result.uncounted and result.status is ChangeStatus.UNKNOWN and result.earlier


async def test_what_a_worker_has_sent_whose_key_was_revoked_was_used_all_the_same(tmp_path: Path) -> None:
    """Its records stand for what may have been sent until the store took them, which was long ago."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await approved(door, "proposal", ago(8))
        assert door.archive.folder is not None
        first = await door.sent_before("first", 6)
        await rolled_back(door)
        for intent in (door.archive.folder / first).parent.iterdir():
            os.utime(intent, (0, 0))
        another = door.keyring.signer("another-worker", ("worker",))
        RootsEditor(door.keyring.roots).revoke("worker")
        # Another worker reads the zone again.
        key = f"{snapshot_key(door.gate.zone, Area.WAF, door.gate.snapshot)}-0"
        taken = {"taken_at": datetime.now(UTC).isoformat()}
        await door.archive.create_once(key, await signed(key, taken, another, by="another-worker"))
        assert (await door.commit()).uncounted


AGAIN: dict[str, dict[str, Any]] = {
    "by nobody": {},
    "by an approver": {"by": "ada"},
    "by an unknown key": {"signer": "stranger"},
    "of another zone": {"zones": ("f" * 32,)},
    "that support has fixed it": {"verb": "support-resolved"},
    "before the attempt before": {"issued": 7},
    "before the campaign was started anew": {"issued": 20},
    "of another start": {"start": "f" * 64},
    "of a rehearsal's service": {"service": "https://rehearsal.example/client/v4"},
    "of another area": {"area": Area.ESC},
}


@pytest.mark.parametrize("how", AGAIN)
@pytest.mark.parametrize("about", ["fingerprint", "proposal"])
async def test_a_second_attempt_that_nobody_begins_sends_nothing(
    about: str, how: str, tmp_path: Path
) -> None:
    """A forged ``retry`` has a zone begin again that failed, with what was approved of it: its door asks for
    an operator's signature, of this zone or of all, since the attempt before began to send.
    """
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        key = await door.sent_before("first", 6)
        await beside(door, key, "nothing", NothingMore.of(ClosedAs.NOTHING_CAME, "the service refused it"))
        await approved(door, about, ago(8), **({} if about == "fingerprint" else {"attempt": 2}))
        said = dict(AGAIN[how])
        if how != "by nobody":
            said = {"issued": ago(said.pop("issued", 4)), "zones": (door.gate.zone.id,), **said}
            await _again(door, said.pop("verb", "retry"), **said)
        second = door.with_start(attempt=2)
        result = await second.commit()
        assert result.unsigned and not result.uncounted, result
        assert "nobody has signed that it begins again" in result.reason
        assert await door.sent() == 0
        await door.again("retry", issued=ago(3))
        assert (await second.commit(permit=2)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("zones", [(), ("own",)], ids=["all", "one"])
@pytest.mark.parametrize("own", [True, False])
async def test_an_operator_of_another_account_begins_no_attempt(
    own: bool, zones: tuple[str, ...], tmp_path: Path
) -> None:
    """Nor by a word for all zones, which counts for those of the operator's own accounts."""
    async with guarded(tmp_path) as door:
        door.limit("sam", door.gate.zone.account if own else "f" * 32)
        await door.begin(issued=ago(9))
        await approved(door, "fingerprint", ago(8))
        await door.again("retry", issued=ago(3), zones=tuple(door.gate.zone.id for _ in zones))
        result = await door.with_start(attempt=2).commit()
        assert (result.status is ChangeStatus.ANSWERED) is own, result
        assert own or "nobody has signed that it begins again" in result.reason


@pytest.mark.parametrize("attempt", [None, 1])
async def test_a_permit_that_a_pause_has_given_up_takes_nobodys_word_away(
    attempt: int | None, tmp_path: Path
) -> None:
    """Nothing was sent under it: what an operator has signed before the pause begins the attempt after it,
    too. A campaign that takes permits back does not know the attempts.
    """
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        key = await door.sent_before("first", 6)
        await beside(door, key, "nothing", NothingMore.of(ClosedAs.NOTHING_CAME, "the service refused it"))
        await door.again("retry", issued=ago(5), zones=(door.gate.zone.id,))
        await approved(door, "fingerprint", ago(4))
        await door.sent_before("paused", 3, step="given_up", attempt=attempt, digest=None, fingerprint=None)
        assert (await door.with_start(attempt=2).commit()).status is ChangeStatus.ANSWERED


async def _again(door: Guarded, verb: str, signer: str = "", **said: Any) -> str:
    if not signer:
        return await door.again(verb, **said)
    by = {**door.about("sam"), "start": door.start, "verb": verb, **said}
    return await door.put(AgainStatement(**by), door.stranger)


@pytest.mark.parametrize("verb", ["retry", "reopen"])
async def test_an_attempt_that_an_operator_begins_goes_on(verb: str, tmp_path: Path) -> None:
    """Also where the attempt before has sent nothing, and for all zones at once."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await approved(door, "fingerprint", ago(8))
        second = door.with_start(attempt=2)
        assert (await second.commit()).unsigned
        await door.again(verb, issued=ago(3), places=("failed",))
        assert (await second.commit(permit=2)).status is ChangeStatus.ANSWERED

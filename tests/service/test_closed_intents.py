"""Why nothing more comes of an intent is decided by the kind that its record has, and never by its words:
those may be the service's, or a person's. Records of before have no kind, and mean what they meant.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.fence import Fence
from activities.change.in_force import may_be_in_force
from activities.change.intent_records import BY_HAND_AFTER, closed_as, is_effective
from activities.change.intents import ClosedAs, close_intent, commit_may_show, left_in
from activities.change.own import Own
from edgeshift.messages import ChangeResult, ChangeStatus
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Area
from edgeshift.stores.documents import DocumentUnreadable, NothingMore, contents_of, decoded, encoded
from tests.kit.audited import SENT, audited, chained, rows
from tests.kit.signing import signed
from tests.service.gate_kit import gate
from tests.service.records_kit import KEY, LIMIT, NOTHING, ZONE, Kept

WORDS = ("answered", "it shows", "it never showed", "shows", "")
"""What a record of before may say, and what somebody may make it say."""

OF_BEFORE = {
    "answered": ClosedAs.ANSWERED,
    "it shows": ClosedAs.SHOWS,
    "it never showed": ClosedAs.NEVER_SHOWED,
    "shows": ClosedAs.NOTHING_CAME,
    "Answered": ClosedAs.NOTHING_CAME,
    "the service refused it": ClosedAs.NOTHING_CAME,
    "": ClosedAs.NOTHING_CAME,
}


async def stands(kept: Kept) -> tuple[bool, ...]:
    """What is made of the commit, by those who ask before they send, take up or take back."""
    there = kept.connections
    return (
        await kept.may_show(),
        await commit_may_show(there, ZONE, Area.ESC, LIMIT, answered=True),
        await kept.taken_up() is not None,
        await left_in(there, ZONE, Area.ESC, "mine", Own("run")) is not None,
        await may_be_in_force(there, ZONE, Area.ESC, Own("run")),
        await is_effective(there, KEY),
    )


@pytest.mark.parametrize("words", OF_BEFORE)
def test_a_record_of_before_means_what_it_meant_and_keeps_its_bytes(words: str) -> None:
    """Its words are all that it has."""
    data = canonical_bytes({"reason": words})
    read = decoded(NothingMore, data, "x")
    assert read.closed_as is OF_BEFORE[words] and encoded(read) == data


@pytest.mark.parametrize("words", OF_BEFORE)
async def test_a_record_of_before_counts_by_its_signature(words: str, kept: Kept) -> None:
    """It decides as one that is written today."""
    await kept.sent()
    kept.lay(NOTHING, await signed(NOTHING, {"reason": words}, kept.worker))
    assert await closed_as(kept.connections, KEY) is OF_BEFORE[words]
    of_before = await stands(kept)
    kept.path(NOTHING).unlink()
    await close_intent(kept.connections, KEY, OF_BEFORE[words])
    assert await stands(kept) == of_before


@pytest.mark.parametrize("kind", ClosedAs)
@pytest.mark.parametrize("words", WORDS)
async def test_where_there_is_a_kind_its_words_decide_nothing(words: str, kind: ClosedAs, kept: Kept) -> None:
    """Whatever they are: all who ask make the same of it."""
    await kept.sent()
    await close_intent(kept.connections, KEY, kind, "some words")
    decided = await stands(kept)
    assert decided[2:] == (kind in (ClosedAs.ANSWERED, ClosedAs.SHOWS),) * 4
    kept.path(NOTHING).unlink()
    await close_intent(kept.connections, KEY, kind, words)
    assert await closed_as(kept.connections, KEY) is kind and await stands(kept) == decided


def test_workers_of_before_read_what_is_written_today() -> None:
    """By its words, which are the same where they decide."""
    for kind, words in zip(ClosedAs, ("answered", "it shows", "it never showed", ""), strict=True):
        assert contents_of(NothingMore.of(kind)) == {"kind": kind.value, "reason": words}


@pytest.mark.parametrize("status", [ChangeStatus.REFUSED, ChangeStatus.NOTHING_HAPPENED])
@pytest.mark.parametrize("words", ["answered", "it shows"])
async def test_a_service_that_refuses_in_our_words_has_not_answered(
    words: str, status: ChangeStatus, tmp_path: Path
) -> None:
    """The record says that nothing came of it: it is not taken for a change that may be in force."""
    async with gate(tmp_path) as play:
        fence = Fence(play.connections, await play.message(play.body, play.body), 0.0)
        fence.intent = KEY
        await fence.confirm(ChangeResult(status=status, reason=words))
        found = await play.connections.records.proven(NothingMore, NOTHING)
        assert found == NothingMore(kind=ClosedAs.NOTHING_CAME, reason=words)
        assert not await is_effective(play.connections, KEY)


@pytest.mark.parametrize("words", ["answered", "it shows", "ann looked: the zone is not migrated"])
async def test_a_person_says_in_whatever_words_that_nothing_came_of_it(words: str, kept: Kept) -> None:
    """Of an intent that cannot be read, once it is a day old."""
    kept.lay(KEY, b"{", ago=BY_HAND_AFTER)
    kept.lay(NOTHING, canonical_bytes({"kind": "nothing_came", "reason": words}))
    assert not await kept.may_show()
    kept.lay(KEY, b"{", ago=BY_HAND_AFTER - timedelta(minutes=1))
    with pytest.raises(DocumentUnreadable, match=KEY):
        await kept.may_show()


@pytest.mark.parametrize("said", [{"kind": "shows", "reason": "nothing came"}, {"kind": "nothing"}])
async def test_another_kind_puts_no_intent_right_that_cannot_be_read(
    said: dict[str, Any], kept: Kept
) -> None:
    """Nor one that there is not, which is named."""
    kept.lay(KEY, b"{", ago=BY_HAND_AFTER)
    kept.lay(NOTHING, canonical_bytes(said))
    with pytest.raises(DocumentUnreadable, match=KEY if len(said) == 2 else NOTHING):
        await kept.may_show()


@pytest.mark.parametrize("words", ["answered", "it shows"])
async def test_an_audit_file_goes_by_the_kind(words: str, tmp_path: Path) -> None:
    """What was refused in these words has used no approval."""
    done = await audited(tmp_path)
    refused = NothingMore.of(ClosedAs.NOTHING_CAME, words)
    await done.send(done.zones[0], "back", step="roll_back", at=later(1), nothing=refused)
    await done.send(done.zones[0], "p-3", at=later(2), nothing=refused)
    await done.send(done.zones[0], "p-4", at=later(3))
    assert done.prove(await done.export()).holds


@pytest.mark.parametrize("written", ["today", "by an earlier version"])
@pytest.mark.parametrize("kind", ClosedAs)
async def test_an_audit_file_of_before_means_what_it_meant(
    kind: ClosedAs, written: str, tmp_path: Path
) -> None:
    """Its lines have the words alone; so have records of before in a file that is written today."""
    done, before = await audited(tmp_path), NothingMore(reason=NothingMore.of(kind).reason)
    back = NothingMore.of(kind) if written == "today" else before
    await done.send(done.zones[0], "back", step="roll_back", at=later(1), nothing=back)
    await done.send(done.zones[0], "p-3", at=later(2))
    some = rows(await done.export())
    answers = [row["data"] for row in some if row["kind"] == "answer"]
    assert kind.value in {answer["closed_as"] for answer in answers}
    used = kind in (ClosedAs.ANSWERED, ClosedAs.SHOWS)
    found = done.prove(await done.export())
    assert ("attempt 1 has sent it" in str(found.findings)) is used and found.holds is not used
    for answer in answers:
        del answer["closed_as"]
    of_before = done.prove(chained([row for row in some if row["kind"] != "seal"]))
    assert ("attempt 1 has sent it" in str(of_before.findings)) is used


def later(hours: float) -> datetime:
    """So long after the first commit."""
    return SENT + timedelta(hours=hours)

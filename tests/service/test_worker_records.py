"""Records of the archive count where a worker has signed them whom the roots know: what else lies there under
their names decides nothing, keeps no zone for ever, and is named.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from activities.change.in_force import may_be_in_force
from activities.change.intent_records import BY_HAND_AFTER, intents_of
from activities.change.intents import (
    ClosedAs,
    close_intent,
    left_in,
    seen_through,
    unproven_last,
)
from activities.change.own import Own
from activities.proof.records import WorkerRecords
from activities.waf.evidence import EvidenceActivities
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence, agreed_rules
from edgeshift.areas.waf.evidence_terms import RuleLine
from edgeshift.authority import worker_records
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.sshsig import PublicKey, verify
from edgeshift.doctor.archive_checks import check_records
from edgeshift.doctor.check import State
from edgeshift.messages import ZoneStart
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Area
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.archive import ArchiveUnavailable
from edgeshift.stores.documents import (
    DocumentUnreadable,
    EvidenceGathered,
    Intent,
    NothingMore,
    Seen,
    contents_of,
    encoded,
    gathered_key,
    put_document,
    unproven_there,
)
from tests.kit.signing import signed
from tests.service.records_kit import (
    KEY,
    LIMIT,
    NOTHING,
    SEEN,
    ZONE,
    Forge,
    Kept,
    by_a_stranger,
    forged,
    intent,
    unsigned,
)


async def test_what_was_verified_once_is_judged_again_each_time(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the roots as they are then; other bytes under the same name are verified by themselves."""
    verified: list[bytes] = []

    def counted(message: bytes, armored: str) -> PublicKey:
        verified.append(message)
        return verify(message, armored)

    monkeypatch.setattr(worker_records, "verify", counted)
    other = kept.keyring.signer("worker-2", ("worker",))
    kept.lay(KEY, await signed(KEY, contents_of(intent()), other, by="worker-2"))
    for _ in range(3):
        assert await kept.records.proven(Intent, KEY) is not None
    assert len(verified) == 1
    RootsEditor(kept.keyring.roots).revoke("worker-2")
    assert await kept.records.proven(Intent, KEY) is None and len(verified) == 1
    kept.lay(KEY, await signed(KEY, contents_of(intent(attempt=2)), kept.worker))
    assert await kept.records.proven(Intent, KEY) is not None
    kept.lay(KEY, kept.path(KEY).read_bytes().replace(b'"attempt":2', b'"attempt":3'))
    assert await kept.records.proven(Intent, KEY) is None and len(verified) == 3


async def test_a_workers_record_counts_also_once_its_key_was_replaced(kept: Kept) -> None:
    """It is what any reader of the document reads, and has one field more."""
    await kept.sent()
    found = await kept.records.find(Intent, KEY)
    assert found is not None and found.unproven is None and found.record.campaign == "mine"
    assert await kept.records.proven(Intent, KEY) == found.record
    lines = kept.keyring.signers.read_text().splitlines()
    later = datetime.now(UTC) + timedelta(seconds=30)
    ended = [
        line.replace("worker ", f'worker valid-before="{later:%Y%m%d%H%M%S}Z" ', 1)
        if line.startswith("worker ")
        else line
        for line in lines
    ]
    assert ended != lines
    kept.keyring.signers.write_text("\n".join(ended) + "\n")
    assert await kept.records.proven(Intent, KEY) == found.record
    assert (await unproven_there(kept.archive)).found == ()


@forged
async def test_what_no_worker_has_signed_is_named_until_it_is_gone(kept: Kept, forge: Forge) -> None:
    """By whoever asks the doctor; once, however often workers come upon it."""
    kept.lay(KEY, await forge(kept, KEY, intent()))
    for _ in range(2):
        assert await kept.records.proven(Intent, KEY) is None
    found = await kept.records.find(Intent, KEY)
    assert found is not None and found.unproven
    (said,) = (await unproven_there(kept.archive)).found
    assert (said.key, said.why) == (KEY, found.unproven)
    (check,) = await check_records(kept.archive.name)
    assert check.state is State.WARNING and f"1 record does not count: {KEY} (" in check.text
    kept.path(KEY).unlink()
    (check,) = await check_records(kept.archive.name)
    assert check.state is State.OK and (await unproven_there(kept.archive)).found == ()


@forged
async def test_a_forged_word_that_nothing_came_of_it_is_none(kept: Kept, forge: Forge) -> None:
    """The commit may show, and is the campaign's own, as if nobody had said a word."""
    await kept.sent()
    kept.lay(NOTHING, await forge(kept, NOTHING, NothingMore.of(ClosedAs.NOTHING_CAME)))
    assert await kept.may_show() and await kept.taken_up() is not None
    kept.path(NOTHING).unlink()
    await close_intent(kept.connections, KEY, ClosedAs.NOTHING_CAME)
    assert not await kept.may_show() and await kept.taken_up() is None


@forged
async def test_a_forged_word_that_it_was_seen_to_its_end_is_none(kept: Kept, forge: Forge) -> None:
    """The campaign takes its commit up, and looks at it itself."""
    await kept.sent()
    await close_intent(kept.connections, KEY, ClosedAs.ANSWERED)
    kept.lay(SEEN, await forge(kept, SEEN, Seen()))
    assert await kept.taken_up() is not None
    assert await left_in(kept.connections, ZONE, Area.ESC, "mine", Own("run")) is not None
    kept.path(SEEN).unlink()
    await seen_through(kept.connections, ZONE, Area.ESC, {KEY})
    assert await kept.taken_up() is None


@forged
@pytest.mark.parametrize("step", ["commit", "given_up", "opened", "nonsense"])
async def test_a_forged_intent_keeps_its_zone_for_as_long_as_a_change_may_show(
    kept: Kept, forge: Forge, step: str
) -> None:
    """It may have the place of one that was sent, whatever it says of step and time; it is nothing that the
    campaign did, and an attempt that is said to have changed nothing is looked into.
    """
    data = await forge(kept, KEY, intent(step=step, at=datetime(2020, 1, 1, tzinfo=UTC)))
    kept.lay(KEY, data)
    assert await kept.may_show()
    assert await kept.taken_up() is None
    assert await left_in(kept.connections, ZONE, Area.ESC, "mine", Own("run")) is None
    assert await may_be_in_force(kept.connections, ZONE, Area.ESC, Own("run"))
    kept.lay(KEY, data, ago=LIMIT + timedelta(seconds=1))
    assert not await kept.may_show()


@pytest.mark.parametrize("name", ["", "-override-1", "2"])
async def test_what_cannot_be_read_is_nobodys_own(kept: Kept, name: str) -> None:
    """Whatever it is called: it may be of another permit, whose name begins like one's own."""
    kept.lay(f"{KEY}{name}", b"<html>")
    with pytest.raises(DocumentUnreadable):
        beside = KEY.rpartition("/")[2]
        _ = [sent async for sent in intents_of(kept.connections, ZONE, Area.ESC, beside=beside)]


async def test_a_genuine_intent_is_hidden_by_no_forged_one(kept: Kept) -> None:
    """The last commit that is the campaign's own is found beside later ones that are nobody's."""
    await kept.sent(at=datetime.now(UTC) - timedelta(hours=2))
    other = f"{KEY}-x"
    kept.lay(other, await unsigned(kept, other, intent(campaign="another")))
    found = await kept.taken_up()
    assert found is not None and found.campaign == "mine"


async def test_what_a_person_says_of_an_unreadable_intent_counts_once_nothing_can_come_of_it(
    kept: Kept,
) -> None:
    """Whoever looks there signs nothing: so the record's own age speaks for them."""
    kept.lay(KEY, b"{")
    kept.lay(NOTHING, canonical_bytes({"reason": "ann looked: the zone is not migrated"}))
    with pytest.raises(DocumentUnreadable, match=KEY):
        await kept.may_show()
    kept.lay(KEY, b"{", ago=BY_HAND_AFTER)
    assert not await kept.may_show()
    kept.path(NOTHING).unlink()
    with pytest.raises(DocumentUnreadable, match=KEY):
        await kept.may_show()


async def test_without_roots_records_count_as_they_are(kept: Kept) -> None:
    """In a rehearsal on this machine."""
    kept.connections.records = WorkerRecords(None, kept.archive, SystemClock())
    await kept.sent()
    assert kept.path(KEY).read_bytes() == encoded(await kept.records.proven(Intent, KEY) or intent())
    assert await kept.taken_up() is not None
    kept.lay(NOTHING, canonical_bytes({"reason": "refused"}))
    assert await kept.taken_up() is None and (await unproven_there(kept.archive)).found == ()


async def test_while_the_roots_cannot_be_read_no_record_is_judged(kept: Kept) -> None:
    """It is asked again later: nothing is taken for forged, nor for genuine."""
    await kept.sent()
    kept.keyring.roots.write_text("{")
    with pytest.raises(ArchiveUnavailable, match="whose records count is not known"):
        await kept.may_show()
    assert (await unproven_there(kept.archive)).found == ()


async def test_what_somebody_puts_in_the_place_of_such_words_says_nothing(kept: Kept) -> None:
    """Neither what is no such record, nor what is of another one."""
    kept.lay("unproven/odd", b"{")
    kept.lay("unproven/key", canonical_bytes({"key": "../x", "why": "", "at": "2024-01-01T00:00:00Z"}))
    await kept.sent()
    kept.lay("unproven/other", canonical_bytes({"key": KEY, "why": "", "at": "2024-01-01T00:00:00Z"}))
    assert (await unproven_there(kept.archive)).found == ()


async def test_whoever_floods_such_words_hides_nothing(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """That there are more than anybody looks at is said."""
    monkeypatch.setattr("edgeshift.stores.documents.unproven.MOST", 2)
    for number in range(3):
        kept.lay(f"unproven/{number}", b"{}")
    (check,) = await check_records(kept.archive.name)
    assert check.state is State.WARNING and "somebody floods the archive" in check.text


@pytest.mark.parametrize("gathered", [True, False])
async def test_a_window_before_counts_where_a_worker_gathered_it(kept: Kept, gathered: bool) -> None:
    """Else a planted one would have rules pass that the previous WAF never agreed with."""
    start = cast(
        ZoneStart, SimpleNamespace(target=SimpleNamespace(zone=ZONE), origin="run", spec="s", area=Area.WAF)
    )
    rule = RuleLine(waf="new", ruleset="r", rule="1", alike=40, alone=0)
    before = Evidence(
        proposal="p",
        mode="shadow",
        verdict=EvidenceVerdict.PASS,
        why="",
        rules=(rule,),
        events=40,
        requests=40,
        agreed=40,
        false_positives=0,
        gaps=0,
    )
    digest = await put_document(kept.archive, before)
    if gathered:
        await kept.records.create(gathered_key(ZONE, digest), EvidenceGathered(run="run", spec="s"))
    activities = EvidenceActivities(kept.connections)
    assert await activities._agreed(start, digest, "another") == frozenset()
    found = await activities._agreed(start, digest, "p")
    assert found == (agreed_rules(before) if gathered else frozenset()) and agreed_rules(before)


@pytest.mark.parametrize("seen", ["before", "after", "never"])
async def test_an_intent_that_does_not_count_may_be_the_last_one(kept: Kept, seen: str) -> None:
    """Unless one was seen to its end that was sent later: then that is what stands."""
    forged = KEY.replace("p-1", "p-2")
    ago = {"before": timedelta(hours=1), "after": timedelta(minutes=-1), "never": timedelta(hours=1)}[seen]
    assert await unproven_last(kept.connections, ZONE, Area.ESC) == ""
    await kept.sent(at=datetime.now(UTC) - ago)
    assert await unproven_last(kept.connections, ZONE, Area.ESC) == ""
    if seen != "never":
        await kept.records.create(SEEN, Seen())
    kept.lay(forged, await by_a_stranger(kept, forged, intent()))
    assert await unproven_last(kept.connections, ZONE, Area.ESC) == ("" if seen == "after" else forged)

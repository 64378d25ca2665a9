"""Signed statements in an archive, beside what others have put there; and what a person signs then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.authority.keyring import Keyring
from edgeshift.authority.last_word import last_word
from edgeshift.authority.loading import load_roots
from edgeshift.authority.records import SignedRecords, StatementsDamaged, as_far_as_read, statement_at
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import (
    AgainStatement,
    Attested,
    DecisionStatement,
    StartStatement,
    Statement,
    WaveSaid,
    WordStatement,
    sealed,
)
from edgeshift.messages import Step
from edgeshift.model.fleet import Area
from edgeshift.model.sign_off import Choice
from edgeshift.operations import Refused
from edgeshift.operations.hands import Drafts
from edgeshift.operations.pen import Pen, SteeringWord
from edgeshift.operations.signed_elsewhere import matching, record
from edgeshift.stores.archive import Archive, ArchiveUnavailable
from tests.kit.openssh import Keypair

SPEC = "a" * 64
MALLORY = PrivateKey.made()


def about(by: str = "olga", issued: datetime | None = None) -> dict[str, Any]:
    """What every statement says."""
    issued = issued or datetime.now(UTC).replace(microsecond=0)
    return {
        "service": "http://127.0.0.1:8780/client/v4",
        "campaign": "autumn",
        "area": Area.WAF,
        "by": by,
        "issued": issued,
        "expires": issued + timedelta(days=30),
        "nonce": "0" * 32,
    }


def start(**changed: Any) -> StartStatement:
    """A start of the campaign."""
    waves = (WaveSaid(name="all", first=0, end=3),)
    return StartStatement(**about() | changed, spec=SPEC, targets="b" * 64, count=3, waves=waves)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An archive in a folder."""
    return Archive(tmp_path / "archive")


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    """Keys and roots of olga, who does everything, and of ada."""
    ring = Keyring(tmp_path / "authority")
    ring.make()
    ring.signer("olga")
    ring.signer("ada")
    return ring


async def put(archive: Archive, statement: Statement, key: PrivateKey) -> str:
    """Record a statement that this key signs."""
    return await SignedRecords(archive).put(statement, key.sign(statement.bytes))


def key_of(ring: Keyring, name: str) -> PrivateKey:
    """A person's key."""
    return PrivateKey((ring.keys / name).read_bytes())


async def test_a_record_is_found_by_what_it_is_about(archive: Archive, ring: Keyring) -> None:
    """Starts by campaign; recording it twice is no conflict."""
    said = start()
    assert await put(archive, said, key_of(ring, "olga")) == said.digest
    assert await put(archive, said, key_of(ring, "olga")) == said.digest
    found = await SignedRecords(archive).starts("autumn")
    assert [item.statement for item in found] == [said]
    assert await SignedRecords(archive).starts("winter") == ()


async def test_what_others_put_into_the_archive_is_nothing(archive: Archive, ring: Keyring) -> None:
    """Names without a statement, rubbish, another campaign's statement, one in the place of another: where
    they would permit something. A genuine statement in the place of a word is no word.
    """
    said = start()
    await put(archive, said, key_of(ring, "olga"))
    folder = "signed/autumn"
    other = start(campaign="winter")
    wrong = start(nonce="1" * 32)
    signature = MALLORY.sign(other.bytes)
    for name, data in (
        (f"{folder}/start/{'1' * 64}", b"{}"),
        (f"{folder}/start/{'2' * 64}", b"{}"),
        (f"{folder}/statement/{'2' * 64}", b"\xff" * 100),
        (f"{folder}/start/{other.digest}", b"{}"),
        (statement_at("autumn", other.digest), sealed(other, signature)),
        (f"{folder}/start/{wrong.digest}", b"{}"),
        (statement_at("autumn", wrong.digest), sealed(said, key_of(ring, "olga").sign(said.bytes))),
        (f"{folder}/word/{said.digest}", b"{}"),
    ):
        assert await archive.create_once(name, data)
    records = SignedRecords(archive)
    assert [item.statement for item in await records.starts("autumn")] == [said]
    assert await records.words("autumn") == ()


@pytest.mark.parametrize("how", ["missing", "truncated", "another statement", "another signature"])
async def test_what_may_stop_something_and_cannot_be_read_is_named(
    how: str, archive: Archive, ring: Keyring
) -> None:
    """A word, a decision, and that a zone begins again: their names say that something was signed. What can
    be read beside it is handed over, and a person can stop the campaign all the same.
    """
    olga = key_of(ring, "olga")
    begun = start(issued=datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5))
    await put(archive, begun, olga)
    word = WordStatement(**about(), start=begun.digest, word="abort", number=1)
    no = DecisionStatement(
        **about("ada"),
        start=begun.digest,
        step=Step.COMMIT,
        choice=Choice.REJECT,
        about="fingerprint",
        subjects=("c" * 64,),
    )
    again = AgainStatement(**about(), start=begun.digest, verb="reopen", zones=("f" * 32,))
    assert archive.folder is not None
    statements: list[tuple[Statement, Callable[[SignedRecords], Awaitable[tuple[Attested, ...]]]]] = [
        (word, lambda records: records.words("autumn")),
        (no, lambda records: records.decisions("autumn", frozenset({"c" * 64}))),
        (again, lambda records: records.agains("autumn", "f" * 32)),
    ]
    for statement, asked in statements:
        digest = await put(archive, statement, olga)
        beside = await put(archive, statement.model_copy(update={"nonce": "1" * 32}), olga)
        path = archive.folder / statement_at("autumn", digest)
        whole = path.read_bytes()
        if how == "missing":
            path.unlink()
        elif how == "truncated":
            path.write_bytes(whole[:200])
        elif how == "another statement":
            path.write_bytes((archive.folder / statement_at("autumn", beside)).read_bytes())
        else:
            path.write_bytes(sealed(statement, olga.sign(begun.bytes)))
        with pytest.raises(StatementsDamaged, match=f"{digest} in the archive may stop it: its s") as damaged:
            await asked(SignedRecords(archive))
        assert [said.digest for said in damaged.value.read] == [beside]
        path.write_bytes(whole)
        assert len(await asked(SignedRecords(archive))) == 2
        path.unlink()
    await Pen(ring.signer("olga"), archive, "olga").word("autumn", SPEC, "abort")
    read, lost = await as_far_as_read(SignedRecords(archive).words("autumn"))
    assert len(read) == 2 and lost is not None


async def test_a_flood_of_records_is_said_and_counts_for_nothing(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looks through them for one that counts, and nothing is decided without it."""
    monkeypatch.setattr("edgeshift.authority.records.MOST", 3)
    for number in range(4):
        await archive.create_once(f"signed/autumn/word/{number:064d}", b"{}")
    with pytest.raises(ArchiveUnavailable, match="more than 3 records"):
        await SignedRecords(archive).words("autumn")


async def test_a_pause_counts_whatever_strangers_have_put_there(archive: Archive, ring: Keyring) -> None:
    """A later start of their own, and a word with the highest number: with roots here both are passed over,
    and without, the pause counts all the same. It can be resumed.
    """
    olga, roots = key_of(ring, "olga"), load_roots(ring.roots)
    now = datetime.now(UTC).replace(microsecond=0)
    real = start(issued=now - timedelta(minutes=2))
    await put(archive, real, olga)
    forged = start(issued=now + timedelta(minutes=1), by="mallory")
    await put(archive, forged, MALLORY)
    high = WordStatement(**about("mallory"), start=real.digest, word="resume", number=1_000_000)
    await put(archive, high, MALLORY)
    (found,) = [s for s in await SignedRecords(archive).starts("autumn") if s.statement == real]
    for known in (roots, None):
        await Pen(ring.signer("olga"), archive, "olga", known).word("autumn", SPEC, "pause")
        words = await SignedRecords(archive).words("autumn")
        mine = [said.statement for said in words if said.statement.by == "olga"]
        last = last_word(words, found, roots, datetime.now(UTC))
        assert last is not None and last.word == "pause" and last.by == "olga"
        if known is not None:
            (word,) = mine
            assert isinstance(word, WordStatement) and (word.start, word.number) == (real.digest, 1)
    said: list[tuple[SteeringWord, int]] = [("resume", 3), ("pause", 4), ("resume", 5)]
    for verb, number in said:
        pen = Pen(ring.signer("olga"), archive, "olga", roots if verb == "resume" else None)
        await pen.word("autumn", SPEC, verb)
        last = last_word(await SignedRecords(archive).words("autumn"), found, roots, datetime.now(UTC))
        assert last is not None and (last.word, last.number) == (verb, number)


async def test_nobody_resumes_what_would_stay_paused(archive: Archive, ring: Keyring) -> None:
    """An operator's pause has the highest number: no word can come after it, but to another start."""
    olga, roots = key_of(ring, "olga"), load_roots(ring.roots)
    begun = start(issued=datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5))
    await put(archive, begun, olga)
    await put(archive, WordStatement(**about(), start=begun.digest, word="pause", number=1_000_000), olga)
    pen = Pen(ring.signer("olga"), archive, "olga", roots)
    with pytest.raises(Refused, match="it would stay paused") as refused:
        await pen.word("autumn", SPEC, "resume")
    assert "--again" in refused.value.hint and len(await SignedRecords(archive).words("autumn")) == 1
    again = start(issued=datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1))
    await put(archive, again, olga)
    await pen.word("autumn", SPEC, "resume")


class Unsteady(Archive):
    """An archive whose store does not answer when a record is read, so many times."""

    def __init__(self, folder: Path, keys: Iterable[str], fails: int) -> None:
        super().__init__(folder)
        self.fails = dict.fromkeys(keys, fails)

    async def get_named(self, key: str) -> bytes | None:
        """The record. Raises ArchiveUnavailable, while it does not answer."""
        if self.fails.get(key):
            self.fails[key] -= 1
            raise ArchiveUnavailable(f"{key}: the store answered 503")
        return await super().get_named(key)


async def test_a_pause_is_the_last_word_though_the_store_does_not_answer_once(
    archive: Archive, ring: Keyring, tmp_path: Path
) -> None:
    """It is numbered after those that could not be read at first. Where they cannot be read the next time
    either, whoever pauses is told, and nobody resumes.
    """
    await put(archive, start(), key_of(ring, "olga"))
    roots, pen = load_roots(ring.roots), Pen(ring.signer("olga"), archive, "olga")
    for word in ("pause", "resume"):
        assert await pen.word("autumn", SPEC, word) == ""
    words = await SignedRecords(archive).words("autumn")
    keys = [statement_at("autumn", one.digest) for one in words]

    async def said(word: SteeringWord, fails: int) -> str:
        unsteady = Unsteady(tmp_path / "archive", keys, fails)
        return await Pen(ring.signer("olga"), unsteady, "olga").word("autumn", SPEC, word)

    async def last() -> tuple[str, int]:
        (begun,) = await SignedRecords(archive).starts("autumn")
        found = last_word(await SignedRecords(archive).words("autumn"), begun, roots, datetime.now(UTC))
        assert found is not None
        return found.word, found.number

    assert "answered 503" in await said("pause", 2) and await last() == ("resume", 2)
    with pytest.raises(ArchiveUnavailable, match="answered 503"):
        await said("resume", 2)
    assert await last() == ("resume", 2)
    assert await said("pause", 1) == "" and await last() == ("pause", 3)
    assert await said("resume", 1) == "" and await last() == ("resume", 4)
    # An abort is the last word whatever its number.
    assert await said("abort", 2) == "" and (await last())[0] == "abort"


async def test_nothing_is_signed_of_a_start_that_is_not(archive: Archive, ring: Keyring) -> None:
    """A person is told, and nothing is recorded."""
    await put(archive, start(by="mallory"), MALLORY)
    pen = Pen(ring.signer("olga"), archive, "olga", load_roots(ring.roots))
    with pytest.raises(Refused, match="does not count by the roots that are known here"):
        await pen.word("autumn", SPEC, "pause")
    assert await SignedRecords(archive).words("autumn") == ()


async def drafts(archive: Archive, *fingerprints: str, by: str = "ada") -> list[Statement]:
    """What would be signed of these fingerprints now."""
    hand = Drafts()
    pen = Pen(hand, archive, by)
    await pen.fingerprints("autumn", SPEC, Choice.APPROVE, step=Step.COMMIT, fingerprints=fingerprints)
    return hand.statements


async def test_what_is_signed_elsewhere_counts_where_it_is_about_what_waits(
    archive: Archive, ring: Keyring, tmp_path: Path
) -> None:
    """Signed by `ssh-keygen` with a key of another kind, drafted twice: the second is compared with it."""
    await put(archive, start(), key_of(ring, "olga"))
    (first,) = await drafts(archive, "c" * 64)
    key, file = Keypair(tmp_path, "ecdsa-384"), tmp_path / "statement.json"
    file.write_bytes(first.bytes)
    (signature,) = key.sign([file])
    again = await drafts(archive, "c" * 64)
    assert again[0].bytes != first.bytes
    found = matching(again, [(first, signature)], None)
    await record(archive, found)
    # Tried again, such as where Temporal was away, with another signature of the same.
    once_more = tmp_path / "once-more.json"
    once_more.write_bytes(first.bytes)
    (other,) = key.sign([once_more])
    assert other != signature
    await record(archive, [(first, other)])
    (said,) = await SignedRecords(archive).decisions("autumn", frozenset({"c" * 64}))
    assert said.statement == first and said.key == key.public
    with pytest.raises(Refused, match="would not count: key SHA256"):
        matching(again, [(first, signature)], load_roots(ring.roots))


async def test_what_was_signed_of_something_else_is_refused(archive: Archive, ring: Keyring) -> None:
    """Another fingerprint, more of them, fewer, another person, another choice, or too late."""
    await put(archive, start(), key_of(ring, "olga"))
    key = key_of(ring, "ada")
    (one,) = await drafts(archive, "c" * 64)
    assert isinstance(one, DecisionStatement)
    now = await drafts(archive, "c" * 64)
    late = {"issued": one.issued - timedelta(days=91), "expires": one.expires - timedelta(days=91)}
    for wrong, said in (
        ((await drafts(archive, "d" * 64))[0], "another subjects"),
        ((await drafts(archive, "c" * 64, "d" * 64))[0], "another subjects"),
        ((await drafts(archive, "c" * 64, by="olga"))[0], "another by"),
        (one.model_copy(update={"choice": Choice.REJECT}), "another choice"),
        (one.model_copy(update={"wave": 1}), "another wave"),
        (one.model_copy(update={"start": "9" * 64}), "another start"),
        (one.model_copy(update={"service": "https://other.example.com"}), "another service"),
        (one.model_copy(update=late), "has expired"),
    ):
        with pytest.raises(Refused, match=said):
            matching(now, [(wrong, key.sign(wrong.bytes))], None)
    with pytest.raises(Refused, match="a statement is missing"):
        matching(now, [], None)
    pair = (one, key.sign(one.bytes))
    with pytest.raises(Refused, match="no longer waits"):
        matching(now, [pair, pair], None)

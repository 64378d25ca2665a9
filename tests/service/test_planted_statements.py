"""Statements that a stranger lays in a campaign's place, signed by a key of their own: they are taken apart
once, whatever they say, count for nothing, hold nobody up, and are told.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from edgeshift.authority import remembered
from edgeshift.authority.records import SignedRecords, StatementsDamaged, statement_at
from edgeshift.authority.sshsig import PrivateKey, PublicKey
from edgeshift.authority.statements import Attested, WordStatement, opened, sealed
from edgeshift.messages import ChangeStatus
from edgeshift.model.digests import canonical_bytes, sha256
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import unproven_there
from tests.forgeries.doors import guarded
from tests.service.test_rollback_authority import ask, sent
from tests.service.test_signed_records import MALLORY, about, put, start

KINDS = ("start", "word")


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An archive in a folder."""
    return Archive(tmp_path / "archive")


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What was taken apart, in order."""
    seen: list[bytes] = []

    def one(data: bytes, campaign: str | None = None) -> Attested:
        seen.append(data)
        return opened(data, campaign)

    monkeypatch.setattr(remembered, "opened", one)
    return seen


def long_start(number: int, waves: int = 3_000, **changed: Any) -> tuple[str, bytes]:
    """The digest and the bytes of a start with more waves than any has, signed by a stranger."""
    said = json.loads(start().bytes) | {"nonce": f"{number:032}", "by": "mallory"} | changed
    said["waves"] = [{"name": "", "first": 0, "end": 0}] * waves
    data = canonical_bytes(said)
    return sha256(data), canonical_bytes({"statement": said, "signature": MALLORY.sign(data)})


async def plant(archive: Archive, digest: str, data: bytes, campaign: str = "autumn") -> list[str]:
    """Lay it where words and starts are found; the names."""
    await archive.create_once(statement_at(campaign, digest), data)
    names = [f"signed/{campaign}/{kind}/{digest}" for kind in KINDS]
    for name in names:
        await archive.create_once(name, b"{}")
    return names


async def test_another_campaigns_statements_are_taken_apart_once(
    archive: Archive, taken: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And before anything of them that takes long; nobody is held up by them, as ever. A genuine one of that
    campaign counts there.
    """
    monkeypatch.setattr("edgeshift.authority.statements.attested", _unasked)
    for number in range(3):
        await plant(archive, *long_start(number, campaign="winter"))
    records = SignedRecords(archive)
    for _ in range(3):
        assert await records.starts_as_far("autumn") == ((), None)
        assert await records.words("autumn") == ()
    assert len(taken) == 3
    monkeypatch.undo()
    said = start(campaign="winter")
    digest = await put(archive, said, MALLORY)
    await plant(archive, digest, sealed(said, MALLORY.sign(said.bytes)))
    for _ in range(2):
        assert await records.words("autumn") == ()
        assert [one.digest for one in await records.starts("winter")] == [digest]


def _unasked(statement: Any, signature: str) -> Attested:
    raise AssertionError("its signature is looked at")


async def test_what_took_a_words_place_is_damaged_whichever_campaign_it_names(
    archive: Archive, taken: list[bytes]
) -> None:
    """By its name it was another statement: maybe an abort. It is taken apart once, until it is put right."""
    word = WordStatement(**about(), start="9" * 64, word="abort", number=1)
    digest = await put(archive, word, MALLORY)
    assert archive.folder is not None
    path = archive.folder / statement_at("autumn", digest)
    whole = path.read_bytes()
    _, other = long_start(1, campaign="winter")
    for data in (other, other.replace(b"winter", b"spring"), whole.replace(b"abort", b"pause")):
        path.write_bytes(data)
        records = SignedRecords(archive)
        taken.clear()
        for _ in range(3):
            with pytest.raises(
                StatementsDamaged, match=f"{digest} in the archive may stop it: its statement"
            ):
                await records.words("autumn")
        assert taken == [data]
        path.write_bytes(whole)
        assert [one.statement for one in await records.words("autumn")] == [word]


async def test_what_no_statement_can_be_is_taken_apart_once_and_beside_other_work(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of waves in this campaign's name. Short ones are looked at at once."""
    threads: list[bool] = []

    def one(data: bytes, campaign: str | None = None) -> Attested:
        threads.append(threading.current_thread() is threading.main_thread())
        return opened(data, campaign)

    monkeypatch.setattr(remembered, "opened", one)
    names = await plant(archive, *long_start(1))
    records = SignedRecords(archive)
    for _ in range(3):
        read, damaged = await records.starts_as_far("autumn")
        assert not read and damaged is not None and [lost.name for lost in damaged.found] == names[:1]
        assert "cannot be read: start.waves: " in damaged.found[0].why
    assert threads == [False]
    await put(archive, start(), MALLORY)
    threads.clear()
    assert len(await records.starts("autumn")) == 1 and threads == [True]


async def test_little_is_kept_of_keys_that_nobody_knows(
    archive: Archive, taken: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is over counts for nothing, and is not taken apart again, until the roots know its key. Of those
    that they know everything is kept.
    """
    monkeypatch.setattr(remembered, "MOST_OF_STRANGERS", 2_500)
    olga = PrivateKey.made()
    known = {olga.public.blob}

    def knows(key: PublicKey) -> bool:
        return key.blob in known

    for number in range(6):
        await put(archive, start(nonce=f"{number:032}"), MALLORY if number < 4 else olga)
    taken.clear()
    records = SignedRecords(archive, knows)
    for _ in range(3):
        found = await records.starts("autumn")
        assert sum(knows(said.key) for said in found) == 2
        assert 0 < sum(not knows(said.key) for said in found) < 4
    assert len(taken) == 6
    known.add(MALLORY.public.blob)
    for _ in range(3):
        assert len(await records.starts("autumn")) == 6
    assert len(taken) < 12
    assert len(await SignedRecords(archive).starts("autumn")) == 6, "where no roots are known"


@pytest.mark.parametrize("campaign", ["another", None], ids=["another campaign", "this one"])
async def test_the_door_names_what_was_planted_and_sends_what_people_signed(
    campaign: str | None, tmp_path: Path
) -> None:
    """Long starts among the campaign's starts and decisions, and of another campaign also among its words: a
    commit goes, and so does its rollback.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        digest, data = long_start(1, campaign=campaign or door.campaign)
        at = f"signed/{door.campaign}"
        places = ["start"] if campaign is None else ["start", "word", f"decision/{door.digest}"]
        await door.archive.create_once(statement_at(door.campaign, digest), data)
        for place in places:
            await door.archive.create_once(f"{at}/{place}/{digest}", b"{}")
        result = await door.commit()
        assert result.status is ChangeStatus.ANSWERED, result
        await sent(door)
        await ask(door)
        (told,) = (await unproven_there(door.archive)).found
        assert told.key == f"{at}/start/{digest}", told
        assert ("another campaign's" if campaign else "start.waves") in told.why
        assert door.archive.folder is not None
        (door.archive.folder / statement_at(door.campaign, digest)).unlink()
        assert (await unproven_there(door.archive)).found == ()


async def test_what_was_planted_among_words_and_is_too_long_holds_a_commit_and_no_rollback(
    tmp_path: Path,
) -> None:
    """As whatever cannot be read there: it may be a pause."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await plant(door.archive, *long_start(1, campaign=door.campaign), door.campaign)
        result = await door.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and result.damaged
        await sent(door)
        await ask(door)
        found = {one.key.split("/")[2] for one in (await unproven_there(door.archive)).found}
        assert found == set(KINDS)

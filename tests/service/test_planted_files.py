"""What a stranger lays in the archive holds nobody up who stops a campaign, takes a change back or has the
audit file written: it is told, and counts for nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from activities.change.intent_records import intents_of
from activities.proof.authority import NotSigned
from edgeshift.authority.keyring import Keyring
from edgeshift.authority.records import SignedRecords, StatementsDamaged, as_far_as_read
from edgeshift.authority.statements import WordStatement
from edgeshift.messages import ChangeStatus
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Area, campaign_id
from edgeshift.operations.pen import Pen
from edgeshift.stores.archive import Archive, ArchiveUnavailable
from edgeshift.stores.documents import contents_of, unproven_there
from tests.forgeries.doors import guarded
from tests.kit.audited import CAMPAIGN, Audited, audited, rows
from tests.kit.hostile import KEYS, NAME, ODD_NAMES, PLANTED, signature_by
from tests.service.records_kit import KEY, NOTHING, SEEN, ZONE, intent, kept_in
from tests.service.test_rollback_authority import ask, sent
from tests.service.test_signed_records import SPEC, key_of, put, start

each = pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)


@pytest.fixture
async def done(tmp_path: Path) -> Audited:
    """A campaign that has changed all its zones."""
    return await audited(tmp_path)


@each
async def test_a_person_stops_a_campaign_all_the_same(
    plant: Callable[[Path, str], None], tmp_path: Path
) -> None:
    """By a pause and by an abort, which are numbered as ever; the start is found beside it."""
    archive, ring = Archive(tmp_path / "archive"), Keyring(tmp_path / "authority")
    ring.make()
    ring.signer("olga")
    begun = start(issued=datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5))
    await put(archive, begun, key_of(ring, "olga"))
    assert archive.folder is not None
    for kind in ("start", "word"):
        plant(archive.folder / "signed" / "autumn", kind)
    pen = Pen(ring.signer("olga"), archive, "olga")
    for word in ("pause", "abort"):
        await pen.word("autumn", SPEC, word)
    read, _ = await as_far_as_read(SignedRecords(archive).words("autumn", oldest=True))
    said = [one.statement for one in read]
    assert sorted((one.number, one.word) for one in said if isinstance(one, WordStatement)) == [
        (1, "pause"),
        (2, "abort"),
    ]
    starts, _ = await SignedRecords(archive).starts_as_far("autumn")
    assert [one.statement for one in starts] == [begun]


@each
async def test_a_person_stops_a_flooded_campaign_all_the_same(
    plant: Callable[[Path, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more names than anybody looks at, those that were stored first are read, whatever lies there."""
    archive, ring = Archive(tmp_path / "archive"), Keyring(tmp_path / "authority")
    ring.make()
    pen = Pen(ring.signer("olga"), archive, "olga")
    await put(archive, start(), key_of(ring, "olga"))
    await pen.word("autumn", SPEC, "pause")
    assert archive.folder is not None
    for kind in ("start", "word"):
        (mine,) = (archive.folder / "signed" / "autumn" / kind).iterdir()
        os.utime(mine, (1, 1))
        plant(archive.folder / "signed" / "autumn", kind)
        for number in range(4):
            await archive.create_once(f"signed/autumn/{kind}/{number:064d}", b"{}")
    with monkeypatch.context() as few:
        few.setattr("edgeshift.authority.records.MOST", 3)
        await pen.word("autumn", SPEC, "abort")
    read, _ = await as_far_as_read(SignedRecords(archive).words("autumn", oldest=True))
    said = [one.statement for one in read]
    assert sorted((one.number, one.word) for one in said if isinstance(one, WordStatement)) == [
        (1, "pause"),
        (2, "abort"),
    ]


async def test_what_nobody_can_look_at_counts_as_stored_last(tmp_path: Path) -> None:
    """It keeps nobody from what was stored before; what goes meanwhile is such a thing."""
    archive = Archive(tmp_path / "archive")
    for number, name in enumerate("cab"):
        await archive.create_once(f"a/{name}", b"")
        os.utime(tmp_path / "archive/a" / name, (number, number))
    (tmp_path / "archive/a/\x1b").write_text("")
    (tmp_path / "archive/a/0").symlink_to("0")
    assert await archive.oldest("a", 2) == ["a/c", "a/a"]
    assert set(await archive.oldest("a", 9)) == {"a/c", "a/a", "a/b", "a/0", "a/\x1b"}
    assert await archive.oldest("b", 9) == []


@each
async def test_a_change_is_taken_back_all_the_same(
    plant: Callable[[Path, str], None], tmp_path: Path
) -> None:
    """Beside starts, decisions and intents. What nobody can read now is asked for another time, where the
    rollback may rest on it.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        folder = door.archive.folder
        assert folder is not None
        signed = folder / "signed" / door.campaign
        plant(signed, "start")
        for subject in (door.digest, door.fingerprint):
            plant(signed, f"decision/{subject}")
        zone = door.gate.zone.id
        plant(folder / "intent" / zone, door.gate.start.area.value)
        with pytest.raises((NotSigned, ArchiveUnavailable)):
            await ask(door)
        await sent(door)
        await ask(door)


@each
async def test_the_audit_file_is_written_and_names_it(
    plant: Callable[[Path, str], None], done: Audited
) -> None:
    """What may be a word that stops, or a request, keeps the file from holding, as all does that nobody can
    read.
    """
    folder = done.archive.folder
    assert folder is not None
    for kind in ("start", "word"):
        plant(folder / "signed" / CAMPAIGN, kind)
    plant(folder / "intent" / done.zones[0].id, "waf")
    proof = done.prove(await done.export())
    assert not proof.holds and any(f"signed/{CAMPAIGN}/" in odd for odd in proof.odd), proof.odd
    # One that can be read is of no campaign.
    if not (folder / "intent" / done.zones[0].id / "waf" / NAME).is_file():
        assert any(odd.startswith("intent/") for odd in proof.odd), proof.odd
    assert all("cannot be read" in found.text for found in proof.findings)


async def test_an_intent_that_names_no_proposal_is_a_line_of_its_own(done: Audited) -> None:
    """Whatever it has in the place of a digest."""
    said = {"campaign": campaign_id(CAMPAIGN), "digest": "x", "fingerprint": "x", "proposal": "no digest"}
    await done.archive.create_once(f"intent/{done.zones[0].id}/waf/x", json.dumps(said).encode())
    assert any(row["kind"] == "odd" for row in rows(await done.export()))


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_an_intent_whose_name_no_worker_can_have_given_is_told_and_is_none(
    name: str, tmp_path: Path
) -> None:
    """The zone is looked at as if it were not there; people are told of it for as long as it is."""
    kept = kept_in(tmp_path)
    await kept.sent()
    PLANTED[name](kept.path(f"intent/{ZONE.id}"), Area.ESC.value)
    assert [one.key async for one in intents_of(kept.connections, ZONE, Area.ESC)] == [KEY]
    ((said, *more),) = [(await unproven_there(kept.archive)).found]
    assert not more and said.key.startswith(f"intent/{ZONE.id}/esc/") and "such a name" in said.why
    assert said.key.isascii() and said.key.isprintable()
    for path in kept.path(f"intent/{ZONE.id}/esc").iterdir():
        path.unlink()
    assert (await unproven_there(kept.archive)).found == ()


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
async def test_a_record_signed_by_what_is_no_key_counts_for_nothing(
    key: Callable[[], bytes], tmp_path: Path
) -> None:
    """An intent, and beside another that nothing came of it and that it was seen: the zone is looked at."""
    kept = kept_in(tmp_path)
    await kept.sent()
    seal = {"by": "worker", "issued": datetime.now(UTC).isoformat(), "signature": signature_by(key())}
    said = {**contents_of(intent()), "signed": seal}
    kept.lay(f"{KEY}-2", canonical_bytes(said))
    kept.lay(NOTHING, canonical_bytes({"reason": "mallory", "signed": seal}))
    kept.lay(SEEN, canonical_bytes({"signed": seal}))
    found = {one.key: one.proven async for one in intents_of(kept.connections, ZONE, Area.ESC)}
    assert found == {KEY: True, f"{KEY}-2": False}
    assert await kept.may_show()
    assert (await kept.taken_up()) is not None
    assert {one.key for one in (await unproven_there(kept.archive)).found} == {f"{KEY}-2", NOTHING, SEEN}


async def test_a_word_of_a_statement_that_nobody_can_read_is_told(tmp_path: Path) -> None:
    """The alarm names it, and reads on."""
    kept = kept_in(tmp_path)
    folder = kept.path("signed/autumn")
    PLANTED["a statement that links to itself"](folder, "start")
    PLANTED["a name with a space"](folder, "start")
    _, damaged = await SignedRecords(kept.archive).starts_as_far("autumn")
    assert damaged is not None and damaged.unread is not None
    for one in damaged.found:
        await kept.records.tell_damaged(one.name, one.key, one.data, one.why)
    found = {one.key for one in (await unproven_there(kept.archive)).found}
    assert found == {f"signed/autumn/start/{NAME}", "signed/autumn/start/x y"}


def _file(path: Path) -> None:
    path.write_text("x")


def _link(path: Path) -> None:
    path.symlink_to("nowhere")


in_a_folders_place = pytest.mark.parametrize("lay", [_file, _link], ids=["a file", "a link to nothing"])


@in_a_folders_place
async def test_what_lies_in_the_place_of_a_campaigns_words_holds_its_commits(
    lay: Callable[[Path], None], tmp_path: Path
) -> None:
    """Nobody can record a pause or an abort there, and whoever is to is told so: what lies there is told from
    the first look on, and holds no rollback. Once it is removed, nobody is told of it.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        assert door.archive.folder is not None
        name = f"signed/{door.campaign}/word"
        lay(door.archive.folder / name)
        result = await door.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and result.damaged, result
        assert name in result.reason and await door.sent() == 0
        assert [one.key for one in (await unproven_there(door.archive)).found] == [f"{name}/(no folder)"]
        with pytest.raises(ArchiveUnavailable):
            await door.say("abort", 1)
        await sent(door)
        await ask(door)
        (door.archive.folder / name).unlink()
        assert (await unproven_there(door.archive)).found == ()


@in_a_folders_place
async def test_what_may_stop_a_campaign_is_not_taken_for_absent_where_it_has_no_place(
    lay: Callable[[Path], None], tmp_path: Path
) -> None:
    """Whoever asks is told that some may be missing, wherever on the way it lies; a rejection as well."""
    subject = "7" * 64
    for number, way in enumerate(("", "/autumn", "/autumn/word", f"/autumn/decision/{subject}")):
        folder, name = tmp_path / f"{number}", f"signed{way}"
        records = SignedRecords(Archive(folder))
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lay(folder / name)
        with pytest.raises(StatementsDamaged) as damaged:
            await records.words("autumn")
            await records.decisions("autumn", frozenset({subject}))
        assert [one.name for one in damaged.value.found] == [f"{name}/(no folder)"]


@in_a_folders_place
@pytest.mark.parametrize("way", ["intent", f"intent/{ZONE.id}", f"intent/{ZONE.id}/esc"])
async def test_what_lies_in_the_place_of_a_zones_intents_is_told(
    way: str, lay: Callable[[Path], None], tmp_path: Path
) -> None:
    """Nothing can be sent then: people are told why, for as long as it is there."""
    kept = kept_in(tmp_path)
    kept.path(way).parent.mkdir(parents=True, exist_ok=True)
    lay(kept.path(way))
    assert [one.key async for one in intents_of(kept.connections, ZONE, Area.ESC)] == []
    assert [one.key for one in (await unproven_there(kept.archive)).found] == [f"{way}/(no folder)"]
    with pytest.raises(ArchiveUnavailable):
        await kept.sent()
    kept.path(way).unlink()
    assert (await unproven_there(kept.archive)).found == ()
    await kept.sent()


@in_a_folders_place
async def test_what_lies_in_the_place_of_what_workers_tell_is_told(
    lay: Callable[[Path], None], tmp_path: Path
) -> None:
    """No worker can tell of anything planted then; whoever looks is told of that."""
    kept = kept_in(tmp_path)
    lay(kept.path("unproven"))
    kept.lay(KEY, canonical_bytes(contents_of(intent())))
    assert [one.proven async for one in intents_of(kept.connections, ZONE, Area.ESC)] == [False]
    ((said, *more),) = [(await unproven_there(kept.archive)).found]
    assert said.key == "unproven/(no folder)" and not more

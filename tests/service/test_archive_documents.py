"""The documents of the archive: their bytes, reading them back, and the error where that cannot be done."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from activities.change.intents import as_begun
from edgeshift.areas import BUILT_IN, waf
from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.model.digests import canonical_bytes, sha256
from edgeshift.model.fleet import Area
from edgeshift.stores import documents
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveError, ArchiveMissing
from edgeshift.stores.documents import (
    DOCUMENTS,
    Document,
    DocumentUnreadable,
    Intent,
    NothingMore,
    Proposal,
    Snapshot,
    SnapshotTaken,
    ZoneRecord,
    create_record,
    decoded,
    encoded,
    get_document,
    get_record,
    put_document,
    snapshot_key,
)
from edgeshift.stores.documents.areas.esc import ProbedProposal
from edgeshift.stores.documents.areas.waf import WafProposal, WafRecord
from edgeshift.views.archived import with_archived
from edgeshift.views.entries import Attempt, Entry, EntryKind, Timeline
from tests.kit.stored import put_json
from tests.service.archived_documents import AT, BODY, CASES, LOSS, RECORD, RECORD_JSON, ZONE


@pytest.mark.parametrize("document, model, written", CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_a_document_is_written_as_ever_and_read_back_as_it_was(
    document: BaseModel, model: type[BaseModel], written: Any
) -> None:
    """Archives of before are read, and what is named by its digest keeps it."""
    data = encoded(document)
    assert data == canonical_bytes(written)
    again = decoded(model, data, "x")
    assert again.model_dump() == document.model_dump()
    assert encoded(again) == data


def test_every_document_is_in_the_table_above() -> None:
    """Of each model that is archived at all, but for those that are the base of others."""
    tried = {model.__name__.partition("[")[0] for _, model, _ in CASES}
    found = [getattr(documents, name) for name in documents.__all__]
    for area in BUILT_IN:
        own = import_module(DOCUMENTS.of(area).record.__module__)
        found += [one for one in vars(own).values() if isinstance(one, type) and issubclass(one, Document)]
    models = {one.__name__: one for one in found if isinstance(one, type)}
    bases = {
        "Document",
        "DocumentUnreadable",
        "DocumentsPart",
        "ZoneRecord",
        "WatchedRecord",
        "Advice",
        "TargetCalls",
    }
    assert models.keys() - bases == tried
    for name, model in models.items():
        assert model.__doc__, name


def test_a_record_is_read_as_what_all_areas_have() -> None:
    """History names no area: it reads where the evidence lies."""
    for document, model, _ in CASES:
        if issubclass(model, ZoneRecord):
            found = decoded(ZoneRecord, encoded(document), "x")
            assert isinstance(document, ZoneRecord) and found.evidence == document.evidence


async def test_objects_and_records_go_through_the_archive(tmp_path: Path) -> None:
    """By digest and by key; a record that is there stays, one that is not is None."""
    archive = Archive(tmp_path)
    proposal = Proposal(body=BODY)
    digest = await put_document(archive, proposal, verify=True)
    assert digest == sha256(encoded(proposal))
    assert await get_document(archive, Proposal, digest) == proposal
    key = snapshot_key(ZONE, Area.WAF, digest)
    assert key == f"snapshot/{ZONE.id}/waf/{digest}"
    assert await get_record(archive, SnapshotTaken, key) is None
    assert await create_record(archive, key, SnapshotTaken(taken_at=AT))
    assert not await create_record(archive, key, SnapshotTaken(taken_at=datetime.now(UTC)))
    assert await get_record(archive, SnapshotTaken, key) == SnapshotTaken(taken_at=AT)
    with pytest.raises(ArchiveMissing):
        await get_document(archive, Proposal, "f" * 64)


async def test_another_document_is_refused_by_name_and_place(tmp_path: Path) -> None:
    """What it had to be, where it lies, what is missing; no value of it."""
    archive = Archive(tmp_path)
    digest = await put_json(archive, {"body": "hush", "losses": ["x"]})
    with pytest.raises(DocumentUnreadable) as raised:
        await get_document(archive, ProbedProposal, digest)
    text = str(raised.value)
    assert text.startswith(f"the probed proposal {digest[:12]} in the archive cannot be read: body: ")
    assert "report: Field required" in text and "baseline: Field required" in text
    assert "hush" not in text
    await archive.create_once("intent/z/waf/p-1", b'{"step":"commit","at":"soon","campaign":"x"}')
    with pytest.raises(DocumentUnreadable, match=r"^the intent intent/z/waf/p-1 .*: at: Input should be"):
        await get_record(archive, Intent, "intent/z/waf/p-1")


@pytest.mark.parametrize("data", [b"", b"<html>", b"[1]", b'{"reading":', b"\xff", b"[" * 100_000])
def test_what_is_no_such_json_is_refused(data: bytes) -> None:
    """Cut off, another thing, nothing at all."""
    with pytest.raises(ArchiveCorrupt, match="the snapshot x in the archive cannot be read: "):
        decoded(Snapshot[waf.Reading], data, "x")


def test_many_mistakes_are_counted() -> None:
    """Three are named."""
    with pytest.raises(DocumentUnreadable, match=r"zone: Field required; .*; and 3 more$"):
        decoded(ZoneRecord, b"{}", "x")


def test_a_time_without_its_offset_is_no_time() -> None:
    """Nobody could say when it was."""
    with pytest.raises(DocumentUnreadable, match="taken_at: Input should have timezone info"):
        decoded(SnapshotTaken, b'{"taken_at":"2024-02-01T09:30:00"}', "x")


def test_keys_of_a_later_version_are_ignored() -> None:
    """A worker of before reads what one of after has written."""
    assert decoded(NothingMore, b'{"reason":"answered","since":1}', "x") == NothingMore(reason="answered")


@pytest.mark.parametrize("value", [2**60, float("nan"), "\ud800"])
def test_a_body_that_no_json_can_hold_is_not_archived_as_another(value: object) -> None:
    """It is refused, and not written as something near it."""
    with pytest.raises(ArchiveError, match=r"the proposal was not archived: .* no canonical JSON"):
        encoded(Proposal(body={"rules": [{"score": value}]}))


def test_a_document_cannot_be_changed() -> None:
    """What was read is what was written."""
    assert all(model.model_config.get("frozen") for _, model, _ in CASES)
    assert Document.model_config.get("frozen")


def test_an_intent_that_does_not_name_its_proposal_is_not_taken_up() -> None:
    """It cannot be said what was begun."""
    record = Intent.model_validate(json.loads('{"step":"commit","at":"2024-02-01T09:30:00Z","campaign":"x"}'))
    with pytest.raises(ArchiveCorrupt, match="lacks digest, fingerprint, proposal, snapshot"):
        as_begun(record)


async def test_documents_of_earlier_versions_have_their_losses_in_sentences(tmp_path: Path) -> None:
    """They are read as they are, and without facts."""
    archive = Archive(tmp_path / "archive")
    proposal = await put_json(archive, {"body": BODY, "losses": ["3 rules"]})
    found = await get_document(archive, WafProposal, proposal)
    assert (found.losses, found.lost) == (("3 rules",), None)
    care = {"terraform": "t", "state_rm": ["rm"], "review": ["re-create by hand: 3 rules", "look"]}
    record = await put_json(archive, {**RECORD_JSON, "evidence": "", "aftercare": care})
    assert (await get_document(archive, WafRecord, record)).aftercare.losses == ()
    seen = Entry(at=AT, kind=EntryKind.VERIFIED, text="verified", event=7, objects={"record": record})
    attempt = Attempt(number=1, campaign="x", run_ids=["r"], started_at=AT, entries=[seen])
    timeline = Timeline(zone=ZONE.id, name=ZONE.name, sentence="", attempts=[attempt])
    (entry,) = (await with_archived(timeline, archive)).attempts[0].entries
    assert (entry.details, entry.losses) == (["re-create by hand: 3 rules"], [])


async def test_history_names_what_a_migration_lost(tmp_path: Path) -> None:
    """The entry that verified it has each setting, as text up to a bound and as facts; other documents of it
    are told as before.
    """
    archive = Archive(tmp_path / "archive")
    lost = (LOSS,) * 50
    care = Aftercare(terraform="t", state_rm=(), losses=lost)
    record = await put_document(archive, WafRecord(**RECORD, evidence="", aftercare=care))
    seen = Entry(at=AT, kind=EntryKind.VERIFIED, text="verified", event=7, objects={"record": record})
    attempt = Attempt(number=1, campaign="x", run_ids=["r"], started_at=AT, entries=[seen])
    timeline = Timeline(zone=ZONE.id, name=ZONE.name, sentence="", attempts=[attempt])
    (entry,) = (await with_archived(timeline, archive)).attempts[0].entries
    assert tuple(entry.losses) == lost
    assert entry.details[0].startswith("lost: group Managed PHP of Own: off; not equivalent, but near")
    assert entry.details[-1] == f"and 10 more: edgeshift history {ZONE.name} --json has all"

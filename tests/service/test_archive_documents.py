"""The documents of the archive: their bytes, reading them back, and the error where that cannot be done."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from activities.change.intents import as_begun
from edgeshift.areas import esc, log_fields, waf
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.messages import Prepared, ZoneAssessment
from edgeshift.model.digests import canonical_bytes, sha256
from edgeshift.model.fleet import Area, Plan, Target, Zone
from edgeshift.stores import documents
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveError, ArchiveMissing
from edgeshift.stores.documents import (
    Advice,
    Answered,
    AssessedTargets,
    CoveredZones,
    Document,
    DocumentUnreadable,
    EffectTook,
    EscRecord,
    FrozenTargets,
    Intent,
    JobBefore,
    JobCreated,
    LogFieldsRecord,
    NothingMore,
    PlannedReading,
    PlannedReadings,
    ProbedProposal,
    Proposal,
    RulesBefore,
    RulesSent,
    RulingRecord,
    Seen,
    Snapshot,
    SnapshotTaken,
    StepWritten,
    WafRecord,
    ZoneRecord,
    create_record,
    decoded,
    encoded,
    get_document,
    get_record,
    put_document,
    snapshot_key,
)

AT = datetime(2024, 2, 1, 9, 30, 0, 250, tzinfo=UTC)
AT_TEXT = "2024-02-01T09:30:00.000250+00:00"
ZONE = Zone(id="1" * 32, name="a.example", account="2" * 32, plan=Plan.ENTERPRISE)
ZONE_JSON = {
    "id": "1" * 32,
    "name": "a.example",
    "account": "2" * 32,
    "plan": "enterprise",
    "kind": "zone",
    "covers": 1,
}
BODY = {"name": "default", "rules": [{"action": "execute", "version": None, "score": 1.5, "tags": ["é"]}]}
RULE = {"ref": "theirs", "enabled": True, "last_updated": None}
SIGNED = {"digest": "d", "fingerprint": "f", "proposal": "p", "snapshot": "s"}
RECORD: dict[str, Any] = {
    "zone": ZONE,
    "campaign": "campaign/x",
    "digest": "d",
    "snapshot": "s",
    "proposal": "p",
}
RECORD_JSON = {**RECORD, "zone": ZONE_JSON}
SENTENCES_JSON = {"additions": ["one"], "losses": ["two"], "warnings": [], "notices": []}
WATCHED_JSON = {
    "why": "",
    "said": "off",
    "codes": ["esc_off"],
    "changed_at": AT_TEXT,
    "aftercare": {"advice": ["look"]},
}

CASES: list[tuple[BaseModel, type[BaseModel], Any]] = [
    (
        Intent(step="commit", campaign="campaign/x", run="r", attempt=2, at=AT, drawn="0f", **SIGNED),
        Intent,
        {
            "step": "commit",
            "campaign": "campaign/x",
            "run": "r",
            "attempt": 2,
            "at": AT_TEXT,
            "drawn": "0f",
            **SIGNED,
        },
    ),
    (
        Intent(step="given_up", campaign="campaign/x", run="r", attempt=0, at=AT, **SIGNED),
        Intent,
        {"step": "given_up", "campaign": "campaign/x", "run": "r", "attempt": 0, "at": AT_TEXT, **SIGNED},
    ),
    (NothingMore(reason="it shows"), NothingMore, {"reason": "it shows"}),
    (Seen(), Seen, {}),
    (Answered(), Answered, {}),
    (
        Snapshot(zone=ZONE, reading=esc.Reading(always=True, secret=esc.Secret.OWN)),
        Snapshot[esc.Reading],
        {"zone": ZONE_JSON, "reading": {"always": True, "secret": "own", "covered": "", "told": True}},
    ),
    (
        Snapshot(zone=ZONE, reading=log_fields.Reading(plan=Plan.ENTERPRISE, jobs=[{"id": 1, "name": None}])),
        Snapshot[log_fields.Reading],
        {
            "zone": ZONE_JSON,
            "reading": {
                "plan": "enterprise",
                "rulesets": [],
                "ruleset": None,
                "jobs": [{"id": 1, "name": None}],
                "transforms": {},
                "refused": "",
            },
        },
    ),
    (SnapshotTaken(taken_at=AT), SnapshotTaken, {"taken_at": AT_TEXT}),
    (
        RulingRecord(
            verb="rejected", at=AT, by="ann", campaign="campaign/x", run="r", digest="f", reason="not yet"
        ),
        RulingRecord,
        {
            "verb": "rejected",
            "at": AT_TEXT,
            "by": "ann",
            "reason": "not yet",
            "campaign": "campaign/x",
            "run": "r",
            "digest": "f",
        },
    ),
    (
        Proposal(body=BODY, additions=("one",), losses=("two",)),
        Proposal,
        {"body": BODY, **SENTENCES_JSON},
    ),
    (
        ProbedProposal(body=BODY, additions=("one",), losses=("two",), report="r", baseline="b"),
        ProbedProposal,
        {"body": BODY, **SENTENCES_JSON, "report": "r", "baseline": "b"},
    ),
    (
        WafRecord(**RECORD, evidence="e", aftercare=Aftercare(terraform="t", state_rm=("rm",))),
        WafRecord,
        {
            **RECORD_JSON,
            "evidence": "e",
            "aftercare": {"terraform": "t", "state_rm": ["rm"], "custom_rules": [], "review": []},
        },
    ),
    (
        EscRecord(
            **RECORD,
            evidence="e",
            why="",
            said="off",
            codes=("esc_off",),
            changed_at=AT,
            aftercare=Advice(advice=("look",)),
        ),
        EscRecord,
        {**RECORD_JSON, "evidence": "e", **WATCHED_JSON},
    ),
    (
        LogFieldsRecord(
            **RECORD,
            evidence="",
            found="w",
            why="",
            said="off",
            codes=("esc_off",),
            changed_at=AT,
            aftercare=Advice(advice=("look",)),
        ),
        LogFieldsRecord,
        {**RECORD_JSON, "evidence": "", "found": "w", **WATCHED_JSON},
    ),
    (RulesBefore(version=3, rules=[RULE]), RulesBefore, {"version": 3, "rules": [RULE]}),
    (RulesSent(over=3, rules=[RULE]), RulesSent, {"over": 3, "rules": [RULE]}),
    (JobBefore(logpull_options=None), JobBefore, {"logpull_options": None}),
    (JobBefore(logpull_options="fields=a"), JobBefore, {"logpull_options": "fields=a"}),
    (JobCreated(name="ours"), JobCreated, {"name": "ours"}),
    (
        StepWritten(zone=ZONE, step="commit", permit="p-1", service_time=AT, versions=(4, 6), jobs=(2,)),
        StepWritten,
        {
            "zone": ZONE_JSON,
            "step": "commit",
            "permit": "p-1",
            "service_time": AT_TEXT,
            "ruleset": "",
            "created_ruleset": False,
            "versions": [4, 6],
            "overwritten": [],
            "jobs": [2],
            "created_job": "",
            "notes": [],
            "sent": False,
        },
    ),
    (FrozenTargets((Target(zone=ZONE, wave=1),)), FrozenTargets, [{"zone": ZONE_JSON, "wave": 1}]),
    (CoveredZones((ZONE,)), CoveredZones, [ZONE_JSON]),
    (PlannedReadings(("0" * 64, "")), PlannedReadings, ["0" * 64, ""]),
    (
        PlannedReading(
            zone=ZONE, area=Area.WAF, read_at=AT, prepared=Prepared(verdict=Verdict.READY, snapshot="0" * 64)
        ),
        PlannedReading,
        {
            "zone": ZONE_JSON,
            "area": "waf",
            "read_at": AT_TEXT,
            "prepared": Prepared(verdict=Verdict.READY, snapshot="0" * 64).model_dump(mode="json"),
        },
    ),
    (EffectTook(seconds=12.5), EffectTook, {"seconds": 12.5}),
    (
        AssessedTargets((ZoneAssessment(index=0, zone=ZONE, wave=1),)),
        AssessedTargets,
        [ZoneAssessment(index=0, zone=ZONE, wave=1).model_dump(mode="json")],
    ),
]


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
    models = {name for name in documents.__all__ if isinstance(getattr(documents, name), type)}
    bases = {"Document", "DocumentUnreadable", "DocumentsPart", "ZoneRecord", "WatchedRecord", "Advice"}
    assert models - bases == tried
    for name in models:
        assert getattr(documents, name).__doc__, name


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
    digest = await archive.put_json({"body": "hush", "losses": ["x"]})
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

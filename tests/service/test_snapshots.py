"""Snapshots in the archive: found by zone, digest and time, and printed exactly."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.areas.waf import Reading
from edgeshift.cli.main import called
from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.operations.errors import BadInput, NotFound
from edgeshift.operations.snapshots import by_digest, snapshots_of
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Snapshot, SnapshotTaken, create_record, put_document, snapshot_key
from edgeshift.views.finding import Named
from edgeshift.views.snapshots import chosen

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.PRO)
NAMED = Named(ZONE.id, Area.WAF)
NOW = datetime(2024, 2, 1, 9, 30, tzinfo=UTC)
MIGRATED = {"new_waf_status": "enabled", "old_waf_status": "disabled", "migration_state": "complete"}
GROUP = {"id": "g", "name": "Bad Robots", "package_id": "core", "mode": "off"}
CORE = {"id": "core", "name": "Core", "detection_mode": "anomaly", "sensitivity": "high"}


async def take(archive: Archive, at: timedelta, **reading: Any) -> str:
    """A snapshot of the zone, taken so long after the first."""
    digest = await put_document(archive, Snapshot(zone=ZONE, reading=Reading(check={}, **reading)))
    key = snapshot_key(ZONE, Area.WAF, digest)
    await create_record(archive, key, SnapshotTaken(taken_at=NOW + at))
    return digest


async def three(folder: Path) -> tuple[Archive, list[str]]:
    """Two from before the migration, and one from after it."""
    archive = Archive(folder / "archive")
    readings: list[dict[str, Any]] = [{}, {"packages": [CORE], "groups": [GROUP]}, {"status": MIGRATED}]
    return archive, [
        await take(archive, timedelta(hours=hours), **reading) for hours, reading in enumerate(readings)
    ]


async def test_the_latest_from_before_the_migration_is_shown(tmp_path: Path) -> None:
    """They are listed oldest first; one is named by the beginning of its digest."""
    archive, digests = await three(tmp_path)
    found = await snapshots_of(archive, ZONE.id, Area.WAF)
    assert [taken.digest for taken in found] == digests
    assert [(taken.at - NOW) / timedelta(hours=1) for taken in found] == [0, 1, 2]
    taken, document = await chosen(archive, NAMED, found, "")
    assert taken.digest == digests[1] and document["reading"]["groups"] == [GROUP]
    assert (await chosen(archive, NAMED, found, digests[2][:12]))[0].digest == digests[2]
    assert (await chosen(archive, NAMED, found[2:], ""))[0].digest == digests[2]


async def test_what_is_not_there_is_an_error_that_says_so(tmp_path: Path) -> None:
    """No snapshot of the zone, none with this digest, several that begin so."""
    archive, _ = await three(tmp_path)
    with pytest.raises(NotFound, match=f"has no snapshot of {'c' * 32} in area waf"):
        await snapshots_of(archive, "c" * 32, Area.WAF)
    found = await snapshots_of(archive, ZONE.id, Area.WAF)
    with pytest.raises(NotFound, match="there is no snapshot 'zzz'"):
        by_digest(found, "zzz")
    with pytest.raises(BadInput, match="3 snapshots of this target begin with ''"):
        by_digest(found, "")


def verb(folder: Path, *arguments: str) -> int:
    """The exit code of `edgeshift snapshot` for the zone by its identifier, with the archive alone."""
    options = ("--area", "waf", "--archive", str(folder / "archive"))
    return called(["snapshot", ZONE.id, *options, *arguments])


async def test_the_verb_needs_the_archive_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is told the identifier and the area: text, the exact document, the list, and a clear error."""
    monkeypatch.chdir(tmp_path)
    archive, digests = await three(tmp_path)
    run = asyncio.to_thread
    assert await run(verb, tmp_path) == 0
    shown = capsys.readouterr().out
    assert f"shop.example ({ZONE.id}), waf, as it was read on" in shown
    assert f"snapshot {digests[1]}, one of 3 (--list)" in shown
    assert "off: Bad Robots (g)" in shown and "sensitivity high" in shown
    assert await run(verb, tmp_path, "--json") == 0
    assert json.loads(capsys.readouterr().out) == await archive.get_json(digests[1])
    assert await run(verb, tmp_path, "--list", "--json") == 0
    assert [one["digest"] for one in json.loads(capsys.readouterr().out)] == digests
    assert await run(verb, tmp_path, "--digest", "0" * 64) == 5
    assert "hint: `--list` shows which there are" in capsys.readouterr().err

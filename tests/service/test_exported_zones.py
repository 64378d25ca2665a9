"""A zone is exported by what the archive holds for it; one that cannot be is left out with its reason."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.areas.waf import skip_rule
from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.areas.waf.terraform import RANGES, EntryPoint, ExportedZone, terraform_version
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.operations.errors import NotFound
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Proposal, put_document
from edgeshift.stores.documents.areas.waf import WafRecord
from edgeshift.views.areas import waf_export
from edgeshift.views.areas.waf_export import LeftOut, exported_zone, terraform_of
from edgeshift.views.events import Event, Run
from edgeshift.views.finding import Named
from edgeshift.views.rows import ZoneRow
from tests.kit import eventually

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.PRO)
BODY: Body = {"name": "default", "rules": [skip_rule("shop.example/api/*", "api")]}
ENTRY = EntryPoint(id="c" * 32, name="default")


def row(place: str = "migrated", record: str = "") -> ZoneRow:
    """The zone's line of its campaign."""
    return ZoneRow(
        index=0,
        id=ZONE.id,
        name=ZONE.name,
        account=ZONE.account,
        plan="pro",
        wave=0,
        place=place,
        record=record,
    )


async def recorded(archive: Archive, body: Body = BODY, entry: EntryPoint | None = ENTRY) -> str:
    """The digest of an archived result."""
    proposal = await put_document(archive, Proposal(body=body))
    record = WafRecord(
        zone=ZONE,
        campaign="waf-1",
        digest="d" * 64,
        snapshot="",
        proposal=proposal,
        evidence="",
        aftercare=Aftercare(terraform="", state_rm=()),
        entry_point=entry,
    )
    return await put_document(archive, record)


async def exported(archive: Archive, line: ZoneRow, provider: str = "4") -> ExportedZone | LeftOut:
    """What becomes of the zone."""
    return await exported_zone(archive, line, "shop", RANGES[provider], terraform_version("1.5"))


@pytest.mark.parametrize("place", ["migrated", "already_migrated"])
async def test_a_recorded_zone_is_exported(tmp_path: Path, place: str) -> None:
    """Also one whose commit an earlier attempt had sent."""
    archive = Archive(str(tmp_path))
    found = await exported(archive, row(place, await recorded(archive)))
    assert isinstance(found, ExportedZone)
    assert found.digest == "d" * 64 and found.import_id == f"zone/{ZONE.id}/{ENTRY.id}"


@pytest.mark.parametrize(
    ("place", "kept", "why"),
    [
        ("awaiting", True, "not migrated: "),
        ("rejected", False, "not migrated: rejected"),
        ("already_migrated", False, "migrated before this campaign"),
        ("migrated", False, "migrated, but no result of it is known"),
    ],
)
async def test_what_has_not_migrated_here_is_left_out(
    tmp_path: Path, place: str, kept: bool, why: str
) -> None:
    """By its place, or since nothing was signed for it."""
    archive = Archive(str(tmp_path))
    found = await exported(archive, row(place, await recorded(archive) if kept else ""))
    assert isinstance(found, LeftOut)
    assert found.why.startswith(why) and (found.name, found.place) == (ZONE.name, place)


async def test_what_cannot_be_written_or_read_is_left_out(tmp_path: Path) -> None:
    """A record of before, an attribute of no range, a document that is not there: each by its reason."""
    archive = Archive(str(tmp_path))
    old = await exported(archive, row(record=await recorded(archive, entry=None)))
    assert isinstance(old, LeftOut) and "of an earlier version" in old.why
    odd: Body = {"name": "default", "rules": [{**BODY["rules"][0], "position": {}}]}
    for provider in RANGES:
        refused = await exported(archive, row(record=await recorded(archive, odd)), provider)
        assert isinstance(refused, LeftOut) and refused.why.startswith("rules[0].position cannot be written")
    gone = await exported(archive, row(record="0" * 64))
    assert isinstance(gone, LeftOut) and gone.why


START = {"campaign": "campaign/autumn", "attempt": 1, "target": {"zone": {"id": ZONE.id, "name": ZONE.name}}}


def run(day: int, outcome: str, record: str = "", **start: Any) -> Run:
    """A run of the zone's workflow that ended so."""
    result = ({"outcome": outcome, "reason": "so it is", "record": record},)
    at = datetime(2026, 3, day, tzinfo=UTC)
    began = Event(id=1, at=at, type="WorkflowExecutionStarted", name="WafZone", input=({**START, **start},))
    ended = Event(id=2, at=at, type="WorkflowExecutionCompleted", result=result)
    return Run(run_id=f"r{day}", events=(began, ended))


async def started(client: Client, name: str, times: int) -> None:
    """Temporal lists so many starts of a campaign that nobody works on."""
    for _ in range(times):
        handle = await client.start_workflow("Campaign", id=f"campaign/{name}", task_queue="nobody")
        await handle.terminate()

    async def listed() -> bool:
        return (await client.count_workflows(f"WorkflowId = 'campaign/{name}'")).count == times

    await eventually(listed)


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("migrated_by", "starts"),
    [
        ("an earlier start", 2),
        ("nobody", 2),
        ("one that is not retained", 2),
        # Of very many zones that had migrated before, none is looked for by itself.
        ("nobody", 1),
    ],
)
async def test_a_zone_that_an_earlier_start_migrated_is_exported(
    temporal_client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    migrated_by: str,
    starts: int,
) -> None:
    """After ``start --again`` it had migrated already: what was signed is the earlier start's, as ``check``
    says. A later run with another result has not migrated it.
    """
    name = f"autumn-{uuid.uuid4().hex[:8]}"
    await started(temporal_client, name, starts)
    archive = Archive(str(tmp_path))
    earlier = [
        run(1, "migrated", await recorded(archive), origin="start-1"),
        run(2, "failed", "e" * 64, origin="start-2"),
    ]
    runs = {
        "an earlier start": [*earlier, run(3, "already_migrated", origin="start-3")],
        "nobody": [run(3, "already_migrated", origin="start-3")],
    }
    asked = []

    async def known(*_: Any) -> Any:
        start = SimpleNamespace(area=Area.WAF, waves=())
        return SimpleNamespace(start=start)

    async def rows(*_: Any) -> list[ZoneRow]:
        return [row("already_migrated")]

    async def history(client: Any, named: Named, campaign: str) -> list[Run]:
        asked.append((named.id, campaign))
        if migrated_by not in runs:
            raise NotFound("zone has no retained history", "retention is over")
        return runs[migrated_by]

    monkeypatch.setattr(waf_export, "known_campaign", known)
    monkeypatch.setattr(waf_export, "zone_rows", rows)
    monkeypatch.setattr(waf_export, "zone_runs", history)
    found = await terraform_of(temporal_client, archive, name, RANGES["4"], terraform_version("1.5"))
    # Other campaigns export what was signed for them.
    assert asked == ([(ZONE.id, name)] if starts > 1 else [])
    if migrated_by == "an earlier start":
        assert [zone.digest for zone in found.zones] == ["d" * 64] and not found.left_out
    else:
        [left] = found.left_out
        assert left.why.startswith("migrated before this campaign") and not found.zones

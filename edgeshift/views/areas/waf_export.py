"""Terraform of migrated zones of a campaign, from what was signed and read back, as the archive holds it."""

from __future__ import annotations

from contextlib import suppress

from pydantic import BaseModel
from temporalio.client import Client

from edgeshift.areas import AREAS, area_of
from edgeshift.areas.waf.terraform import (
    ExportedZone,
    ProviderRange,
    TerraformVersion,
    Unwritable,
    exported_files,
    labels_of,
    zone_file,
)
from edgeshift.model.fleet import Plan, Zone, ZoneOutcome, campaign_id
from edgeshift.operations.errors import BadInput, NotFound
from edgeshift.operations.zones import near_zone
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import Proposal, get_document
from edgeshift.stores.documents.areas.waf import WafRecord
from edgeshift.views.finding import Named, zone_runs
from edgeshift.views.gathering import add_result, each, known_campaign, zone_rows
from edgeshift.views.parts import VIEWS
from edgeshift.views.rows import ZoneRow, chosen
from edgeshift.views.timeline import build_timeline
from edgeshift.views.words import look, one_line

MIGRATED = frozenset({ZoneOutcome.MIGRATED.value, ZoneOutcome.ALREADY_MIGRATED.value})


class LeftOut(BaseModel):
    """A zone that is not in the export, where it is, and why."""

    name: str
    id: str
    place: str
    why: str


class TerraformExport(BaseModel):
    """An export as JSON has it. ``imports``: ``blocks`` or ``commands``. ``zones``: those that are in it."""

    campaign: str
    provider: str
    constraint: str
    terraform: str
    imports: str
    warnings: tuple[str, ...]
    zones: list[ExportedZone]
    left_out: list[LeftOut]

    def files(self, provider: ProviderRange, version: TerraformVersion) -> dict[str, str]:
        """Every file by its name."""
        return exported_files(self.campaign, self.zones, provider, version)


async def terraform_of(
    client: Client,
    archive: Archive,
    campaign: str,
    provider: ProviderRange,
    version: TerraformVersion,
    *,
    zone: str = "",
    wave: int | None = None,
) -> TerraformExport:
    """The migrated zones of a campaign, of a wave (counted from 0) or one of them as Terraform.

    Raises NotFound where there is no such campaign, zone or wave, BadInput for a campaign of another area.
    """
    known = await known_campaign(client, campaign)
    if not VIEWS.of(known.start.area).terraform:
        able = ", ".join(area.value for area in AREAS if VIEWS.of(area).terraform)
        title = area_of(known.start.area).title
        raise BadInput(
            f"campaign {campaign} is of area {known.start.area.value} ({title}), which has no Terraform",
            f"Terraform is written for zones of the area {able}",
        )
    if wave is not None and wave >= len(known.start.waves):
        raise BadInput(
            f"campaign {campaign} has no wave {wave + 1}", f"its waves are 1 to {len(known.start.waves)}"
        )
    rows = await zone_rows(client, archive, known)
    some = chosen(rows, zone=zone, wave=wave)
    if not some:
        which = f"zone {zone!r}" if zone else "zones"
        near = near_zone(zone, [row.name for row in rows]) if zone and not chosen(rows, zone=zone) else ""
        raise NotFound(
            f"campaign {campaign} has no {which} there",
            f"did you mean {near}?" if near else f"`edgeshift status {campaign}` shows its zones",
        )
    # Of very many zones, the results of migrated ones are not among those that were read.
    unread = [row for row in some if row.place in MIGRATED and not row.record and row.run_id]
    await each(unread, lambda row: add_result(client, row))
    before = [row for row in some if row.place == ZoneOutcome.ALREADY_MIGRATED.value and not row.record]
    if before and await _has_earlier_start(client, campaign):
        await each(before, lambda row: _add_earlier(client, row, campaign))
    labels = labels_of(_zone(row) for row in rows)
    found = await each(some, lambda row: exported_zone(archive, row, labels[row.id], provider, version))
    return TerraformExport(
        campaign=campaign,
        provider=provider.name,
        constraint=provider.constraint,
        terraform=f">= {version.least}",
        imports="blocks" if version.import_blocks else "commands",
        warnings=provider.warnings,
        zones=[one for one in found if isinstance(one, ExportedZone)],
        left_out=[one for one in found if isinstance(one, LeftOut)],
    )


async def exported_zone(
    archive: Archive, row: ZoneRow, label: str, provider: ProviderRange, version: TerraformVersion
) -> ExportedZone | LeftOut:
    """The zone's configuration, or why it has none."""
    why = ""
    if row.place not in MIGRATED:
        why = f"not migrated: {look(row.place).label}"
    elif not row.record and row.place == ZoneOutcome.ALREADY_MIGRATED.value:
        why = "migrated before this campaign, as far as its starts are retained: nothing of it is signed here"
    elif not row.record:
        why = "migrated, but no result of it is known that could be written"
    if not why:
        try:
            record = await get_document(archive, WafRecord, row.record)
            body = (await get_document(archive, Proposal, record.proposal)).body
            if record.entry_point is not None and record.entry_point.id:
                entry, digest = record.entry_point, record.digest
                return zone_file(record.zone, label, body, entry, provider, version, digest=digest)
            why = "its record is of an earlier version, and does not name the entry point"
        except (ArchiveError, Unwritable) as problem:
            why = one_line(str(problem))
    return LeftOut(name=row.name, id=row.id, place=row.place, why=why)


async def _has_earlier_start(client: Client, campaign: str) -> bool:
    """Whether Temporal retains an earlier start of the campaign, or may: one that was reset, or taken up once
    more after its end, has several runs as well.
    """
    ends = f"WorkflowId = '{campaign_id(campaign)}' AND ExecutionStatus != 'ContinuedAsNew'"
    return (await client.count_workflows(ends)).count > 1


async def _add_earlier(client: Client, row: ZoneRow, campaign: str) -> None:
    """The record of an earlier start of the campaign, where this one found the zone migrated."""
    with suppress(NotFound):
        runs = await zone_runs(client, Named(row.id, row.area, row.kind), campaign)
        attempts = build_timeline(row.id, runs).attempts
        migrated = [one.record for one in attempts if one.record and one.outcome in MIGRATED]
        row.record = migrated[-1] if migrated else ""


def _zone(row: ZoneRow) -> Zone:
    return Zone(id=row.id, name=row.name, account=row.account, plan=Plan(row.plan))

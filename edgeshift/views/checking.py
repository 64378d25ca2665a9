"""Finds what was signed for a zone, and asks whether it still is so."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

from pydantic import BaseModel
from temporalio.client import Client

from edgeshift.model.fleet import Area, Target
from edgeshift.operations.archives import check_campaigns
from edgeshift.operations.checking import check_target
from edgeshift.operations.errors import NotFound
from edgeshift.operations.parts import TargetCheck
from edgeshift.stores.archive import Archive
from edgeshift.views.entries import part
from edgeshift.views.finding import checked_name, find_zone, zone_runs
from edgeshift.views.timeline import build_timeline


class ZoneCheck(BaseModel):
    """A zone that was read again. ``changed_at``: when its attempt ended; ``found``: what that says."""

    zone: str
    name: str
    area: Area
    campaign: str
    changed_at: datetime | None
    checked_at: datetime
    found: TargetCheck


async def check_zone(
    client: Client,
    archive: Archive,
    zone: str,
    campaign: str | None,
    area: Area | None,
    roots: Path | None,
) -> ZoneCheck:
    """Read the zone that a person names, against the last result that a campaign has of it. ``roots``: the
    roots file that is known here.

    Raises NotFound where there is no such zone or none of its attempts changed it, and Refused where the
    campaign that did has another archive, or its service needs roots.
    """
    named = await find_zone(client, archive, zone, campaign, area)
    runs = await zone_runs(client, named, checked_name(campaign) if campaign else None)
    timeline = build_timeline(named.id, runs)
    attempt = next((one for one in reversed(timeline.attempts) if one.record), None)
    if attempt is None:
        raise NotFound(
            f"{timeline.kind} {timeline.name} was not changed by a campaign: there is nothing to compare",
            f"`edgeshift history {quote(timeline.name)}` tells what happened to it",
        )
    await check_campaigns(client, archive, [attempt.campaign])
    first = next(run for run in runs if run.run_id == attempt.run_ids[0]).events[0]
    start = first.input[0] if first.input else {}
    target = Target.model_validate(part(start, "target"))
    found = await check_target(
        client,
        archive,
        target.zone,
        timeline.area,
        spec=str(start.get("spec")),
        record=attempt.record,
        roots=roots,
    )
    return ZoneCheck(
        zone=named.id,
        name=timeline.name,
        area=timeline.area,
        campaign=attempt.campaign,
        changed_at=attempt.closed_at,
        checked_at=datetime.now(UTC),
        found=found,
    )

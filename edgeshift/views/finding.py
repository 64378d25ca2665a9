"""Finds what people name: a campaign's input, its frozen targets, a zone by name or identifier, its runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

from temporalio.client import Client, WorkflowExecution
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.archive import Archive
from edgeshift.fleet import Area, campaign_id, zone_migration_id
from edgeshift.operations.campaigns import campaign_input
from edgeshift.operations.errors import BadInput, NotFound
from edgeshift.operations.zones import frozen_targets, is_identifier, pick_zone
from edgeshift.views.events import Run, read_run

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def checked_name(campaign: str) -> str:
    """The name of a campaign, refused where it cannot be one (it goes into a query). Raises BadInput."""
    if not _NAME.fullmatch(campaign):
        raise BadInput(
            f"{campaign!r} is not a campaign's name", "names are lower-case letters, digits and hyphens"
        )
    return campaign


async def campaigns(client: Client) -> AsyncIterator[WorkflowExecution]:
    """The campaigns that the namespace retains, the newest run of each, newest first."""
    seen: set[str] = set()
    async for execution in client.list_workflows("WorkflowType = 'Campaign'"):
        if execution.id not in seen:
            seen.add(execution.id)
            yield execution


async def find_zone(client: Client, archive: Archive, zone: str, campaign: str | None) -> str:
    """The identifier of the zone that a person names by name or identifier. Raises NotFound, BadInput.

    A name is looked up in the frozen targets of the campaign, or of every retained campaign, newest first.
    """
    if is_identifier(zone):
        return zone
    if campaign:
        start = await campaign_input(client, checked_name(campaign))
        found = pick_zone(await frozen_targets(archive, start.targets), zone, campaign, start.area)
        return found.target.zone.id
    missing = NotFound(f"no campaign has a zone {zone!r}", "`edgeshift status` lists the campaigns")
    async for execution in campaigns(client):
        name = execution.id.removeprefix("campaign/")
        start = await campaign_input(client, name)
        try:
            return pick_zone(
                await frozen_targets(archive, start.targets), zone, name, start.area
            ).target.zone.id
        except NotFound as other:
            missing = other
    raise missing


async def zone_runs(
    client: Client, zone: str, area: Area = Area.WAF, campaign: str | None = None
) -> list[Run]:
    """Every retained run of a zone's workflow with its history, oldest first; of one campaign, if named.

    Raises NotFound when there is none.
    """
    identifier = zone_migration_id(zone, area)
    found = {
        item.run_id: item
        async for item in client.list_workflows(f"WorkflowId = '{identifier}'")
        if campaign is None or (await item.memo()).get("campaign") == campaign_id(campaign)
    }
    try:
        # Visibility may lag behind by a second or two: the newest run is asked for by itself.
        newest = await client.get_workflow_handle(identifier).describe()
        if campaign is None or (await newest.memo()).get("campaign") == campaign_id(campaign):
            found.setdefault(newest.run_id, newest)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
    if not found:
        where = f" in campaign {campaign}" if campaign else ""
        raise NotFound(
            f"zone {zone} has no retained history{where}", "it was never started, or retention is over"
        )
    runs = sorted(found.values(), key=lambda item: item.start_time)
    return list(await asyncio.gather(*(_run(client, item) for item in runs)))


async def _run(client: Client, execution: WorkflowExecution) -> Run:
    handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
    return await read_run(
        execution.run_id, [event async for event in handle.fetch_history_events()], client.data_converter
    )

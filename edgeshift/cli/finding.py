"""Finds what people name: a campaign's input, its frozen targets, a zone by name or identifier, its runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

from pydantic import TypeAdapter
from temporalio.client import Client, WorkflowExecution
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.archive import Archive
from edgeshift.fleet import Area, Target, campaign_id, zone_migration_id
from edgeshift.messages import CampaignStart
from edgeshift.operations.errors import BadInput, NotFound
from edgeshift.views.events import Run, read_run

TARGETS = TypeAdapter(list[Target])
_IDENTIFIER = re.compile(r"[0-9a-f]{32}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def checked_name(campaign: str) -> str:
    """The name of a campaign, refused where it cannot be one (it goes into a query). Raises BadInput."""
    if not _NAME.fullmatch(campaign):
        raise BadInput(
            f"{campaign!r} is not a campaign's name", "names are lower-case letters, digits and hyphens"
        )
    return campaign


async def campaign_start(client: Client, name: str) -> CampaignStart:
    """What a campaign was started with, out of its history: no worker is needed. Raises NotFound."""
    handle = client.get_workflow_handle(campaign_id(checked_name(name)))
    try:
        async for event in handle.fetch_history_events(page_size=1):
            payloads = event.workflow_execution_started_event_attributes.input.payloads
            (start,) = await client.data_converter.decode(payloads, [CampaignStart])
            return CampaignStart.model_validate(start)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
    raise NotFound(f"there is no campaign {name}", "edgeshift status lists them")


async def campaign_targets(archive: Archive, digest: str) -> list[Target]:
    """A campaign's frozen list, in the order of its indexes."""
    return TARGETS.validate_python(await archive.get_json(digest))


async def campaigns(client: Client) -> AsyncIterator[WorkflowExecution]:
    """The campaigns that the namespace retains, the newest run of each, newest first."""
    seen: set[str] = set()
    async for execution in client.list_workflows("WorkflowType = 'Campaign'"):
        if execution.id not in seen:
            seen.add(execution.id)
            yield execution


async def find_zone(client: Client, archive: Archive, zone: str, campaign: str | None) -> str:
    """The identifier of the zone that a person names by name or identifier. Raises NotFound.

    A name is looked up in the frozen targets of the campaign, or of every retained campaign, newest first.
    """
    if _IDENTIFIER.fullmatch(zone):
        return zone
    names = [checked_name(campaign)] if campaign else []
    if not campaign:
        names = [item.id.removeprefix("campaign/") async for item in campaigns(client)]
    wanted = zone.lower().rstrip(".")
    for name in names:
        start = await campaign_start(client, name)
        for target in await campaign_targets(archive, start.targets):
            if target.zone.name.lower() == wanted:
                return target.zone.id
    where = f"the targets of campaign {campaign}" if campaign else f"the targets of {len(names)} campaign(s)"
    raise NotFound(f"no zone named {zone!r} is among {where}")


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

"""Finds what people name: a campaign's input, its frozen targets, a zone by name or identifier, its runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

from temporalio.client import Client, WorkflowExecution
from temporalio.service import RPCError

from edgeshift.areas import AREAS
from edgeshift.model.fleet import (
    CAMPAIGN_NAME,
    DEFAULT_AREA,
    Area,
    ScopeKind,
    campaign_id,
    campaign_name,
    workflow_id,
)
from edgeshift.model.zone_names import is_identifier
from edgeshift.operations.archives import campaign_here, check_archive
from edgeshift.operations.campaigns import campaign_input
from edgeshift.operations.errors import BadInput, NotFound, Refused, Unreadable
from edgeshift.operations.zones import frozen_targets, near_zone, pick_zone
from edgeshift.runtime.temporal import is_missing, memo_of, origin_in
from edgeshift.stores.archive import Archive
from edgeshift.views.events import Run, read_run


def checked_name(campaign: str) -> str:
    """The name of a campaign, refused where it cannot be one (it goes into a query). Raises BadInput."""
    if not CAMPAIGN_NAME.fullmatch(campaign):
        raise BadInput(
            f"{campaign!r} is not a campaign's name", "names are lower-case letters, digits and hyphens"
        )
    return campaign


async def campaigns(client: Client) -> AsyncIterator[WorkflowExecution]:
    """The campaigns that the namespace retains, the newest run of each, newest first. What is not called like
    one is none, whoever has started it.
    """
    seen: set[str] = set()
    async for execution in client.list_workflows("WorkflowType = 'Campaign'"):
        name = campaign_name(execution.id)
        called_so = execution.id == campaign_id(name) and CAMPAIGN_NAME.fullmatch(name)
        if called_so and execution.id not in seen:
            seen.add(execution.id)
            yield execution


@dataclass(frozen=True)
class Named:
    """A target as its workflow is called: a zone, or an account as a whole, in one area."""

    id: str
    area: Area
    kind: ScopeKind = ScopeKind.ZONE

    @property
    def workflow_id(self) -> str:
        """The id of its workflow."""
        return workflow_id(self.kind, self.id, self.area)


async def find_zone(
    client: Client, archive: Archive, zone: str, campaign: str | None, area: Area | None = None
) -> Named:
    """The target that a person names by name or identifier, in whichever area it has a history.

    A name is looked up in the frozen targets of the campaign, or of every retained campaign, newest first.
    Raises NotFound, BadInput where several areas have a history of it and ``area`` is None, and Refused where
    the campaign has another archive, or where no campaign of this one has the name and another campaign may.
    """
    if campaign:
        start = await campaign_here(client, archive, checked_name(campaign))
        if area not in (None, start.area):
            raise BadInput(f"campaign {campaign} is of area {start.area.value}", "leave --area out")
        try:
            found = pick_zone(await frozen_targets(archive, start.targets), zone, campaign, start.area)
        except NotFound:
            if not is_identifier(zone):
                raise
            # It may be a zone that its account's workflow holds, which is no target by itself.
            return Named(zone, start.area)
        return Named(found.target.zone.id, start.area, found.target.zone.kind)
    identifier = zone if is_identifier(zone) else await _identifier(client, archive, zone, area)
    every = [
        *(Named(identifier, one) for one in AREAS),
        *(Named(identifier, one, ScopeKind.ACCOUNT) for one in AREAS),
    ]
    known = [one for one in every if area in (None, one.area) and await _has_history(client, one)]
    if len(known) > 1:
        names = ", ".join(one.area.value for one in known)
        raise BadInput(f"{zone} has histories in several areas: {names}", "name one with --area")
    # One without a history at all is asked for anyway, so that the answer names it.
    return known[0] if known else Named(identifier, area or DEFAULT_AREA)


async def _identifier(client: Client, archive: Archive, name: str, area: Area | None) -> str:
    names: dict[str, None] = {}
    elsewhere: Refused | None = None
    async for execution in campaigns(client):
        campaign = campaign_name(execution.id)
        try:
            start = await campaign_input(client, campaign)
        except (NotFound, Unreadable):
            # One that nobody can read keeps no other from being looked at.
            continue
        if area not in (None, start.area):
            continue
        try:
            await check_archive(archive, start)
        except Refused as why:
            # The zone may be one of its, which only its own archive says.
            elsewhere = elsewhere or why
            continue
        targets = await frozen_targets(archive, start.targets)
        try:
            return pick_zone(targets, name, campaign, start.area).target.zone.id
        except NotFound:
            names |= dict.fromkeys(target.zone.name for target in targets)
    if elsewhere is not None:
        raise elsewhere
    near = near_zone(name, list(names))
    raise NotFound(
        f"no campaign has a zone {name!r}",
        f"did you mean {near}?" if near else "`edgeshift status` lists the campaigns",
    )


async def refuse_elsewhere(client: Client, archive: Archive, campaign: str | None = None) -> None:
    """Raises Refused where a retained campaign, or the one that is named, keeps its documents in another
    archive: what is not found here may be there. Of one that nobody can read, nothing is known. Raises
    ArchiveError.
    """
    names = [campaign] if campaign else [campaign_name(item.id) async for item in campaigns(client)]
    for name in names:
        with suppress(NotFound, Unreadable):
            await campaign_here(client, archive, name)


async def _has_history(client: Client, named: Named) -> bool:
    try:
        await client.get_workflow_handle(named.workflow_id).describe()
    except RPCError as error:
        if not is_missing(error):
            raise
        return False
    return True


async def zone_runs(client: Client, named: Named, campaign: str | None = None, origin: str = "") -> list[Run]:
    """Every retained run of a target's workflow with its history, oldest first; of one campaign, if named,
    and of that start of it whose first run is ``origin``, if that is given.

    Raises NotFound when there is none.
    """
    identifier = named.workflow_id
    found = {
        item.run_id: item
        async for item in client.list_workflows(f"WorkflowId = '{identifier}'")
        if campaign is None or await _is_of(item, campaign, origin)
    }
    try:
        # Visibility may lag behind by a second or two: the newest run is asked for by itself.
        newest = await client.get_workflow_handle(identifier).describe()
        if campaign is None or await _is_of(newest, campaign, origin):
            found.setdefault(newest.run_id, newest)
    except RPCError as error:
        if not is_missing(error):
            raise
    if not found:
        where = f" in campaign {campaign}" if campaign else ""
        raise NotFound(
            f"{named.kind.value} {named.id} has no retained history{where}",
            "it was never started, or retention is over",
        )
    runs = sorted(found.values(), key=lambda item: item.start_time)
    return list(await asyncio.gather(*(_run(client, item) for item in runs)))


async def _is_of(execution: WorkflowExecution, campaign: str, origin: str) -> bool:
    memo = await memo_of(execution) or {}
    return memo.get("campaign") == campaign_id(campaign) and origin in ("", origin_in(memo))


async def _run(client: Client, execution: WorkflowExecution) -> Run:
    handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
    return await read_run(
        execution.run_id, [event async for event in handle.fetch_history_events()], client.data_converter
    )

"""A campaign's outcomes, all of them read again."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel
from temporalio.client import Client

from edgeshift.messages import CampaignStart, ToldWrong
from edgeshift.model.fleet import CLAIMS, campaign_id
from edgeshift.operations.comparing import Told, compare_told
from edgeshift.stores.archive import Archive
from edgeshift.views.gathering import Known, known_campaign, zone_rows

_TOLD = {outcome.value: outcome for outcome in CLAIMS}


class CampaignCheck(BaseModel):
    """``outcomes``: how many say something of the service; ``read``: how many of them it was asked about,
    ``unread``: of how many it could not be. ``signed``: whether each was compared with what workers have
    signed as well. ``wrong``: those that are not so.
    """

    campaign: str
    outcomes: int
    read: int
    unread: int
    signed: bool
    wrong: list[ToldWrong]


async def check_campaign(client: Client, archive: Archive, name: str, roots: Path | None) -> CampaignCheck:
    """Read each zone of a campaign that it tells as changed, as it was found, or as rolled back. Raises
    NotFound where there is no such campaign, ArchiveError, RootsError.
    """
    known = await known_campaign(client, name)
    rows = await zone_rows(client, archive, known)
    told = [
        Told(row.index, row.attempt, _TOLD[row.place]) for row in rows if row.place in _TOLD and row.attempt
    ]
    found = await compare_told(client, archive, known.start, await _origin(client, known), told, roots)
    return CampaignCheck(
        campaign=name,
        outcomes=len(told),
        read=found.read,
        unread=found.unread,
        signed=roots is not None,
        wrong=list(found.wrong),
    )


async def _origin(client: Client, known: Known) -> str:
    """The first run of all that took the campaign up."""
    start: CampaignStart = known.start
    if start.carried is not None and start.carried.origin:
        return start.carried.origin
    described = await client.get_workflow_handle(campaign_id(start.name)).describe()
    return described.raw_description.workflow_execution_info.first_run_id or described.run_id

"""``edgeshift watch``: follow a campaign live."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from edgeshift.cli.options import Campaign, checked_duration
from edgeshift.cli.picture import save_picture
from edgeshift.cli.shell import current, run
from edgeshift.cli.until import left
from edgeshift.messages import CampaignSummary
from edgeshift.operations.archives import check_campaigns
from edgeshift.stores.archive import ArchiveError
from edgeshift.views.figures import Pace
from edgeshift.views.live import campaign_view
from edgeshift.views.watching import watch_campaign

__all__ = ["watch", "watch_campaign"]


def watch(
    campaign: Campaign,
    reconnect: Annotated[
        str, typer.Option(metavar="DURATION", help="How long to try again where Temporal goes away.")
    ] = "10m",
    export_svg: Annotated[Path | None, typer.Option("--export-svg", hidden=True)] = None,
) -> None:
    """Follow a campaign live until it closes. Ctrl-C leaves; the campaign goes on."""
    shell = current()
    within = checked_duration("--reconnect", reconnect)
    pace = Pace()
    seen: list[CampaignSummary] = []

    def remember(summary: CampaignSummary) -> bool:
        pace.progress(summary, datetime.now(UTC))
        seen[:] = [summary]
        return False

    async def follow() -> None:
        async with shell.temporal() as client:
            with shell.waiting(f"asking for campaign {campaign}"):
                # Where the archive cannot be read now, the picture says why.
                with suppress(ArchiveError):
                    await check_campaigns(client, shell.archive(), [campaign])
                archive = shell.archive_if_any()
                note = await shell.note_for(client, campaign)
            # Also of one that no worker answers for; where there is none, the first look ends it.
            shell.at_ctrl_c = left(campaign)
            await watch_campaign(
                client,
                campaign,
                console=shell.console,
                until=remember,
                note=note,
                archive=None if isinstance(archive, ArchiveError) else archive,
                reconnect=within,
            )

    try:
        run(follow())
    finally:
        if export_svg and seen:
            now = datetime.now(UTC)
            shown = campaign_view(seen[0], pace.progress(seen[0], now), now)
            save_picture(export_svg, shown, f"edgeshift watch {campaign}")

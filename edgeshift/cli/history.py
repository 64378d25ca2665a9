"""``edgeshift history``: what happened to a zone, and who agreed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from edgeshift.cli.options import OfArea, ZoneOrAccount, campaign_option
from edgeshift.cli.picture import save_picture
from edgeshift.cli.shell import current, run
from edgeshift.operations.archives import check_campaigns
from edgeshift.operations.proof import together
from edgeshift.stores.archive import ArchiveError
from edgeshift.views.archived import with_archived
from edgeshift.views.entries import Timeline
from edgeshift.views.finding import checked_name, find_zone, zone_runs
from edgeshift.views.history_view import history_view
from edgeshift.views.timeline import build_timeline


def history(
    zone: ZoneOrAccount,
    campaign: Annotated[
        str | None,
        campaign_option("Only what this campaign did."),
    ] = None,
    area: OfArea = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the timeline as JSON.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also technical events.")] = False,
    export_svg: Annotated[Path | None, typer.Option("--export-svg", hidden=True)] = None,
) -> None:
    """Show what happened to a zone, and who agreed: every attempt, from the workflow's own history."""
    shell = current()

    async def tell() -> tuple[Timeline, dict[str, str]]:
        async with shell.temporal() as client:
            archive = shell.archive()
            found = await find_zone(client, archive, zone, campaign, area)
            name = checked_name(campaign) if campaign else None
            timeline = build_timeline(found.id, await zone_runs(client, found, name))
            # Where the archive cannot be read, each line says so by itself.
            with suppress(ArchiveError):
                attempts = reversed(timeline.attempts)
                await check_campaigns(client, archive, (one.campaign for one in attempts if one.campaign))
            names = dict.fromkeys(one.campaign for one in timeline.attempts)
            notes = {one: await shell.note_for(client, one) for one in names if one}
            return await with_archived(timeline, archive), notes

    timeline, notes = run(tell(), waiting=f"reading the history of {zone}")
    if as_json:
        shell.print_json({**timeline.model_dump(mode="json"), "note": "\n".join(together(notes))})
        return
    shown = history_view(timeline, technical=everything)
    shell.console.print(shown)
    shell.say_note(*together(notes))
    if export_svg:
        save_picture(export_svg, shown, f"edgeshift history {zone}")

"""``edgeshift snapshot``: what a zone had before it was changed, whole."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Annotated, Any

import typer

from edgeshift.cli.options import OfArea, ZoneOrAccount, campaign_option
from edgeshift.cli.shell import Shell, current, run


def snapshot(
    zone: ZoneOrAccount,
    campaign: Annotated[
        str | None,
        campaign_option("Only what this campaign has read."),
    ] = None,
    area: OfArea = None,
    attempt: Annotated[
        int | None, typer.Option(min=1, help="What this attempt has read.", show_default=False)
    ] = None,
    digest: Annotated[
        str, typer.Option(metavar="PREFIX", help="The snapshot with this digest.", show_default=False)
    ] = "",
    every: Annotated[bool, typer.Option("--list", help="Only list the snapshots that there are.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the document as it is in the archive.")
    ] = False,
) -> None:
    """Show what a zone had before it was changed: the latest snapshot from before, from the archive."""
    from edgeshift.model.zone_names import typed_zone
    from edgeshift.views.snapshots import Asked

    asked = Asked(typed_zone(zone), campaign or "", area, attempt or 0, digest)
    run(_show(current(), asked, every=every, as_json=as_json))


async def _show(shell: Shell, asked: Any, *, every: bool, as_json: bool) -> None:
    from edgeshift.views.parts import VIEWS
    from edgeshift.views.snapshots import choices, chosen, needs_temporal, reading_of, target_of
    from edgeshift.views.words import moment, one_line

    archive = shell.archive()
    async with AsyncExitStack() as stack:
        stack.enter_context(shell.waiting(f"looking for snapshots of {asked.zone}"))
        client = await stack.enter_async_context(shell.temporal()) if needs_temporal(asked) else None
        named = await target_of(client, archive, asked)
        found = await choices(client, archive, named, asked)
    if every:
        if as_json:
            shell.print_json([{"digest": one.digest, "taken_at": one.at.isoformat()} for one in found])
            return
        for one in found:
            shell.console.print(f"{moment(one.at)}  {one.digest}", markup=False, soft_wrap=True)
        return
    taken, document = await chosen(archive, named, found, asked.digest)
    if as_json:
        shell.print_json(document)
        return
    of = document.get("zone") or {}
    title = f"{one_line(str(of.get('name') or asked.zone))} ({named.id}), {named.area.value}"
    heading = [
        f"{title}, as it was read on {moment(taken.at)}",
        f"snapshot {taken.digest}" + (f", one of {len(found)} (--list)" if len(found) > 1 else ""),
    ]
    for line in (*heading, *VIEWS.of(named.area).snapshot_lines(reading_of(document))):
        shell.console.print(line, markup=False, soft_wrap=True)

"""Lists of campaigns and of zones on a terminal. Pure: renderables are built only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from edgeshift.model.counts import counted
from edgeshift.model.fleet import ScopeKind
from edgeshift.views.chosen import command
from edgeshift.views.rows import ZoneRow, listed, look_of
from edgeshift.views.widths import ByWidth, Card, longest_word, shortened, ticket_name
from edgeshift.views.words import look, moment, one_line, short, targets

MOST_NAMES = 15
MANY_NAMES = 40
FEW_NAMES = 5
"""Of zones that only await a sign-off fewer are named: they are signed by fingerprint, not by name."""


class CampaignLine(BaseModel):
    """A campaign in the list of all. ``state``: its own word, or Temporal's where it does not answer.

    ``finished``, ``zones``: None where nobody answers. ``note``: that nobody known here signed its start.
    """

    name: str
    state: str
    started_at: datetime
    closed_at: datetime | None = None
    started_by: str = ""
    finished: int | None = None
    zones: int | None = None
    note: str = ""


def campaigns_table(lines: Sequence[CampaignLine]) -> RenderableType:
    """All campaigns, newest first."""
    if not lines:
        return Padding(Text("There is no campaign yet. Start with: edgeshift init"), (1, 2))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title, justify in (
        ("campaign", "left"),
        ("state", "left"),
        ("finished", "right"),
        ("started", "left"),
    ):
        table.add_column(title, justify="right" if justify == "right" else "left", no_wrap=True)
    table.add_column("by", overflow="ellipsis", no_wrap=True)
    finished = [
        f"{line.finished:,}/{line.zones:,}" if line.finished is not None and line.zones is not None else "-"
        for line in lines
    ]
    for line, done in zip(lines, finished, strict=True):
        state = Text(line.state, style="" if line.closed_at else "bold green")
        table.add_row(
            Text(line.name, style="bold"), state, done, moment(line.started_at), one_line(line.started_by, 40)
        )
    narrow: list[RenderableType] = []
    for line, done in zip(lines, finished, strict=True):
        narrow.append(Text(line.name, style="bold", overflow="fold"))
        below = f"{line.state}, {done} finished, started {moment(line.started_at)}"
        below += f" by {one_line(line.started_by, 40)}" if line.started_by else ""
        narrow.append(Padding(Text(below), (0, 0, 0, 2)))
    longest = max(cell_len(line.name) for line in lines)
    return Padding(ByWidth(table, Group(*narrow), longest + 60), (1, 2))


def zone_lists(rows: Sequence[ZoneRow], campaign: str, *, plain: bool = False) -> RenderableType:
    """The zones that ask something of a person, by place, with reasons; long lists are cut and counted."""
    parts: list[RenderableType] = []
    for place, some in listed(rows).items():
        appears = look(place, some[0].area)
        heading = Text().append(
            f"{appears.ascii if plain else appears.mark} {appears.label}", style=appears.style
        )
        heading.append(f"  {targets(len(some), some[0].area)}", style="dim")
        most = FEW_NAMES if place == "awaiting" else MOST_NAMES
        if len(some) > 1 and len({_why(row).plain for row in some}) == 1:
            # One reason for all: it is said once, and the names fit on a few lines.
            most = MANY_NAMES
            heading.append(f"  {_why(some[0]).plain}")
            names = ", ".join(one_line(row.name, 253) for row in some[:most])
            parts += [heading, Padding(Text(names), (0, 0, 0, 3))]
        else:
            parts += [heading, rows_table(some[:most])]
        if len(some) > most:
            rest = command("status", campaign, "--phase", place)
            parts.append(Text(f"  … {len(some) - most:,} more: {rest}", style="dim"))
        parts.append(Text())
    return Padding(Group(*parts), (1, 2, 0, 2)) if parts else Text()


LONGEST_WORD = 80
"""Columns of a word for which a list makes room beside names: one that is longer breaks anywhere."""


def rows_table(rows: Sequence[ZoneRow], *, places: bool = False) -> RenderableType:
    """Zones with wave, reason, and the fingerprint that waits. ``places``: with a column for the place."""
    names = [one_line(row.name, 253) for row in rows]
    longest = max(map(cell_len, names), default=0)
    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(width=1)
    grid.add_column(no_wrap=True, min_width=longest)
    if places:
        grid.add_column(ratio=1, overflow="fold")
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(ratio=3, overflow="fold")
    narrow: list[RenderableType] = []
    for row, name in zip(rows, names, strict=True):
        appears = look_of(row)
        place = [Text(appears.label, style=appears.style)] if places else []
        wave, why = f"wave {row.wave + 1}", _why(row)
        grid.add_row("", Text(name), *place, wave, why)
        narrow.append(Padding(Text(name, overflow="fold"), (0, 0, 0, 2)))
        below = Text("; ").join(filter(None, [*place, Text(wave, style="dim"), why]))
        narrow.append(Padding(below, (0, 0, 0, 4)))
    # Beside the name: the gaps, the wave, and room for a fingerprint or the longest word of a reason.
    word = min(max((longest_word(_why(row).plain) for row in rows), default=0), LONGEST_WORD)
    least = longest + max(40, 20 + word) + (20 + word // 3 if places else 0)
    return ByWidth(grid, Group(*narrow), least)


def _why(row: ZoneRow) -> Text:
    text = Text(shortened(one_line(row.reason)))
    if row.place.startswith("awaiting"):
        text.append(f"{'; ' if row.reason else ''}fingerprint {short(row.fingerprint)}", style="dim")
    for ticket in row.tickets:
        text.append(f"{'; ' if text.plain else ''}ticket {ticket_name(one_line(ticket, 200))}", style="dim")
    return text


def zone_card(
    row: ZoneRow, campaign: str, *, plain: bool = False, signable: bool = True, typed: str = ""
) -> Card:
    """All that is known of one zone now. ``signable``: whether its campaign still sends what is signed;
    ``typed``: what commands name it by, if not its name.
    """
    appears = look_of(row)
    name = one_line(row.name, 253)
    typed = typed or name
    # A zone may have been in campaigns of several areas.
    named = (typed, "--area", row.area.value)
    approve = command("sign-off", "approve", campaign, "--zone", typed)
    lines = [
        (row.kind.value, Text(f"{name} ({row.id})")),
        (
            "state",
            Text(f"{appears.ascii if plain else appears.mark} {appears.label}", style=appears.style),
        ),
    ]
    for title, value in (
        ("reason", one_line(row.reason)),
        ("plan", row.plan if row.kind is ScopeKind.ZONE else ""),
        ("covers", counted(row.covers, "zone") if row.kind is ScopeKind.ACCOUNT else ""),
        ("wave", str(row.wave + 1)),
        ("attempt", str(row.attempt or "not started")),
        ("started", moment(row.started_at)),
        ("closed", moment(row.closed_at) if row.closed_at else ""),
        ("proposal", row.digest),
        ("fingerprint", row.fingerprint),
        ("result record", row.record),
        *(("ticket", one_line(ticket, 300)) for ticket in row.tickets),
        ("read it", command("show", *named) if row.place.startswith("awaiting") else ""),
        # Offered only where no evidence of the zone itself speaks against it.
        ("sign it", approve if row.place == "awaiting" and signable else ""),
        ("history", command("history", *named)),
    ):
        if value:
            lines.append((title, Text(value)))
    return Card(lines, commands=("read it", "sign it", "history"))

"""A zone's timeline on a terminal. Pure: renderables are built only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from edgeshift.model.counts import counted
from edgeshift.model.fleet import DEFAULT_AREA, Area
from edgeshift.views.entries import Attempt, Entry, EntryKind, Timeline
from edgeshift.views.widths import ByWidth
from edgeshift.views.words import FINISHED, Kind, clock, lasting, look, look_ended, one_line

_STYLES = {
    EntryKind.SIGNED: "bold magenta",
    EntryKind.SENT: "bold blue",
    EntryKind.OUTCOME: "bold",
    EntryKind.TROUBLE: "bold red",
    EntryKind.STOPPED: "yellow",
    EntryKind.TICKET: "yellow",
    EntryKind.SUPPORT: "magenta",
    EntryKind.EVIDENCE: "cyan",
    EntryKind.PROBED: "cyan",
    EntryKind.WATCHED: "cyan",
    EntryKind.HELD: "yellow",
}


BESIDE = 36
"""Columns of the time, the gap and the kind, which stand before what happened."""


def history_view(timeline: Timeline, *, technical: bool = False) -> RenderableType:
    """The whole timeline, the answer first. ``technical``: with the lines that only matter when debugging."""
    parts: list[RenderableType] = [Text(timeline.sentence, style="bold")]
    for attempt in timeline.attempts:
        parts += [
            Text(),
            attempt_heading(attempt, timeline.area),
            attempt_table(attempt, technical=technical),
        ]
    hidden = sum(entry.technical for attempt in timeline.attempts for entry in attempt.entries)
    if hidden and not technical:
        parts += [Text(), Text(f"{counted(hidden, 'technical event')} not shown (--all)", style="dim")]
    return Padding(Group(*parts), (1, 1, 1, 1))


def attempt_heading(attempt: Attempt, area: Area = DEFAULT_AREA) -> Text:
    """One line about an attempt: its number, campaign, wave, starter and outcome."""
    title = f"Attempt {attempt.number}" if not attempt.held_for else f"Held for {attempt.held_for}"
    line = Text().append(title, style="bold underline")
    if attempt.campaign:
        line.append(f"  campaign {one_line(attempt.campaign, 80)}")
    if attempt.wave is not None:
        line.append(f"  wave {attempt.wave + 1}")
    if attempt.started_by:
        line.append(f"  started by {one_line(attempt.started_by, 60)}")
    if attempt.outcome:
        appears = look_ended(attempt.outcome, area, attempt.causes)
        style = appears.style if appears.kind in FINISHED else "bold red"
        line.append(f"  {appears.mark if appears.kind in FINISHED else '!'} {appears.label}", style=style)
    elif attempt.doing or attempt.closed_at is None:
        line.append(f"  {attempt.doing or 'open'}", style="blue")
    return line


def attempt_table(attempt: Attempt, *, technical: bool = False) -> RenderableType:
    """The lines of an attempt: when, how long after the line before, what, and what led to it."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(no_wrap=True, justify="right", style="dim")
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    narrow: list[RenderableType] = []
    longest = 0
    before: datetime | None = None
    shown_day = ""
    for entry in attempt.entries:
        if entry.technical and not technical:
            continue
        day = f"{entry.at.astimezone(UTC):%Y-%m-%d}"
        if day != shown_day:
            table.add_row(Text(day, style="bold"), "UTC", "", "")
            narrow.append(Text(f"{day} UTC", style="bold"))
            shown_day = day
        kind = Text(entry.kind.value, _style(entry))
        gap, told = _gap(entry.at, before), _told(entry)
        table.add_row(clock(entry.at), gap, kind, told)
        narrow.append(Text(f"{clock(entry.at)} {gap}".strip() + " ", style="dim") + kind)
        narrow.append(Padding(told, (0, 0, 0, 2)))
        longest = max(longest, *(cell_len(word) for word in told.plain.split()), 0)
        before = max(entry.at, before) if before else entry.at
    return ByWidth(table, Group(*narrow), BESIDE + max(longest, 24))


def _style(entry: Entry) -> str:
    if entry.kind is EntryKind.OUTCOME:
        kind = look(entry.outcome).kind
        return {Kind.DONE: "bold green", Kind.FAILED: "bold red"}.get(kind, "bold yellow")
    return "dim" if entry.technical else _STYLES.get(entry.kind, "")


def _gap(at: datetime, before: datetime | None) -> str:
    return f"+{lasting(at - before)}" if before and at - before >= timedelta(milliseconds=50) else ""


def _told(entry: Entry) -> Text:
    text = Text(entry.text, style="dim" if entry.technical else "")
    if entry.took is not None and entry.took >= 0.05:
        text.append(f" ({lasting(timedelta(seconds=entry.took))})", style="dim")
    if entry.reason:
        text.append(f"\n“{entry.reason}”", style="italic")
    for number, why in enumerate(entry.because, start=1):
        undecided = entry.undecided and number == len(entry.because)
        text.append(f"\nbecause {why}", style="bold red" if undecided else "green")
    for detail in entry.details:
        text.append(f"\n{detail}", style="dim")
    return text

"""The picture of a campaign on a terminal, for ``watch`` and ``status``. Pure: renderables are built only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from edgeshift.messages import CampaignSummary, WaveSummary, wrong_text
from edgeshift.model.campaign_phase import SIGNABLE, CampaignPhase
from edgeshift.model.counts import agreed, counted
from edgeshift.operations.proof import UNHEEDED
from edgeshift.views.approvals import approvals_so_far
from edgeshift.views.chosen import as_chosen
from edgeshift.views.figures import NAMELESS, Progress, causes_command, sign_command
from edgeshift.views.widths import ByWidth
from edgeshift.views.words import (
    STYLES,
    Kind,
    by_kind,
    clock,
    finished,
    lasting,
    look,
    look_of_many,
    moment,
    one_line,
    ordered,
    short,
    target_named,
    targets,
    word,
)

WIDEST = 100
"""Columns of a bar at most."""

MOST_WAVES = 12
MOST_WAITING = 8
MOST_NOTES = 5

_FILLS = {
    Kind.DONE: ("█", "#"),
    Kind.NEEDS_PERSON: ("▓", "="),
    Kind.FAILED: ("▚", "!"),
    Kind.WORKING: ("▒", "~"),
    Kind.WAITING: ("░", "-"),
    Kind.UNSTARTED: ("·", "."),
}
_STATES: dict[str, str] = {
    CampaignPhase.RUNNING: "bold green",
    CampaignPhase.PAUSING: "bold yellow",
    CampaignPhase.PAUSED: "bold yellow",
    CampaignPhase.HALTED: "bold red",
    CampaignPhase.ABORTING: "bold red",
    CampaignPhase.CLOSED: "bold",
}
_KIND_WORDS = {
    Kind.DONE: "done",
    Kind.NEEDS_PERSON: "needs a person",
    Kind.FAILED: "failed or unknown",
    Kind.WORKING: "at work",
    Kind.WAITING: "waiting",
    Kind.UNSTARTED: "not started",
}


def campaign_view(
    summary: CampaignSummary,
    progress: Progress,
    now: datetime,
    *,
    plain: bool = False,
    trouble: str = "",
    note: str = "",
    extra: RenderableType | None = None,
    most_waiting: int = MOST_WAITING,
    names: Mapping[int, str] = NAMELESS,
) -> RenderableType:
    """Everything about the campaign on one screen.

    ``plain``: ASCII marks only. ``trouble``: why the picture may be stale. ``note``: what holds
    for all of it. ``names``: those of targets, by index, as far as they are known.
    """
    parts: list[RenderableType] = [header(summary, now), Text()]
    if note:
        parts += [Text(note, style="yellow"), Text()]
    parts.append(wave_bars(summary, plain=plain))
    parts += [Text(), figures_line(progress, summary), Text(), phases_table(summary, plain=plain)]
    if summary.waiting:
        parts += [Text(), waiting_block(summary, most=most_waiting, plain=plain, heeded=note != UNHEEDED)]
    if summary.notes or summary.excluded:
        parts += [Text(), notes_block(summary, plain=plain, names=names)]
    if trouble:
        parts += [Text(), Text(trouble, style="yellow")]
    if extra is not None:
        parts += [Text(), extra]
    return Padding(Group(*parts), (1, 2, 0, 2))


MOST_WRONG = 5
"""Zones that are named of which something was told that is not so."""


def header(summary: CampaignSummary, now: datetime) -> RenderableType:
    """Name, area, state, time scale (where it is not 1), and the time."""
    line = Text().append(summary.name, style="bold")
    line.append(f"  {summary.area.value}  ", style="dim")
    line.append(summary.state, style=_STATES.get(summary.state, "bold"))
    if summary.time_scale != 1:
        line.append(f"  time runs {summary.time_scale:,.6g} times as fast", style="yellow")
    grid = Table.grid(expand=True)
    grid.add_column(ratio=1)
    grid.add_column(justify="right")
    at = Text(clock(now) + " UTC", style="dim")
    grid.add_row(line, at)
    began = f"started by {one_line(summary.started_by, 60)} on {moment(summary.started_at)}"
    least = line.cell_len + 2 + at.cell_len
    parts: list[RenderableType] = [ByWidth(grid, Group(line, at), least), Text(began, style="dim")]
    if summary.why:
        parts.append(Text(one_line(summary.why), style=_STATES.get(summary.state, "")))
    if summary.fix:
        parts.append(Text(f"to do: {as_chosen(one_line(summary.fix))}"))
    if summary.wrong:
        parts.append(Text(f"{counted(summary.wrong, 'zone')} told wrong:", style="bold red"))
        parts += [Text(f"  {one_line(wrong_text(one))}") for one in summary.told_wrong[:MOST_WRONG]]
    if summary.compared is not None:
        parts.append(Text(summary.compared.text, style="dim"))
    return Group(*parts)


def wave_bars(summary: CampaignSummary, *, plain: bool = False) -> RenderableType:
    """A bar for each wave, parted by what its zones do, with the same in words behind it."""
    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1, min_width=16)
    grid.add_column(justify="right", no_wrap=True)
    narrow: list[RenderableType] = []
    least = 0
    shown = _around(summary.waves, summary.wave)
    for wave in shown:
        style = "bold" if wave.number == summary.wave and summary.state != CampaignPhase.CLOSED else ""
        name, bar = Text(one_line(wave.name, 40), style=style), Bar(wave.places, wave.size, plain=plain)
        count = Text(f"{finished(wave.places):,}/{wave.size:,}", style=style)
        grid.add_row(name, bar, count)
        narrow += [name + Text("  ") + count, bar]
        least = max(least, name.cell_len + 16 + count.cell_len + 4)
    if len(shown) < len(summary.waves):
        more = Text(f"… {len(summary.waves) - len(shown)} more waves", style="dim")
        grid.add_row(more, "", "")
        narrow.append(more)
    key = Text(style="dim")
    kinds = by_kind(summary.places)
    for kind in Kind:
        if kinds[kind]:
            key.append(_FILLS[kind][plain] * 2, style=STYLES[kind])
            key.append(f" {_KIND_WORDS[kind]}   ")
    return Group(ByWidth(grid, Group(*narrow), least), key)


def _around(waves: Sequence[WaveSummary], current: int) -> Sequence[WaveSummary]:
    first = max(0, min(current - 2, len(waves) - MOST_WAVES))
    return waves[first : first + MOST_WAVES]


class Bar:
    """A bar that fills its column: each kind of place has its share of it, and at least one cell."""

    def __init__(self, places: Mapping[str, int], size: int, *, plain: bool = False) -> None:
        self._counts = by_kind(places)
        # Zones of which the campaign says nothing have not been started.
        self._counts[Kind.UNSTARTED] += max(0, size - sum(self._counts.values()))
        self._plain = plain

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(16, min(WIDEST, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDEST)
        text = Text(no_wrap=True)
        for kind, cells in shares(self._counts, width).items():
            text.append(_FILLS[kind][self._plain] * cells, style=STYLES[kind])
        yield text


def shares(counts: Mapping[Kind, int], width: int) -> dict[Kind, int]:
    """``width`` cells given out by the counts: the sum is exact, and no kind with a zone goes without."""
    total = sum(counts.values())
    if not total or width < len(counts):
        return {}
    cells = {kind: max(1, count * width // total) for kind, count in counts.items() if count}
    while (spare := width - sum(cells.values())) != 0:
        # The cell goes to, or comes from, whichever kind is furthest from its exact share.
        exact = {kind: counts[kind] * width / total - cells[kind] for kind in cells}
        if spare > 0:
            cells[max(exact, key=lambda kind: exact[kind])] += 1
        else:
            cells[min((kind for kind in cells if cells[kind] > 1), key=lambda kind: exact[kind])] -= 1
    return cells


def figures_line(progress: Progress, summary: CampaignSummary) -> Text:
    """How much is finished, how fast it goes, and about how long the rest takes."""
    noun = word("zone", summary.area)
    line = Text(f"{progress.done:,} of {counted(progress.count, noun)} finished ({progress.percent:.0f} %)")
    if summary.state == CampaignPhase.CLOSED:
        return line
    line.append(f" · {lasting(progress.elapsed)} so far")
    if progress.rate:
        line.append(f" · {progress.rate:,.1f} {noun}s/min")
    if progress.left is not None:
        line.append(f" · about {lasting(progress.left)} left")
    if progress.people:
        line.append(f" · {progress.people:,} {agreed(progress.people, 'waits', 'wait')} for people")
    if timed := progress.kinds.get(Kind.WAITING, 0) - progress.people:
        line.append(f" · {timed:,} {look('waiting', summary.area).label}")
    if summary.permits_out:
        line.append(f" · {counted(summary.permits_out, 'step')} in flight")
    return line


def phases_table(summary: CampaignSummary, *, plain: bool = False) -> RenderableType:
    """How many zones are where, over the whole campaign and in the current wave."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", title_justify="left")
    table.add_column("")
    nouns = word("zone", summary.area) + "s"
    table.add_column(f"where the {nouns} are", no_wrap=True)
    table.add_column(nouns, justify="right")
    table.add_column("of all", justify="right")
    several = (
        len(summary.waves) > 1 and summary.state != CampaignPhase.CLOSED and summary.wave < len(summary.waves)
    )
    current = summary.waves[summary.wave].places if several else {}
    table.add_column("this wave" if several else "", justify="right")
    narrow: list[RenderableType] = []
    for place, count in ordered(summary.places):
        appears = look_of_many(place, summary.area)
        share = f"{100 * count / summary.count:.0f} %" if summary.count else ""
        mark = appears.ascii if plain else appears.mark
        narrow.append(Text(f"{mark} {appears.label}: {count:,}", style=appears.style))
        table.add_row(
            Text(mark, style=appears.style),
            Text(appears.label, style=appears.style),
            f"{count:,}",
            Text(share, style="dim"),
            Text(f"{current.get(place, 0):,}" if current.get(place) else "", style="dim"),
        )
    return ByWidth(table, Group(*narrow), 60)


def waiting_block(
    summary: CampaignSummary, *, most: int = MOST_WAITING, plain: bool = False, heeded: bool = True
) -> RenderableType:
    """The fingerprints that wait for a person, the most frequent first, and how one is signed. ``heeded``:
    whether workers may go by what is signed, as far as that is known here; else no sign-off is offered.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("waiting for a sign-off", no_wrap=True, header_style="bold magenta")
    table.add_column(word("zone", summary.area) + "s", justify="right")
    table.add_column("to", no_wrap=True)
    table.add_column("waves")
    table.add_column("")
    narrow: list[RenderableType] = [Text("waiting for a sign-off", style="bold magenta")]
    few = summary.waiting[:most]
    for item in few:
        waves = ", ".join(str(wave + 1) for wave in item.waves[:6]) + (", …" if len(item.waves) > 6 else "")
        digest = (
            Text()
            .append("* " if plain else "◆ ", style="magenta")
            .append(short(item.fingerprint), style="bold")
        )
        apart = f"{item.separate:,} to be signed singly" if item.separate else ""
        singly = Text(apart, style="yellow")
        step = word(item.step, summary.area)
        table.add_row(digest, f"{item.zones:,}", step, waves, singly)
        what = Text(f" {targets(item.zones, summary.area)}, {step}, waves {waves}{', ' if apart else ''}")
        narrow.append(digest + what + singly)
    parts: list[RenderableType] = [ByWidth(table, Group(*narrow), 60)]
    together = (item.fingerprint for item in few if item.zones > item.separate)
    for fingerprint in dict.fromkeys(together):
        # It waits still: it takes more people. What waits singly waits for its own sign-off, not for these.
        if said := approvals_so_far(summary, fingerprint):
            parts.append(Text(f"{short(fingerprint)}: {said}; more have to approve", style="yellow"))
    # The summary itself lists the largest alone.
    if (left := summary.fingerprints_waiting - len(few)) > 0:
        more = counted(left, "more fingerprint")
        parts.append(Text(as_chosen(f"… {more}: edgeshift status {summary.name}"), style="dim"))
    # Only where a decision on the fingerprint reaches a zone, as the evidence of the others did not pass; and
    # not of a campaign that is being aborted, or has ended.
    signable = next((item for item in summary.waiting if item.zones > item.separate), None)
    if not heeded:
        return Group(*parts)
    if signable and summary.state in SIGNABLE:
        parts.append(Text("to read it, and then to sign it:", style="dim"))
        parts.append(Text(f"  {sign_command(summary.name, signable.fingerprint)}", style="dim"))
    if command := causes_command(summary):
        parts.append(Text("those to be signed singly, grouped by cause:", style="dim"))
        parts.append(Text(f"  {command}", style="dim"))
    return Group(*parts)


def notes_block(
    summary: CampaignSummary, *, plain: bool = False, names: Mapping[int, str] = NAMELESS
) -> RenderableType:
    """Notes and halts of the campaign, the newest last, and how many zones were left out."""
    mark = "! " if plain else "▸ "
    parts: list[RenderableType] = [Text("Notes", style="bold")]
    parts += [Text(mark + one_line(note)) for note in summary.notes[-MOST_NOTES:]]
    if summary.excluded:
        index, why = next(iter(summary.excluded.items()))
        # The summary names some alone.
        left = summary.places.get("excluded", len(summary.excluded))
        words = f"{targets(left, summary.area)} left out, such as"
        words += f" {target_named(index, names, summary.area)}: {one_line(why)}"
        parts.append(Text(mark + words, style="yellow"))
    return Group(*parts)


def totals_view(summary: CampaignSummary, progress: Progress, *, plain: bool = False) -> RenderableType:
    """The totals of a campaign that has closed."""
    title = Text().append(f"{summary.name} has closed", style="bold")
    title.append(
        f"  {targets(summary.count, summary.area)} in {lasting(summary.now - summary.started_at)}",
        style="dim",
    )
    return Padding(
        Group(
            Rule(style="dim"),
            title,
            Text(),
            phases_table(summary, plain=plain),
            figures_line(progress, summary),
        ),
        (0, 2),
    )

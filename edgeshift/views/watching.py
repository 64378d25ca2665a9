"""The loop behind ``watch``: looks about once a second at what the campaign publishes, and shows it. Temporal
answers that; a worker that is busy, or gone, is not asked.

On a terminal it redraws one picture; elsewhere it prints a line only when something changed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus

from edgeshift.messages import CampaignSummary
from edgeshift.model.campaign_phase import CampaignPhase
from edgeshift.model.fleet import campaign_id
from edgeshift.operations.campaigns import campaign_input, campaign_result, describe, published
from edgeshift.operations.errors import NotFound, TemporalTrouble
from edgeshift.operations.waits import unattended
from edgeshift.operations.zones import frozen_targets
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.views.away import RECONNECT, Away
from edgeshift.views.closed import closed_summary, ledger_of
from edgeshift.views.figures import Pace, Progress, Said, changed_lines, said_in
from edgeshift.views.live import campaign_view, totals_view
from edgeshift.views.words import clock, lasting, look, one_line, ordered, word

EVERY = 1.0
"""Seconds between two looks."""

PLAIN_EVERY = 5.0
"""Seconds between two lines of counts where there is no terminal."""

ANSWER_WITHIN = 15.0
"""Seconds within which a look is answered; a server that hangs is as good as away."""

PATIENCE = 10.0
"""Seconds that a task of the campaign may wait for a worker before whoever watches is told."""

_GOES_ON = (None, WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CONTINUED_AS_NEW)


async def watch_campaign(
    client: Client,
    name: str,
    *,
    console: Console,
    until: Callable[[CampaignSummary], bool] | None = None,
    extra: Callable[[], RenderableType | None] | None = None,
    totals: bool = True,
    note: str = "",
    archive: Archive | None = None,
    reconnect: timedelta | None = RECONNECT,
) -> CampaignSummary:
    """Show the campaign until it closes, or ``until`` says so of a summary; the last summary is returned.

    ``extra`` is asked at each refresh for something to show beneath; without a terminal it is printed
    when it is a text that has changed. ``totals``: print the totals once the campaign has closed.
    ``note``: what holds for all of it. ``archive``: the campaign's, for names of zones. Raises NotFound, and
    Refused where the campaign was terminated or failed. That no worker is there is shown, and looked at
    again; so is that Temporal does not answer, for as long as ``reconnect`` (None: for ever), then it raises
    TemporalTrouble.
    """
    watcher = _Watcher(client, name, console, extra, note, archive, Away(time.monotonic, reconnect))
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=False) as live:
            summary = await watcher.follow(until, lambda picture: live.update(picture, refresh=True))
    else:
        if note:
            console.print(f"{name}: {note}", markup=False, soft_wrap=True)
        summary = await watcher.follow(until, None)
    if totals and summary.state == CampaignPhase.CLOSED:
        console.print(totals_view(summary, watcher.progress(summary), plain=_plain(console)))
    return summary


def _missing(name: str) -> NotFound:
    return NotFound(f"there is no campaign {name}", "`edgeshift status` lists the campaigns")


def _plain(console: Console) -> bool:
    return not console.encoding.lower().startswith("utf")


class _Watcher:
    def __init__(
        self,
        client: Client,
        name: str,
        console: Console,
        extra: Callable[[], RenderableType | None] | None,
        note: str,
        archive: Archive | None,
        away: Away,
    ) -> None:
        self._note = note
        self._archive = archive
        self._names: dict[int, str] = {}
        self._away = away
        self._client = client
        self._name = name
        self._console = console
        self._extra = extra
        self._pace = Pace()
        self._last: CampaignSummary | None = None
        self._before: CampaignSummary | None = None
        self._told: set[Said] = set()
        self._trouble = ""
        self._news = ""
        self._printed = 0.0
        self._counts = ""
        self._text = ""

    def progress(self, summary: CampaignSummary) -> Progress:
        return self._pace.progress(
            summary, summary.now if summary.state == CampaignPhase.CLOSED else datetime.now(UTC)
        )

    async def follow(
        self,
        until: Callable[[CampaignSummary], bool] | None,
        draw: Callable[[RenderableType], None] | None,
    ) -> CampaignSummary:
        while True:
            summary = await self._look()
            await self._learn_names(summary)
            if draw:
                draw(self._picture(summary))
            else:
                self._print(summary)
            if summary is not None and (
                summary.state == CampaignPhase.CLOSED or (until is not None and until(summary))
            ):
                return summary
            await asyncio.sleep(self._away.pause(EVERY))

    async def _learn_names(self, summary: CampaignSummary | None) -> None:
        """The names of zones that were left out: the campaign knows them by their indexes."""
        if summary is None or self._archive is None or not summary.excluded.keys() - self._names.keys():
            return
        try:
            targets = await frozen_targets(self._archive, summary.targets)
        except ArchiveError:
            # They have their numbers, then, and it is tried once.
            self._archive = None
            return
        self._names |= {at: targets[at].zone.name for at in summary.excluded if at < len(targets)}

    async def _look(self) -> CampaignSummary | None:
        """What the campaign has published; of one that has closed, what its result says."""
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                described = await describe(self._client, campaign_id(self._name))
                if described is None:
                    self._away.missing()
                    raise _missing(self._name)
                if described.status not in _GOES_ON:
                    return await self._ended(described)
                self._last = await published(described) or self._last
        except (TemporalTrouble, TimeoutError) as error:
            self._not_answered(error)
            return None
        self._news = self._away.answered()
        if (waits := unattended(described, datetime.now(UTC))) > PATIENCE:
            self._trouble = f"no worker has taken its task for {waits:.0f}s; `edgeshift worker` starts one"
            return None
        self._trouble = ""
        return self._last

    def _not_answered(self, error: TemporalTrouble | TimeoutError) -> None:
        if not isinstance(error, TemporalTrouble):
            error = TemporalTrouble(f"nothing came within {ANSWER_WITHIN:.0f}s")
        self._news = self._away.failed(error)
        again = self._away.pause(EVERY)
        why = one_line(error.text, 120)
        self._trouble = f"no answer for {self._away.lasts:.0f}s: {why}; next try in {again:.0f}s"

    async def _ended(self, described: WorkflowExecutionDescription) -> CampaignSummary | None:
        """The summary of a campaign that has closed. Raises Refused where it was ended from outside."""
        result = await campaign_result(self._client, self._name)
        if result is None:
            return None
        start = await campaign_input(self._client, self._name)
        ended = described.close_time or datetime.now(UTC)
        return closed_summary(start, result, ledger_of(start, result), ended)

    def _picture(self, summary: CampaignSummary | None) -> RenderableType:
        shown = summary or self._last
        extra = self._extra() if self._extra else None
        if shown is None:
            waiting = Text(f"  {self._name}: {self._trouble or 'asking …'}", style="yellow")
            return waiting if extra is None else Group(waiting, extra)
        return campaign_view(
            shown,
            self._pace.progress(shown, datetime.now(UTC)),
            datetime.now(UTC),
            plain=_plain(self._console),
            trouble=self._trouble,
            note=self._note,
            names=self._names,
            extra=extra,
        )

    def _print(self, summary: CampaignSummary | None) -> None:
        now = datetime.now(UTC)
        if self._news:
            self._line(now, f"{self._name}: {self._news}")
            self._news = ""
        if summary is None:
            # Of Temporal that is away, one line is enough; of a campaign that has just begun, none.
            if self._trouble and self._away.since is None:
                self._line(now, f"{self._name}: {self._trouble}")
            return
        before, self._before = self._before, summary
        for line in changed_lines(before, summary, self._names, self._told):
            self._line(now, line)
        self._told |= said_in(summary)
        extra = self._extra() if self._extra else None
        if isinstance(extra, (str, Text)) and str(extra) != self._text:
            self._text = str(extra)
            for line in self._text.splitlines():
                self._line(now, line)
        counts = ", ".join(
            f"{count:,} {look(place, summary.area).label}" for place, count in ordered(summary.places)
        )
        due = time.monotonic() - self._printed >= PLAIN_EVERY or summary.state == CampaignPhase.CLOSED
        if counts != self._counts and due:
            self._counts, self._printed = counts, time.monotonic()
            progress = self._pace.progress(summary, now)
            rate = f" ({progress.rate:,.1f} {word('zone', summary.area)}s/min)" if progress.rate else ""
            left = f", about {lasting(progress.left)} left" if progress.left is not None else ""
            self._line(now, f"{progress.done:,}/{progress.count:,} finished{rate}{left}: {counts}")

    def _line(self, now: datetime, text: str) -> None:
        self._console.print(Text(f"{clock(now)} {text}"), soft_wrap=True)

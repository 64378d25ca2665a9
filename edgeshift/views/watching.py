"""The loop behind ``watch``: asks the campaign about once a second and shows what it says.

On a terminal it redraws one picture; elsewhere it prints a line only when something changed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle

from edgeshift.messages import CampaignSummary
from edgeshift.model.fleet import campaign_id
from edgeshift.operations.calls import ask
from edgeshift.operations.campaigns import campaign_input, campaign_result, describe
from edgeshift.operations.errors import NotFound, OperationError
from edgeshift.views.closed import closed_summary, ledger_of
from edgeshift.views.figures import Pace, Progress, changed_lines
from edgeshift.views.live import campaign_view, totals_view
from edgeshift.views.words import clock, lasting, look, one_line, ordered, word

EVERY = 1.0
"""Seconds between two questions."""

PLAIN_EVERY = 5.0
"""Seconds between two lines of counts where there is no terminal."""

_LOOK_AT_STATUS_EVERY = 5


async def watch_campaign(
    client: Client,
    name: str,
    *,
    console: Console,
    until: Callable[[CampaignSummary], bool] | None = None,
    extra: Callable[[], RenderableType | None] | None = None,
    totals: bool = True,
) -> CampaignSummary:
    """Show the campaign until it closes, or ``until`` says so of a summary; the last summary is returned.

    ``extra`` is asked at each refresh for something to show beneath; without a terminal it is printed
    when it is a text that has changed. ``totals``: print the totals once the campaign has closed.
    Raises NotFound, and Refused where the campaign was terminated or failed. A question that gets no
    answer is shown as such and asked again.
    """
    watcher = _Watcher(client, name, console, extra)
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=False) as live:
            summary = await watcher.follow(until, lambda picture: live.update(picture, refresh=True))
    else:
        summary = await watcher.follow(until, None)
    if totals and summary.state == "closed":
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
    ) -> None:
        self._client = client
        self._handle: WorkflowHandle[object, object] = client.get_workflow_handle(campaign_id(name))
        self._name = name
        self._console = console
        self._extra = extra
        self._pace = Pace()
        self._last: CampaignSummary | None = None
        self._before: CampaignSummary | None = None
        self._answered = time.monotonic()
        self._trouble = ""
        self._printed = 0.0
        self._counts = ""
        self._text = ""

    def progress(self, summary: CampaignSummary) -> Progress:
        return self._pace.progress(summary, summary.now if summary.state == "closed" else datetime.now(UTC))

    async def follow(
        self,
        until: Callable[[CampaignSummary], bool] | None,
        draw: Callable[[RenderableType], None] | None,
    ) -> CampaignSummary:
        round_ = 0
        while True:
            # A closed campaign answers from its result; whether it has closed is looked at now and then.
            looks = round_ % _LOOK_AT_STATUS_EVERY == 0 or bool(self._trouble)
            summary = (await self._ended() if looks else None) or await self._ask()
            if draw:
                draw(self._picture(summary))
            else:
                self._print(summary)
            if summary is not None and (summary.state == "closed" or (until is not None and until(summary))):
                return summary
            round_ += 1
            await asyncio.sleep(EVERY)

    async def _ask(self) -> CampaignSummary | None:
        try:
            self._last = await ask(self._handle, "summary", CampaignSummary, f"campaign {self._name}")
        except NotFound:
            raise _missing(self._name) from None
        except OperationError as error:
            self._not_answered(error.text)
            return None
        self._answered, self._trouble = time.monotonic(), ""
        return self._last

    def _not_answered(self, why: str) -> None:
        silent = time.monotonic() - self._answered
        self._trouble = f"no answer for {silent:.0f}s: {one_line(why, 120)}"

    async def _ended(self) -> CampaignSummary | None:
        """The summary of a campaign that has closed, which no worker is needed for; None while it runs."""
        described = await describe(self._client, campaign_id(self._name))
        if described is None:
            raise _missing(self._name)
        status = described.status
        if status in (None, WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CONTINUED_AS_NEW):
            return None
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
            extra=extra,
        )

    def _print(self, summary: CampaignSummary | None) -> None:
        now = datetime.now(UTC)
        if summary is None:
            self._line(now, f"{self._name}: {self._trouble}")
            return
        before, self._before = self._before, summary
        for line in changed_lines(before, summary):
            self._line(now, line)
        extra = self._extra() if self._extra else None
        if isinstance(extra, (str, Text)) and str(extra) != self._text:
            self._text = str(extra)
            for line in self._text.splitlines():
                self._line(now, line)
        counts = ", ".join(
            f"{count:,} {look(place, summary.area).label}" for place, count in ordered(summary.places)
        )
        due = time.monotonic() - self._printed >= PLAIN_EVERY or summary.state == "closed"
        if counts != self._counts and due:
            self._counts, self._printed = counts, time.monotonic()
            progress = self._pace.progress(summary, now)
            rate = f" ({progress.rate:,.1f} {word('zone', summary.area)}s/min)" if progress.rate else ""
            left = f", about {lasting(progress.left)} left" if progress.left is not None else ""
            self._line(now, f"{progress.done:,}/{progress.count:,} finished{rate}{left}: {counts}")

    def _line(self, now: datetime, text: str) -> None:
        self._console.print(Text(f"{clock(now)} {text}"), soft_wrap=True)

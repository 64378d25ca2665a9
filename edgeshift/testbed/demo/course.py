"""The course of a demo: campaigns on an embedded stack, the people's stand-ins, a pause in the
middle, an abort.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.text import Text
from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignSummary
from edgeshift.model.campaign_phase import CampaignPhase
from edgeshift.model.counts import counted
from edgeshift.model.fleet import Target, campaign_id
from edgeshift.operations.campaigns import published, start_campaign
from edgeshift.operations.pen import Pen
from edgeshift.operations.steering import abort, pause, resume
from edgeshift.operations.zones import frozen_targets
from edgeshift.stores.archive import Archive
from edgeshift.testbed.demo.approver import Approver
from edgeshift.testbed.demo.part import Beside, Part
from edgeshift.testbed.demo.scenario import APPROVER, OPERATOR, Scenario
from edgeshift.testbed.invariants.seen import Signature, StopRecord, Word
from edgeshift.testbed.stack import Stack
from edgeshift.views.watching import watch_campaign
from edgeshift.views.words import finished, targets

PAUSE_AT = 0.35
"""The part of the zones that have an outcome when the demo pauses."""

PAUSE_LASTS = 2.0
SHOWN_LINES = 7
SIDE_WAITS = 15.0

Say = Callable[[str], None]


class Teller:
    """What happens, in lines: printed where there is no terminal, the last few under the live picture
    where there is.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lines: deque[str] = deque(maxlen=SHOWN_LINES)
        self.live = False

    def say(self, text: str) -> None:
        """One thing that happened."""
        line = f"{datetime.now(UTC):%H:%M:%S} {text}"
        if self.live and self._console.is_terminal:
            self._lines.append(line)
        else:
            self._console.print(Text(line), soft_wrap=True)

    def picture(self) -> Text | None:
        """The last lines, for the live picture."""
        if not self._console.is_terminal or not self._lines:
            return None
        return Text("\n".join(self._lines), style="dim", no_wrap=True, overflow="ellipsis")


@dataclass
class Played:
    """What the people's stand-ins did, by their own records, and what the campaigns said at their ends."""

    signatures: list[Signature] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    stops: list[StopRecord] = field(default_factory=list)
    summaries: dict[str, CampaignSummary] = field(default_factory=dict)
    targets: dict[str, list[Target]] = field(default_factory=dict)


async def play(
    running: Stack,
    client: Client,
    archive: Archive,
    part: Part,
    scenario: Scenario,
    specs: list[CampaignSpec],
    *,
    console: Console,
    teller: Teller,
) -> Played:
    """Run all campaigns to their ends. Raises where one cannot be started or does not end as it should."""
    played = Played()
    main, side, *others = specs
    pens = {by: Pen(running.keyring.signer(by), archive, by) for by in (OPERATOR, APPROVER)}
    digests: dict[str, str] = {}
    for spec in (side, *others, main):
        started = await start_campaign(client, archive, spec, by=OPERATOR, pen=pens[OPERATOR])
        digests[spec.name] = started.spec
        played.targets[spec.name] = await frozen_targets(archive, started.targets)
        teller.say(f"campaign {spec.name} started: {targets(len(played.targets[spec.name]), part.area)}")
    approvers = [
        Approver(
            client,
            archive,
            spec.name,
            played.targets[spec.name],
            area=part.area,
            judge=part.judge,
            by=APPROVER,
            pen=pens[APPROVER],
            spec=digests[spec.name],
            leaves=[scenario.left],
            say=teller.say,
        )
        for spec in (main, *others)
    ]
    people = part.people(Beside(client, running.control, scenario, teller.say))
    work = [*(one.work() for one in people), *(approver.work() for approver in approvers)]
    async with _at_work(*work):
        stops = [
            asyncio.create_task(_pause_in_the_middle(client, main.name, pens[OPERATOR], teller.say)),
            asyncio.create_task(_abort(client, side.name, pens[OPERATOR], len(scenario.aborted), teller.say)),
        ]
        teller.live = True
        played.summaries[main.name] = await watch_campaign(
            client, main.name, console=console, extra=teller.picture
        )
        teller.live = False
        played.stops = [stop for stop in await asyncio.gather(*stops) if stop is not None]
        for spec in (side, *others):
            handle = client.get_workflow_handle(campaign_id(spec.name))
            await handle.result()
            played.summaries[spec.name] = await handle.query("summary", result_type=CampaignSummary)
    for approver in approvers:
        played.signatures += approver.signatures
        played.bodies += approver.bodies
    played.words = [word for one in people for word in one.words]
    return played


@asynccontextmanager
async def _at_work(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """People who work beside the block. One who fails is heard of at its end."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result


async def _pause_in_the_middle(client: Client, campaign: str, pen: Pen, say: Say) -> StopRecord | None:
    """Pause when a part of the zones is through, look at it for a while, and resume. None if it ended
    before.
    """
    while (summary := await _summary(client, campaign)) is None or finished(
        summary.places
    ) < PAUSE_AT * summary.count:
        if summary is not None and summary.state == CampaignPhase.CLOSED:
            return None
        await asyncio.sleep(0.7)
    say(f"{OPERATOR} asks for a pause, with {counted(summary.permits_out, 'permit')} out")
    asked = datetime.now(UTC)
    answer = await pause(client, campaign, by=OPERATOR, reason="a look in the middle", pen=pen)
    answered = datetime.now(UTC)
    say(f"paused after {(answered - asked).total_seconds():.1f} s: {answer.text}")
    await asyncio.sleep(PAUSE_LASTS)
    resumed = datetime.now(UTC)
    await resume(client, campaign, by=OPERATOR, reason="all well", pen=pen)
    say(f"{OPERATOR} resumes it")
    return StopRecord(
        campaign=campaign,
        kind="pause",
        by=OPERATOR,
        asked_at=asked,
        answered_at=answered,
        resumed_at=resumed,
    )


async def _abort(client: Client, campaign: str, pen: Pen, zones: int, say: Say) -> StopRecord:
    """Abort the small campaign once its zones wait for a sign-off, or have had time enough to."""
    limit = asyncio.get_running_loop().time() + SIDE_WAITS
    while asyncio.get_running_loop().time() < limit:
        summary = await _summary(client, campaign)
        if summary is not None and sum(waiting.zones for waiting in summary.waiting) >= zones - 1:
            break
        await asyncio.sleep(0.5)
    asked = datetime.now(UTC)
    answer = await abort(client, campaign, by=OPERATOR, reason="not this quarter", pen=pen)
    say(f"{OPERATOR} aborts {campaign}: {answer.text}")
    return StopRecord(
        campaign=campaign, kind="abort", by=OPERATOR, asked_at=asked, answered_at=datetime.now(UTC)
    )


async def _summary(client: Client, name: str) -> CampaignSummary | None:
    """What the campaign has published."""
    with contextlib.suppress(RPCError):
        found = await published(await client.get_workflow_handle(campaign_id(name)).describe())
        return found
    return None

"""``edgeshift status --until``: waiting for a campaign to come to a state."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.model.campaign_phase import CampaignPhase
from edgeshift.model.counts import counted
from edgeshift.model.durations import say_duration

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.cli.shell import Shell
    from edgeshift.messages import CampaignSummary


class Until(StrEnum):
    """What a campaign can be waited for. ``waiting``: at least one zone waits for a sign-off."""

    FINISHED = "finished"
    WAITING = "waiting"
    RUNNING = CampaignPhase.RUNNING.value
    PAUSED = CampaignPhase.PAUSED.value
    HALTED = CampaignPhase.HALTED.value


EVERY = 1.0
"""Seconds between two looks at what the campaign has published; no worker is asked."""


def reached(summary: CampaignSummary, until: Until) -> bool:
    """Whether a campaign is what is waited for."""
    from edgeshift.campaign.target_states import AWAITING_WORDS

    match until:
        case Until.FINISHED:
            return summary.state == CampaignPhase.CLOSED
        case Until.WAITING:
            waits = sum(summary.places.get(place, 0) for place in AWAITING_WORDS)
            return waits > 0 and summary.state != CampaignPhase.CLOSED
        case other:
            return summary.state == other.value


async def wait_until(
    shell: Shell, client: Client, campaign: str, until: Until, within: timedelta | None
) -> None:
    """Return once the campaign is what is waited for. Raises CommandError: 8 where that takes longer than
    ``within``, 5 where it has finished and so never will be, 3 where Temporal stays away; NotFound, and
    Refused where the campaign was ended from outside.
    """
    from temporalio.client import WorkflowExecutionStatus

    from edgeshift.model.fleet import campaign_id
    from edgeshift.operations.campaigns import campaign_result, describe, published
    from edgeshift.operations.errors import NotFound, TemporalTrouble
    from edgeshift.views.away import Away

    began = time.monotonic()
    away = Away(time.monotonic)
    last: CampaignSummary | None = None
    with shell.waiting(f"until campaign {campaign} is {until.value}"):
        while True:
            try:
                found = await describe(client, campaign_id(campaign))
                if found is None:
                    away.missing()
                    raise NotFound(
                        f"there is no campaign {campaign}", "`edgeshift status` lists the campaigns"
                    )
                away.answered()
                shell.at_ctrl_c = left(campaign)
                running = found.status is WorkflowExecutionStatus.RUNNING
                if not running and await campaign_result(client, campaign) is not None:
                    if until is Until.FINISHED:
                        return
                    raise CommandError(
                        f"campaign {campaign} has finished, and will not be {until.value} any more",
                        ExitCode.NOTHING,
                        hint=f"`edgeshift status {campaign}` shows how it ended",
                    )
                last = await published(found)
                if last is not None and reached(last, until):
                    return
            except TemporalTrouble as why:
                if said := away.failed(why):
                    shell.notes.print(said, markup=False, soft_wrap=True)
            if within is not None and time.monotonic() - began >= within.total_seconds():
                raise _late(campaign, until, within, last)
            await asyncio.sleep(away.pause(EVERY))


def left(campaign: str) -> str:
    """What whoever leaves a campaign by Ctrl-C is told, which only looked at it: nothing of it stops."""
    return f"left; campaign {campaign} goes on as before"


def _late(campaign: str, until: Until, within: timedelta, last: CampaignSummary | None) -> CommandError:
    from edgeshift.views.words import finished

    now = ""
    if last is not None:
        now = (
            f"; it is {last.state}, with {finished(last.places):,} of {counted(last.count, 'zone')} finished"
        )
    return CommandError(
        f"campaign {campaign} was not {until.value} within {say_duration(within)}{now}",
        ExitCode.TIMEOUT,
        hint=f"`edgeshift status {campaign}` shows what it waits for; --timeout lets it take longer",
    )

"""``edgeshift pause|resume|abort|retry|reopen|support-resolved``: steering a campaign."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.shell import Shell, current, person, run
from edgeshift.model.counts import agreed, counted

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.messages import Answer

Campaign = Annotated[str, typer.Argument(help="The campaign's name.")]
Reason = Annotated[str, typer.Option(help="Why; it is kept.", show_default=False)]
By = Annotated[str, typer.Option(help="Who asks. Default: EDGESHIFT_USER or your login.", show_default=False)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Zones = Annotated[
    list[str] | None, typer.Option("--zone", help="Only this zone; may be repeated.", show_default=False)
]
Outcomes = Annotated[
    list[str] | None,
    typer.Option("--outcome", help="Only zones that ended so; may be repeated.", show_default=False),
]


def pause(campaign: Campaign, reason: Reason = "", by: By = "") -> None:
    """Begin no new step until resume. Answers once the steps in flight have finished."""
    run(_steer(current(), campaign, "pause", by or person(), reason))


def resume(campaign: Campaign, reason: Reason = "", by: By = "") -> None:
    """Continue after a pause, or after a halt, whose failures it accepts."""
    run(_steer(current(), campaign, "resume", by or person(), reason))


def abort(campaign: Campaign, reason: Reason = "", by: By = "", yes: Yes = False) -> None:
    """End a campaign: nothing new begins; what was sent is verified to the end."""
    run(_abort(current(), campaign, by or person(), reason, yes=yes))


def retry(
    campaign: Campaign, zone: Zones = None, outcome: Outcomes = None, reason: Reason = "", by: By = ""
) -> None:
    """Restart failed and unknown zones; blocked and needs_support ones by --outcome or --zone."""
    run(_again(current(), campaign, "retry", zone or [], outcome or [], by or person(), reason))


def reopen(
    campaign: Campaign, zone: Zones = None, outcome: Outcomes = None, reason: Reason = "", by: By = ""
) -> None:
    """Restart zones on hold or aborted; rejected and rolled-back ones by --outcome or --zone."""
    run(_again(current(), campaign, "reopen", zone or [], outcome or [], by or person(), reason))


def support_resolved(
    campaign: Campaign,
    zone: Annotated[str, typer.Option(help="The zone, by name or identifier.")],
    reason: Reason = "",
    by: By = "",
) -> None:
    """Say that the provider has fixed a zone: it is read again."""
    run(_support_resolved(current(), campaign, zone, by or person(), reason))


async def _steer(shell: Shell, campaign: str, verb: str, by: str, reason: str) -> None:
    from edgeshift import operations

    act = {"pause": operations.pause, "resume": operations.resume, "abort": operations.abort}[verb]
    async with shell.temporal() as client:
        waiting = asyncio.create_task(_tell_meanwhile(shell, client, campaign, verb))
        try:
            answer = await act(client, campaign, by=by, reason=reason)
        finally:
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await waiting
        shell.console.print(f"Campaign {campaign} {answer.text}.", markup=False, soft_wrap=True)
        if answer.sent or answer.in_validation:
            await _name_left(shell, client, campaign, answer)


async def _name_left(shell: Shell, client: Client, campaign: str, answer: Answer) -> None:
    """Name the zones that an abort leaves with a change in flight or in validation mode."""
    from edgeshift import operations
    from edgeshift.stores.archive import ArchiveError
    from edgeshift.views.words import one_line

    try:
        start = await operations.campaign_input(client, campaign)
        targets = await operations.frozen_targets(shell.archive(), start.targets)
        names = {index: targets[index].zone.name for index in (*answer.sent, *answer.in_validation)}
    except (ArchiveError, operations.OperationError) as why:
        # The campaign is aborted all the same: by their numbers, then.
        shell.errors.print(f"the names of the zones cannot be read: {why}", markup=False, soft_wrap=True)
        names = {}
    for said, indexes in (
        ("change may be in flight", answer.sent),
        ("may stay in validation mode", answer.in_validation),
    ):
        for index in indexes:
            name = one_line(names.get(index, f"number {index}"))
            shell.console.print(f"  {said}: {name}", markup=False, soft_wrap=True)


async def _tell_meanwhile(shell: Shell, client: Client, campaign: str, verb: str) -> None:
    """Say how many steps are still in flight, while pause or abort wait for them."""
    from edgeshift import operations

    if verb not in ("pause", "abort"):
        return
    said = -1
    await asyncio.sleep(1)
    while True:
        with contextlib.suppress(operations.OperationError):
            found = await operations.summary(client, campaign)
            if found.permits_out != said and found.state in ("pausing", "aborting"):
                said = found.permits_out
                shell.errors.print(
                    f"{found.state}: {counted(said, 'step')} still in flight …", soft_wrap=True
                )
        await asyncio.sleep(1)


async def _abort(shell: Shell, campaign: str, by: str, reason: str, *, yes: bool) -> None:
    from edgeshift import operations

    async with shell.temporal() as client:
        summary = await operations.summary(client, campaign)
    if summary.state not in ("closed", "aborting"):
        left = sum(number for place, number in summary.places.items() if place in ("pending",))
        zones = f"{counted(summary.open_runs, 'zone')} {agreed(summary.open_runs, 'is', 'are')} open"
        say = f"Campaign {campaign}: {zones}, {left:,} not started; all will end."
        shell.console.print(say, markup=False, soft_wrap=True)
        shell.confirm(f"Abort campaign {campaign} as {by}?", yes=yes)
    await _steer(shell, campaign, "abort", by, reason)


async def _again(
    shell: Shell, campaign: str, verb: str, zones: list[str], outcomes: list[str], by: str, reason: str
) -> None:
    from edgeshift import operations
    from edgeshift.operations.again import EXCLUDED, VERBS

    if zones and outcomes:
        raise CommandError(
            "--zone and --outcome exclude each other",
            ExitCode.BAD_INPUT,
            hint="give --zone for named zones, or --outcome for all that ended so",
        )
    places = operations.outcomes_of(verb, outcomes)
    if zones:
        # A zone that is named is begun again whichever of the verb's outcomes it has.
        places = [*sorted(outcome.value for outcome in VERBS[verb]), EXCLUDED]
    async with shell.temporal() as client:
        indexes: list[int] = []
        if zones:
            start = await operations.campaign_input(client, campaign)
            targets = await operations.frozen_targets(shell.archive(), start.targets)
            indexes = [operations.pick_zone(targets, zone, campaign, start.area).index for zone in zones]
        answer = await operations.begin_again(
            client, campaign, verb, by=by, reason=reason, indexes=indexes, places=places
        )
    shell.console.print(f"Campaign {campaign} {answer.text}.", markup=False, soft_wrap=True)


async def _support_resolved(shell: Shell, campaign: str, zone: str, by: str, reason: str) -> None:
    from edgeshift import operations

    async with shell.temporal() as client:
        start = await operations.campaign_input(client, campaign)
        targets = await operations.frozen_targets(shell.archive(), start.targets)
        found = operations.pick_zone(targets, zone, campaign, start.area)
        state = await operations.support_resolved(client, found, by=by, reason=reason)
    shell.console.print(f"Zone {found.name} is read again.", markup=False, soft_wrap=True)
    for ticket in state.tickets:
        shell.console.print(f"  its ticket: {ticket}", markup=False, soft_wrap=True)

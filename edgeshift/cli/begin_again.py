"""``edgeshift retry|reopen``: zones that begin again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from edgeshift.cli import candidates
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import AsJson, By, Campaign, Reason, Yes
from edgeshift.cli.shell import Shell, current, run
from edgeshift.model.counts import agreed, counted

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.model.fleet import Zone

MANY = 10
"""Zones of which more are reopened only after a question, where they are not named."""

Zones = Annotated[
    list[str] | None,
    typer.Option(
        "--zone",
        help="Only this zone; may be repeated.",
        show_default=False,
        autocompletion=candidates.zones,
    ),
]


def _outcome(those: str) -> Any:
    return typer.Option(
        "--outcome",
        help=f"Only zones that ended so: {those}; may be repeated.",
        show_default=False,
        autocompletion=candidates.outcomes,
    )


Retried = Annotated[list[str] | None, _outcome("failed, unknown, excluded, blocked, needs_support")]
Reopened = Annotated[list[str] | None, _outcome("on_hold, aborted, excluded, rejected, rolled_back")]


def retry(
    campaign: Campaign,
    zone: Zones = None,
    outcome: Retried = None,
    reason: Reason = "",
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """Restart failed, unknown and excluded zones; blocked and needs_support ones by --outcome or --zone."""
    run(_again(current(), campaign, "retry", zone or [], outcome or [], by, reason, yes=True))


def reopen(
    campaign: Campaign,
    zone: Zones = None,
    outcome: Reopened = None,
    reason: Reason = "",
    by: By = "",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Restart zones on hold, aborted or excluded; rejected and rolled-back ones by --outcome or --zone."""
    run(_again(current(), campaign, "reopen", zone or [], outcome or [], by, reason, yes=yes))


async def _again(
    shell: Shell,
    campaign: str,
    verb: str,
    zones: list[str],
    outcomes: list[str],
    by: str,
    reason: str,
    *,
    yes: bool,
) -> None:
    from edgeshift import operations
    from edgeshift.cli.receipts import BegunAgain, common
    from edgeshift.operations.signed_targets import refuse_other_targets

    if zones and outcomes:
        raise CommandError(
            "--zone and --outcome exclude each other",
            ExitCode.BAD_INPUT,
            hint="give --zone for named zones, or --outcome for all that ended so",
        )
    places = operations.outcomes_of(verb, outcomes)
    if zones:
        # A zone that is named is begun again whichever of the verb's outcomes it has.
        places = operations.outcomes_for(verb)
    pen = shell.pen(by, "operator")
    async with shell.temporal(writes=True) as client:
        indexes: list[int] = []
        named_zones: list[Zone] = []
        with shell.waiting(f"looking for campaign {campaign}"):
            start = await operations.campaign_here(client, shell.archive(), campaign)
        if zones:
            with shell.waiting(f"looking for the zones of campaign {campaign}"):
                targets = await operations.frozen_targets(shell.archive(), start.targets)
            picked = operations.pick_zones(targets, zones, campaign, start.area)
            if pen is not None:
                await refuse_other_targets(pen, campaign, start.spec, start.targets)
            indexes, named_zones = [one.index for one in picked], [one.target.zone for one in picked]
        elif not yes:
            await _ask(shell, client, campaign, places, by)
        with shell.waiting(f"{verb}: waiting for campaign {campaign}"):
            answer = await operations.begin_again(
                client,
                campaign,
                verb,
                by=by,
                reason=reason,
                indexes=indexes,
                places=places,
                pen=pen,
                zones=[zone.id for zone in named_zones],
                accounts=[zone.account for zone in named_zones],
            )
    text = f"Campaign {campaign} {answer.text}."
    named = [targets[index].zone.name for index in indexes if index not in answer.left]
    left = [targets[index].zone.name for index in answer.left]
    if left:
        those = " or ".join(place.replace("_", " ") for place in places)
        text += (
            f" Not restarted, since {agreed(len(left), 'it is', 'they are')} not {those}: {', '.join(left)}."
        )
    receipt = BegunAgain(
        **common(shell, verb, campaign, by, reason),
        text=text,
        zones=named,
        skipped=left,
        outcomes=[] if zones else places,
    )
    shell.answer(receipt, text)


async def _ask(shell: Shell, client: Client, campaign: str, places: list[str], by: str) -> None:
    """Ask whether so many zones are meant, where they are many."""
    from edgeshift import operations

    with shell.waiting(f"asking campaign {campaign}"):
        counts = await operations.counts_at(client, campaign, places)
    if (many := sum(counts.values())) > MANY:
        each = ", ".join(f"{count:,} {place.replace('_', ' ')}" for place, count in counts.items())
        told = f"Campaign {campaign}: {each}; all of them would restart."
        shell.console.print(told, markup=False, soft_wrap=True)
        shell.confirm(
            f"Restart {counted(many, 'zone')} of campaign {campaign}{shell.here} as {by}?", yes=False
        )

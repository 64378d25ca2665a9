"""``edgeshift start``: start a campaign."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli.shell import Shell, current, person, run, said_once
from edgeshift.model.counts import counted

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.campaign_file.spec import CampaignSpec
    from edgeshift.operations import Frozen
    from edgeshift.stores.archive import Archive


def start(
    file: Annotated[Path, typer.Argument(help="The campaign file.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Also when a campaign of this name has ended.")
    ] = False,
    by: Annotated[
        str, typer.Option(help="Who starts it. Default: EDGESHIFT_USER or your login.", show_default=False)
    ] = "",
) -> None:
    """Start a campaign by its plan; without a fresh one, read every zone first."""
    from edgeshift.campaign_file.load import load_campaign

    run(_start(current(), load_campaign(file), file, yes=yes, again=again, by=by or person()))


async def _start(shell: Shell, spec: CampaignSpec, file: Path, *, yes: bool, again: bool, by: str) -> None:
    from edgeshift import operations

    async with shell.temporal() as client:
        await operations.refuse_if_started(client, spec.name, again=again)
        archive = shell.archive()
        digest = await operations.store_spec(archive, spec)
        frozen = await operations.planned(client, spec, digest)
        if frozen is None or not frozen.is_fresh(datetime.now(UTC), spec.plan.fresh):
            old = "No plan of this file as it is now" if frozen is None else "The plan of this file is old"
            shell.console.print(
                f"{old}: reading every zone first (`edgeshift plan {file}` also shows what was read) …",
                soft_wrap=True,
                markup=False,
            )
            frozen = await _read_first(shell, client, archive, spec)
        _show(shell, spec, frozen)
        shell.confirm(f"Start campaign {spec.name} as {by}?", yes=yes)
        await operations.start_campaign(client, archive, spec, by=by, frozen=frozen, again=again)
    shell.console.print(f"Started campaign {spec.name} as {by}.", markup=False, soft_wrap=True)
    shell.console.print(f"  edgeshift watch {spec.name}     follows it")
    shell.console.print(f"  edgeshift status {spec.name}    shows what waits for a sign-off")


async def _read_first(shell: Shell, client: Client, archive: Archive, spec: CampaignSpec) -> Frozen:
    """Read every zone, as a plan does, and say of how many that failed: they are read by themselves later."""
    from edgeshift import operations
    from edgeshift.cli.reading import reading_shown

    with reading_shown(shell) as heard:
        report, result = await operations.assess(
            client, archive, spec, progress=heard, trouble=said_once(shell)
        )
    if unread := sum(1 for line in report.zones if line.error):
        shell.errors.print(
            f"{counted(unread, 'zone')} could not be read; the campaign reads each again when its turn comes",
            soft_wrap=True,
            markup=False,
        )
    return operations.frozen_by(result, report.made_at)


def _show(shell: Shell, spec: CampaignSpec, frozen: Frozen) -> None:
    from edgeshift.campaign_file.warnings import warnings
    from edgeshift.model.durations import say_duration
    from edgeshift.model.window import FEW
    from edgeshift.views.words import word

    say = shell.console.print
    waves = ", ".join(f"{wave.name} {wave.size:,}" for wave in frozen.waves)
    say(f"Campaign {spec.name} ({spec.area.value}) at {spec.service.base_url}", markup=False, soft_wrap=True)
    noun = word("zone", spec.area)
    say(
        f"  {noun}s: {frozen.count:,} in {counted(len(frozen.waves), 'wave')}: {waves}",
        markup=False,
        soft_wrap=True,
    )
    if frozen.planned_at is not None:
        age = say_duration(datetime.now(UTC) - frozen.planned_at)
        say(f"  targets: those of the plan made {age} ago", markup=False)
    policy = spec.sign_off
    who = f"from {', '.join(policy.approvers)}" if policy.approvers else "from anyone who can reach Temporal"
    many = "one approval" if policy.required == 1 else f"{policy.required} approvals"
    each = f", for each {noun} by itself" if policy.per == "zone" else ""
    say(f"  sign-off: {many}, {who}{each}", markup=False, soft_wrap=True)
    grows = f"auto: {FEW} at first, then " if spec.window == "auto" else ""
    say(f"  window: {grows}at most {counted(spec.largest_window, noun)} at work at once", markup=False)
    for warning in warnings(spec):
        say(f"  warning: {warning}", markup=False, soft_wrap=True)

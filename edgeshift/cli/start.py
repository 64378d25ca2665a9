"""``edgeshift start``: start a campaign."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli.approvers import refuse_too_few, warnings_here
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import AsJson, By, Yes
from edgeshift.cli.shell import Shell, current, run
from edgeshift.model.counts import counted
from edgeshift.views.chosen import command

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.campaign_file.spec import CampaignSpec
    from edgeshift.cli.receipts import Started
    from edgeshift.messages import PlanReport
    from edgeshift.operations import Frozen
    from edgeshift.operations.pen import Pen
    from edgeshift.operations.plans import KeptPlan
    from edgeshift.stores.archive import Archive

LARGEST = 500_000_000
"""Bytes of a plan's file: 100,000 zones have some hundred MB."""

FEW = 3
"""Options that are named of a file that has changed."""


def start(
    file: Annotated[
        Path | None, typer.Argument(help="The campaign file; not needed with --plan.", show_default=False)
    ] = None,
    yes: Yes = False,
    again: Annotated[
        bool, typer.Option("--again", help="Also when a campaign of this name has ended.")
    ] = False,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="FILE",
            help="As `plan --out FILE` planned it.",
            show_default=False,
        ),
    ] = None,
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """Start a campaign by its plan; without a fresh one, read every zone first."""
    from edgeshift.campaign_file.load import load_campaign

    spec = load_campaign(file) if file else None
    if plan is not None:
        run(_start_planned(current(), plan, spec, yes=yes, again=again, by=by))
    elif file is not None and spec is not None:
        run(_start(current(), spec, file, yes=yes, again=again, by=by))
    else:
        raise CommandError(
            "name a campaign file, or a plan with --plan",
            ExitCode.BAD_INPUT,
            hint="`edgeshift init campaign.yaml` writes a campaign file",
        )


async def _start(shell: Shell, spec: CampaignSpec, file: Path, *, yes: bool, again: bool, by: str) -> None:
    from edgeshift import operations
    from edgeshift.cli.reading import archive_to_begin
    from edgeshift.operations.plans import last_plan

    refuse_too_few(shell, spec, by)
    async with shell.temporal(writes=True) as client:
        archive = await archive_to_begin(shell, client)
        pen = shell.pen(by, "starter")
        with shell.waiting("looking for the plan"):
            await operations.refuse_if_started(client, spec.name, again=again)
            digest = await operations.store_spec(archive, spec)
            before = await last_plan(client, spec.name)
        frozen = before.frozen if before is not None and before.spec == digest else None
        if frozen is None or not frozen.is_fresh(datetime.now(UTC), spec.plan.fresh):
            why = "There is no plan of this file"
            if before is not None:
                why = await _old(archive, spec, before, digest)
            planned = command("plan", str(file))
            shell.console.print(
                f"{why}: reading every zone first (`{planned}` also shows what was read) …",
                soft_wrap=True,
                markup=False,
            )
            frozen, report = await _read_first(shell, client, archive, spec, by)
            await _say_changes(shell, archive, before, report)
        await _ask_and_start(shell, client, archive, spec, frozen, yes=yes, again=again, by=by, pen=pen)


async def _start_planned(
    shell: Shell, plan: Path, file: CampaignSpec | None, *, yes: bool, again: bool, by: str
) -> None:
    """Start what a plan's file says, or nothing."""
    from edgeshift import operations
    from edgeshift.operations.plans import check_fresh, check_same, kept_plan

    digest, archive = _digest_in(plan), shell.archive()
    kept, spec = await kept_plan(archive, digest)
    if file is not None:
        check_same(file, spec)
    check_fresh(kept, spec, datetime.now(UTC))
    refuse_too_few(shell, spec, by)
    pen = shell.pen(by, "starter")
    async with shell.temporal(writes=True) as client:
        await operations.refuse_if_started(client, spec.name, again=again)
        await _ask_and_start(shell, client, archive, spec, kept.frozen, yes=yes, again=again, by=by, pen=pen)


def _digest_in(plan: Path) -> str:
    """The digest of the plan that a file of ``plan --out`` names. Raises CommandError."""
    import json

    wrong = "is not a plan"
    try:
        with plan.open("rb") as file:
            told = json.loads(file.read(LARGEST + 1)[:LARGEST])
        digest = told["plan"] if isinstance(told, dict) else None
        if isinstance(digest, str) and re.fullmatch(r"[0-9a-f]{64}", digest):
            return digest
    except OSError as problem:
        wrong = f"cannot be read: {problem.strerror}"
    except (ValueError, RecursionError, KeyError):
        pass
    raise CommandError(
        f"--plan {plan} {wrong}",
        ExitCode.BAD_INPUT,
        hint="give a file that `edgeshift plan FILE --out PLAN` has written",
    )


async def _ask_and_start(
    shell: Shell,
    client: Client,
    archive: Archive,
    spec: CampaignSpec,
    frozen: Frozen,
    *,
    yes: bool,
    again: bool,
    by: str,
    pen: Pen | None,
) -> None:
    from edgeshift import operations

    _show(shell, spec, frozen)
    shell.confirm(f"Start campaign {spec.name}{shell.here} as {by}?", yes=yes)
    with shell.waiting("starting the campaign"):
        await operations.start_campaign(client, archive, spec, by=by, frozen=frozen, again=again, pen=pen)
    text = f"Started campaign {spec.name} as {by}."
    shell.answer(_receipt(shell, spec, frozen, by, text), text)
    shell.advise(
        f"  edgeshift watch {spec.name}     follows it",
        f"  edgeshift status {spec.name}    shows what waits for a sign-off",
    )


def _receipt(shell: Shell, spec: CampaignSpec, frozen: Frozen, by: str, text: str) -> Started:
    from edgeshift.cli.receipts import Started, common

    return Started(
        **common(shell, "start", spec.name, by, ""),
        text=text,
        area=spec.area,
        service=spec.service.base_url,
        zones=frozen.count,
        waves={wave.name: wave.size for wave in frozen.waves},
        targets=frozen.targets,
        planned_at=frozen.planned_at,
        warnings=warnings_here(shell, spec),
    )


async def _old(archive: Archive, spec: CampaignSpec, before: KeptPlan, digest: str) -> str:
    """Why the last plan is not started: it is old, or of another version of the file, and what is other."""
    from edgeshift.model.durations import say_duration
    from edgeshift.operations.errors import OperationError
    from edgeshift.operations.plans import differing, kept_spec

    if before.spec == digest:
        age = say_duration(datetime.now(UTC) - before.made_at)
        return f"The plan was made {age} ago, and plan.fresh is {say_duration(spec.plan.fresh)}"
    try:
        options = differing(spec, await kept_spec(archive, before.spec))
    except OperationError:
        options = []
    named = ", ".join(options[:FEW]) + (f" and {len(options) - FEW} more" if len(options) > FEW else "")
    return "The file has changed since its plan" + (f" ({named})" if named else "")


async def _say_changes(shell: Shell, archive: Archive, before: KeptPlan | None, now: PlanReport) -> None:
    """What is other than in the last plan, where there is one that can still be read."""
    from edgeshift.messages import PlanReport
    from edgeshift.operations.plans import changes_since
    from edgeshift.stores.archive import ArchiveError
    from edgeshift.stores.documents import get_document

    if before is None:
        return
    try:
        found = changes_since(await get_document(archive, PlanReport, before.result.report), now)
    except ArchiveError:
        return
    shell.tell("Since that plan:" if found else "Every zone is as in that plan.", indent=0)
    for line in found.lines():
        shell.tell(line)


async def _read_first(
    shell: Shell, client: Client, archive: Archive, spec: CampaignSpec, by: str
) -> tuple[Frozen, PlanReport]:
    """Read every zone, as a plan does, and say of how many that failed: they are read by themselves later."""
    from edgeshift import operations
    from edgeshift.cli.reading import reading_shown, said_once

    with reading_shown(shell) as heard:
        report, result = await operations.assess(
            client, archive, spec, by=by, progress=heard, trouble=said_once(shell)
        )
    if unread := sum(1 for line in report.zones if line.error):
        shell.notes.print(
            f"{counted(unread, 'zone')} could not be read; the campaign reads each again when its turn comes",
            soft_wrap=True,
            markup=False,
        )
    return operations.frozen_by(result, report.made_at), report


def _show(shell: Shell, spec: CampaignSpec, frozen: Frozen) -> None:
    from edgeshift.authority.roots import policy_by
    from edgeshift.model.durations import say_duration
    from edgeshift.model.window import FEW
    from edgeshift.views.words import policy_text, word

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
    policy = policy_by(shell.readable_roots, spec.sign_off)
    say(
        f"  sign-off: {policy_text(policy, noun, signed=shell.asks_for_keys)}",
        markup=False,
        soft_wrap=True,
    )
    grows = f"auto: {FEW} at first, then " if spec.window == "auto" else ""
    say(f"  window: {grows}at most {counted(spec.largest_window, noun)} at work at once", markup=False)
    for warning in warnings_here(shell, spec):
        say(f"  warning: {warning}", markup=False, soft_wrap=True)

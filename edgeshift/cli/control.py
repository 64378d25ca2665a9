"""``edgeshift pause|resume|abort``: steering a campaign, or all of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli import candidates
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.not_all import not_all, not_steered
from edgeshift.cli.options import AsJson, By, Campaign, Reason, Yes, checked_campaign
from edgeshift.cli.shell import Shell, current, run
from edgeshift.cli.unseen import (
    can_be_stopped,
    look_before_steering,
    refuse_other_archive,
    stop_untold,
    untold,
)
from edgeshift.cli.without_key import told_without_key
from edgeshift.model.campaign_phase import ENDING, CampaignPhase
from edgeshift.model.counts import agreed, counted
from edgeshift.runtime.meanwhile import meanwhile
from edgeshift.views.chosen import as_chosen

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.cli.receipts import NotSteered, Steered
    from edgeshift.messages import Answer, CampaignSummary
    from edgeshift.operations.pen import Pen

LAGS = 2.5
"""Seconds by which Temporal's list may lag behind."""

MOST_LISTINGS = 5
"""How often ``pause --all`` looks for campaigns that have begun meanwhile, at most."""

NOT_KNOWN = "not known"
"""The state of a campaign that does not answer."""

CampaignOrAll = Annotated[
    str | None,
    typer.Argument(
        metavar="CAMPAIGN",
        help="The campaign's name.",
        show_default=False,
        callback=checked_campaign,
        autocompletion=candidates.campaigns,
    ),
]


def pause(
    campaign: CampaignOrAll = None,
    every: Annotated[bool, typer.Option("--all", help="Every campaign that runs; asks.")] = False,
    reason: Reason = "",
    by: By = "",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Begin no new step until resume. Answers once the steps in flight have finished."""
    _one_or_all("pause", campaign, every, by, reason, yes)


def resume(
    campaign: CampaignOrAll = None,
    every: Annotated[bool, typer.Option("--all", help="Every campaign that a person paused; asks.")] = False,
    reason: Reason = "",
    by: By = "",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Continue after a pause, or after a halt that nobody has paused, whose failures it accepts."""
    _one_or_all("resume", campaign, every, by, reason, yes)


def abort(
    campaign: Campaign, reason: Reason = "", by: By = "", yes: Yes = False, as_json: AsJson = False
) -> None:
    """End a campaign: nothing new begins; what was sent is verified to the end."""
    run(_abort(current(), campaign, by, reason, yes=yes))


def _one_or_all(verb: str, campaign: str | None, every: bool, by: str, reason: str, yes: bool) -> None:
    shell = current()
    if campaign is not None and every:
        raise CommandError(
            "a campaign and --all exclude each other", ExitCode.BAD_INPUT, hint="give one of the two"
        )
    if campaign is not None:
        run(_steer_one(shell, campaign, verb, by, reason))
    elif every:
        run(_steer_all(shell, verb, by, reason, yes=yes))
    else:
        raise CommandError(
            "Missing argument 'campaign'",
            ExitCode.BAD_INPUT,
            hint=f"name a campaign, or give --all; `edgeshift {verb} --help` lists arguments and options",
        )


async def _steer_one(shell: Shell, campaign: str, verb: str, by: str, reason: str) -> None:
    pen = shell.pen(by, "operator", stops=verb == "pause")
    try:
        async with shell.temporal(writes=True) as client:
            await _steer_and_tell(shell, client, campaign, verb, by, reason, pen)
    except Exception as why:
        problem = await untold(pen, campaign, verb, why)
        if pen is not None and problem is not None:
            await stop_untold(pen, campaign, verb, reason, problem)
        raise


async def _steer_and_tell(
    shell: Shell, client: Client, campaign: str, verb: str, by: str, reason: str, pen: Pen | None
) -> None:
    with shell.waiting(f"{verb}: waiting for campaign {campaign}"):
        receipt = await _steer(shell, client, campaign, verb, by, reason, pen)
    shell.answer(receipt, receipt.text, *_left(receipt.in_flight, receipt.in_validation))


def _left(in_flight: Sequence[str], in_validation: Sequence[str]) -> tuple[str, ...]:
    """What an abort leaves, by names of zones."""
    return (
        *(f"  change may be in flight: {name}" for name in in_flight),
        *(f"  may stay in validation mode: {name}" for name in in_validation),
    )


async def _steer(
    shell: Shell, client: Client, campaign: str, verb: str, by: str, reason: str, pen: Pen | None
) -> Steered:
    from edgeshift import operations
    from edgeshift.cli.receipts import Steered, common

    act = {"pause": operations.pause, "resume": operations.resume, "abort": operations.abort}[verb]
    await look_before_steering(shell, client, campaign, verb, reason, pen)
    try:
        async with meanwhile(_tell_meanwhile(shell, client, campaign, verb)):
            answer = await act(client, campaign, by=by, reason=reason, pen=pen)
        if pen is None:
            answer = await told_without_key(shell, campaign, verb, answer)
    except operations.ToldAlone as why:
        # It obeys all the same: what it leaves is to be looked at.
        why.details = _left(*await _names_left(shell, client, campaign, why.answer))
        raise
    in_flight, in_validation = await _names_left(shell, client, campaign, answer)
    return Steered(
        **common(shell, verb, campaign, by, reason),
        text=f"Campaign {campaign} {answer.text}.",
        in_flight=in_flight,
        in_validation=in_validation,
    )


async def _names_left(
    shell: Shell, client: Client, campaign: str, answer: Answer
) -> tuple[list[str], list[str]]:
    """The names of the zones that an abort leaves with a change in flight, and in validation mode."""
    from edgeshift import operations
    from edgeshift.stores.archive import ArchiveError
    from edgeshift.views.words import one_line

    if not answer.sent and not answer.in_validation:
        return [], []
    try:
        start = await operations.campaign_input(client, campaign)
        targets = await operations.frozen_targets(shell.archive(), start.targets)
        names = {index: targets[index].zone.name for index in (*answer.sent, *answer.in_validation)}
    except (ArchiveError, operations.OperationError) as why:
        # The campaign is aborted all the same: by their numbers, then.
        shell.errors.print(f"the names of the zones cannot be read: {why}", markup=False, soft_wrap=True)
        names = {}

    def named(indexes: Sequence[int]) -> list[str]:
        return [one_line(names.get(index, f"number {index + 1:,}")) for index in indexes]

    return named(answer.sent), named(answer.in_validation)


async def _tell_meanwhile(shell: Shell, client: Client, campaign: str, verb: str) -> None:
    """Say how many steps are still in flight, while pause or abort wait for them: by what the campaign has
    published, which may be two seconds old. No worker is asked.
    """
    from edgeshift import operations
    from edgeshift.model.fleet import campaign_id
    from edgeshift.operations.campaigns import describe, published

    if verb not in ("pause", "abort"):
        return
    said = -1
    await asyncio.sleep(1)
    while True:
        with contextlib.suppress(operations.OperationError):
            described = await describe(client, campaign_id(campaign))
            found = None if described is None else await published(described)
            stops = found is not None and found.state in (CampaignPhase.PAUSING, CampaignPhase.ABORTING)
            if found is not None and stops and found.permits_out != said:
                said = found.permits_out
                shell.notes.print(
                    f"{campaign} is {found.state}: {counted(said, 'step')} still in flight …", soft_wrap=True
                )
        await asyncio.sleep(1)


async def _abort(shell: Shell, campaign: str, by: str, reason: str, *, yes: bool) -> None:
    from edgeshift import operations

    pen, asked = shell.pen(by, "operator", stops=True), False
    try:
        async with shell.temporal(writes=True) as client:
            with shell.waiting(f"asking campaign {campaign}"):
                await refuse_other_archive(shell, client, campaign, "abort")
                summary = await operations.summary(client, campaign)
            if summary.state == CampaignPhase.CLOSED and pen and await can_be_stopped(pen, campaign):
                say = (
                    f"Campaign {campaign} is closed, by what Temporal says; no zone of it could begin again."
                )
                shell.console.print(say, markup=False, soft_wrap=True)
                shell.confirm(f"Abort campaign {campaign}{shell.here} as {by}?", yes=yes)
            if summary.state not in ENDING:
                left = sum(number for place, number in summary.places.items() if place in ("pending",))
                zones = f"{counted(summary.open_runs, 'zone')} {agreed(summary.open_runs, 'is', 'are')} open"
                say = f"Campaign {campaign}: {zones}, {left:,} not started; all will end."
                shell.console.print(say, markup=False, soft_wrap=True)
                shell.confirm(f"Abort campaign {campaign}{shell.here} as {by}?", yes=yes)
            asked = True
            await _steer_and_tell(shell, client, campaign, "abort", by, reason, pen)
    except Exception as why:
        problem = await untold(pen, campaign, "abort", why, begun=asked)
        if pen is None or problem is None:
            raise
        if not asked:
            say = f"{problem.text}: how many zones are open is not known."
            shell.console.print(say, markup=False, soft_wrap=True)
            shell.confirm(f"Abort campaign {campaign}{shell.here} as {by}?", yes=yes)
        await stop_untold(pen, campaign, "abort", reason, problem)
        raise


@dataclass(frozen=True)
class _Stands:
    """How a campaign stands. ``by_hand``: a person has paused it; of one that does not answer, as it has
    published. ``halted``: it is, also where its state says that it is paused.
    """

    state: str
    by_hand: bool = False
    halted: bool = False

    @classmethod
    def of(cls, summary: CampaignSummary | None) -> _Stands:
        """By this summary; one that has published nothing yet has just begun."""
        if summary is None:
            return cls(CampaignPhase.RUNNING)
        return cls(summary.state, bool(summary.stopped_by), bool(summary.halted))

    def text(self, verb: str) -> str:
        """How it stands, for whoever is asked whether it is meant."""
        if not self.halted or self.state == CampaignPhase.HALTED:
            return self.state
        stays = "; it stays halted" if _is_meant(verb, self) and verb == "resume" else ""
        return f"{self.state} and halted{stays}"


def _is_meant(verb: str, stands: _Stands) -> bool:
    """Whether ``--all`` means a campaign."""
    if verb == "pause":
        # One that paused itself would go on by itself.
        paused = stands.state in (CampaignPhase.PAUSED, CampaignPhase.PAUSING) and stands.by_hand
        return not paused and stands.state not in ENDING
    # One that paused itself says why; that is put right first, and then it is resumed by its name.
    return stands.state in (CampaignPhase.PAUSED, CampaignPhase.PAUSING, NOT_KNOWN) and stands.by_hand


async def _steer_all(shell: Shell, verb: str, by: str, reason: str, *, yes: bool) -> None:
    from edgeshift import operations
    from edgeshift.cli.receipts import NotSteered, Steered, SteeredAll

    pen = shell.pen(by, "operator", stops=verb == "pause")
    async with shell.temporal(writes=True) as client:
        with shell.waiting("asking every campaign that runs"):
            found = await _running(client, verb)
            if verb == "pause" and not any(_is_meant(verb, stands) for stands in found.values()):
                await asyncio.sleep(LAGS)
                found = await _running(client, verb)
        meant = [name for name, stands in found.items() if _is_meant(verb, stands)]
        if not meant:
            raise CommandError(
                f"there is no campaign to {verb}",
                ExitCode.NOTHING,
                hint="`edgeshift status` lists the campaigns and how each stands",
            )
        say = shell.console.print
        for name in (*meant, *(name for name in found if name not in meant)):
            word = "" if name in meant else "not "
            say(f"  {word}{name}: {found[name].text(verb)}", markup=False, soft_wrap=True)
        many = counted(len(meant), "campaign")
        shell.confirm(f"{verb.capitalize()} {many}{shell.here} as {by}?", yes=yes)

        async def one(name: str) -> Steered | NotSteered:
            if verb == "resume" and found[name].state == NOT_KNOWN:
                # It may have paused itself since: nobody has looked at why.
                return NotSteered(campaign=name, message="it did not answer, and nobody knows how it stands")
            try:
                now = await operations.summary(client, name) if verb == "resume" else None
                if now is not None and now.state == CampaignPhase.HALTED:
                    # Somebody was quicker: what failed is for a person to look at, who resumes it by name.
                    return NotSteered(campaign=name, message="its pause has ended meanwhile, it is halted")
                return await _steer(shell, client, name, verb, by, reason, pen)
            except Exception as why:
                if (failed := not_steered(name, why)) is None:
                    raise
                return failed

        with shell.waiting(f"{verb}: waiting for {many}"):
            ended = list(await asyncio.gather(*(one(name) for name in meant)))
        if verb == "pause":
            ended += await _those_that_began(shell, client, found, meant, one)
    done = [one for one in ended if isinstance(one, Steered)]
    failed = [one for one in ended if isinstance(one, NotSteered)]
    left_out = [name for name in found if name not in meant]
    told = SteeredAll(campaigns=done, failed=failed, left_out=left_out)
    shell.answer(told, *(receipt.text for receipt in done))
    if failed and shell.as_json:
        raise typer.Exit(ExitCode.FAILED)
    if failed:
        raise not_all(verb, failed, len(meant), key=pen is not None)


async def _those_that_began(
    shell: Shell,
    client: Client,
    found: dict[str, _Stands],
    meant: list[str],
    one: Callable[[str], Awaitable[Steered | NotSteered]],
) -> list[Steered | NotSteered]:
    """Pause those as well that Temporal lists only now, or that somebody has resumed meanwhile, until there
    are none; ``found`` and ``meant`` have them afterwards.
    """
    ended: list[Steered | NotSteered] = []
    for _ in range(MOST_LISTINGS):
        with shell.waiting("pause: looking for campaigns that have just begun"):
            await asyncio.sleep(LAGS)
            found |= await _running(client, "pause")
        new = [name for name, stands in found.items() if name not in meant and _is_meant("pause", stands)]
        if not new:
            return ended
        for name in new:
            shell.console.print(f"  also {name}: {found[name].state}", markup=False, soft_wrap=True)
        meant += new
        with shell.waiting(f"pause: waiting for {counted(len(new), 'campaign')}"):
            ended += await asyncio.gather(*(one(name) for name in new))
    said = as_chosen("campaigns go on beginning: look with `edgeshift status`, and pause what has begun")
    shell.errors.print(said, markup=False, soft_wrap=True)
    return ended


async def _running(client: Client, verb: str) -> dict[str, _Stands]:
    """Every campaign of the namespace that runs, as far as Temporal lists it by now, and how it stands: by
    what it has published of itself where that ends it, or where ``pause`` means it anyway; each other is
    asked itself, since what it has published may be some seconds old.
    """
    from temporalio.client import WorkflowExecutionStatus

    from edgeshift import operations
    from edgeshift.model.fleet import campaign_id, campaign_name
    from edgeshift.operations.campaigns import describe, published
    from edgeshift.views.finding import campaigns
    from edgeshift.views.gathering import each

    # Of a run that has just gone on in a new one, the list may not have the new one yet.
    names = [
        campaign_name(execution.id)
        async for execution in campaigns(client)
        if execution.close_time is None or execution.status is WorkflowExecutionStatus.CONTINUED_AS_NEW
    ]

    async def standing(name: str) -> _Stands | None:
        described = await describe(client, campaign_id(name))
        if described is None or described.status is not WorkflowExecutionStatus.RUNNING:
            return None
        stands = _Stands.of(await published(described))
        if stands.state in ENDING or (verb == "pause" and _is_meant(verb, stands)):
            return stands
        try:
            return _Stands.of(await operations.summary(client, name))
        except operations.OperationError:
            # It is steered like the others, and says itself why it cannot be; but nothing is resumed of which
            # nobody knows that it was paused.
            return _Stands(NOT_KNOWN, stands.by_hand)

    standings = zip(names, await each(names, standing), strict=True)
    return {name: stands for name, stands in standings if stands is not None}

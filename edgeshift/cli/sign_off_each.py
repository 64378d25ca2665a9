"""``edgeshift sign-off`` for zones that each need a decision of their own: grouped by what keeps them from
being signed together, decided on as a list, with a receipt for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from edgeshift.cli.decision import DecisionAsked
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.parts import CLI
from edgeshift.cli.proposals import show_digest, show_facts, show_otherwise
from edgeshift.cli.shell import Shell
from edgeshift.model.counts import agreed, counted
from edgeshift.model.sign_off import Choice
from edgeshift.views.chosen import command

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.cli.receipts import NotSigned, SignedZone
    from edgeshift.messages import CampaignSummary
    from edgeshift.model.fleet import Target
    from edgeshift.operations.apart import Alike, Apart, Heard
    from edgeshift.operations.errors import NotThatZone
    from edgeshift.operations.zones import FoundZone
    from edgeshift.stores.archive import Archive

FEW = 5
"""Zones that are named where they may be many, such as those of a cause."""


async def show_causes(shell: Shell, campaign: str, wave: int | None, *, as_json: bool) -> None:
    """Print why zones wait for a sign-off of their own, and how many for what."""
    from edgeshift.operations.apart import alike

    async with shell.temporal() as client:
        summary, archive, targets = await _campaign(shell, client, campaign, wave)
        zones, total, others = await _zones_apart(shell, client, archive, summary, targets, wave)
    groups = alike(zones)
    if as_json:
        shell.print_json(
            {"campaign": campaign, "waiting": total, "causes": [_data(group) for group in groups]}
        )
        return
    if not groups:
        other = "other " if others else ""
        shell.tell(f"No {other}zone of campaign {campaign} waits for a sign-off of its own.", indent=0)
        return
    for group in groups:
        lead = Text(f"{group.cause.key}  ", style="bold")
        shell.tell(f"{counted(len(group.zones), 'zone')}: {group.cause.text}", lead=lead, indent=0)
        names = ", ".join(one.found.name for one in group.zones[:FEW])
        more = f" and {len(group.zones) - FEW:,} more" if len(group.zones) > FEW else ""
        shell.tell(f"{names}{more}")
    if total > len(zones) + others:
        shell.tell(f"These are the first {len(zones):,} of {total:,} zones.", indent=0, style="yellow")
    # An approval is offered of no zone whose evidence failed.
    offered = next((group for group in groups if not _failed(group)), None)
    choice = "approve" if offered else "reject"
    shell.tell(f"To see the evidence of each of its zones, and {choice} them:", indent=0)
    # On a line of its own, so that it can be copied.
    key = (offered or groups[0]).cause.key
    shell.console.print(
        f"  {command('sign-off', choice, campaign, '--cause', key)}", markup=False, soft_wrap=True
    )


async def _zones_apart(
    shell: Shell,
    client: Client,
    archive: Archive,
    summary: CampaignSummary,
    targets: Sequence[Target],
    wave: int | None,
) -> tuple[list[Apart], int, int]:
    """The zones that wait for a sign-off of their own, how many there are in all, and how many of those that
    were looked at are left out, since another answers for them: these are told.
    """
    from edgeshift.operations.apart import zones_apart

    others: list[NotThatZone] = []
    with _looking(shell) as heard:
        found, total = await zones_apart(
            client,
            archive,
            summary.area,
            targets,
            summary.name,
            wave=_index(wave),
            heard=heard,
            roots=shell.readable_roots,
            otherwise=others.append,
        )
    _tell_others(shell, others)
    return found, total, len(others)


def _tell_others(shell: Shell, others: Sequence[NotThatZone]) -> None:
    """Print of which zones another has answered: they are not decided on, and keep nobody from the rest."""
    told = [why.what for why in others[:FEW]]
    if len(others) > FEW:
        told.append(f"{counted(len(others) - FEW, 'more zone')} as which another answers")
    for words in told:
        shell.tell(words, lead="not shown, and not signed: ", indent=0, style="yellow")


def _failed(group: Alike) -> bool:
    """Whether the evidence of one of these zones failed."""
    return any(one.shown is not None and one.shown.speaks_against for one in group.zones)


async def sign_cause(
    shell: Shell,
    asked: DecisionAsked,
    campaign: str,
    *,
    cause: str,
    wave: int | None,
    leave_out: Sequence[str],
) -> None:
    """Decide on each zone that waits singly for this cause, but for those that are left out. Raises
    CommandError where one of them could not be decided on; the others are.
    """
    from edgeshift import operations
    from edgeshift.operations.apart import of_cause

    async with shell.temporal(writes=True) as client:
        summary, archive, targets = await _campaign(shell, client, campaign, wave)
        there, _, _ = await _zones_apart(shell, client, archive, summary, targets, wave)
        chosen = of_cause(there, cause, campaign)
        out = {one.index for one in operations.pick_zones(targets, leave_out, campaign, summary.area)}
        _refuse_others(out - {one.found.index for one in chosen}, targets, cause)
        left = [one for one in chosen if one.found.index not in out]
        await _sign_each(shell, client, asked, summary, left, cause)


async def sign_named(
    shell: Shell,
    client: Client,
    asked: DecisionAsked,
    summary: CampaignSummary,
    archive: Archive,
    named: Sequence[FoundZone],
) -> None:
    """Decide on each of these zones, all of which have to wait. Raises CommandError where one does not: then
    on none; and where one of them could not be decided on: the others are. NotFound where another campaign
    has one of them.
    """
    from edgeshift.operations.apart import looked_at

    with _looking(shell) as heard:
        chosen = await looked_at(
            client, archive, summary.area, named, heard=heard, roots=shell.readable_roots
        )
    await _refuse_gone(client, named, chosen, asked.command)
    await _sign_each(shell, client, asked, summary, chosen)


async def _sign_each(
    shell: Shell,
    client: Client,
    asked: DecisionAsked,
    summary: CampaignSummary,
    chosen: Sequence[Apart],
    cause: str = "",
) -> None:
    """Show what each zone proposes, ask once, and decide on each by itself. Raises CommandError where one of
    them could not be decided on; the others are.
    """
    from edgeshift.authority.roots import Role
    from edgeshift.cli.receipts import SignedEach, common
    from edgeshift.operations.signed_targets import refuse_other_targets

    campaign = summary.name
    chosen = _shown_ones(shell, asked.choice, chosen)
    shell.say_note(await shell.note_of(campaign, summary.spec))
    with shell.paged():
        _show(shell, chosen, raw=asked.raw)
    await asked.confirm(shell, summary, f"{counted(len(chosen), 'zone')}, each by itself,")
    if (pen := asked.where.pen(shell, asked.by)) is not None:
        # Before the first is signed: some may be of accounts on which this person does not decide.
        pen.refuse_without(Role.APPROVER, *(one.state.zone.account for one in chosen))
        await refuse_other_targets(pen, campaign, summary.spec, summary.targets)
        for one in chosen:
            not_for = await pen.proposal(campaign, summary.spec, one.state, asked.choice, asked.reason)
            asked.where.not_signed_for.append(not_for)
    if await asked.where.done(shell):
        return
    decided, failed = await _decide(shell, client, asked, chosen)
    if shell.as_json:
        text = f"{counted(len(decided), 'zone')} {asked.choice.past}"
        known = common(shell, "sign-off", campaign, asked.by, asked.reason)
        shell.print_json(
            SignedEach(
                **known, text=text, choice=asked.choice.value, cause=cause, decided=decided, failed=failed
            )
        )
        if failed:
            raise typer.Exit(ExitCode.REFUSED)
    elif failed:
        names = ", ".join(one.name for one in failed[:5])
        raise CommandError(
            f"{counted(len(failed), 'zone')} of {len(chosen):,} could not be decided on: {names}",
            ExitCode.REFUSED,
            hint="each says above why; look at what it proposes now: edgeshift show ZONE",
        )


async def _campaign(
    shell: Shell, client: Client, campaign: str, wave: int | None
) -> tuple[CampaignSummary, Archive, list[Target]]:
    from edgeshift import operations
    from edgeshift.operations.zones import check_wave

    summary = await operations.summary(client, campaign)
    archive = shell.archive()
    await operations.check_archive(archive, summary)
    if wave:
        check_wave(campaign, wave - 1, len(summary.waves))
    return summary, archive, await operations.frozen_targets(archive, summary.targets)


def _index(wave: int | None) -> int | None:
    return wave - 1 if wave else None


async def _refuse_gone(
    client: Client, named: Sequence[FoundZone], chosen: Sequence[Apart], command: str
) -> None:
    from edgeshift import operations

    there = {one.found.index for one in chosen}
    if not (gone := [one for one in named if one.index not in there][:FEW]):
        return
    for one in gone:
        try:
            # One that is with another campaign is told as that.
            await operations.zone_state(client, one, command)
        except operations.NotFound as why:
            raise operations.NotFound(f"{why.text}; nothing was signed", why.hint) from None
    raise CommandError(
        f"{', '.join(one.name for one in gone)} {agreed(len(gone), 'does', 'do')} not wait for a sign-off;"
        " nothing was signed",
        ExitCode.NOTHING,
        hint=f"`edgeshift status {gone[0].campaign} --phase awaiting` lists what waits",
    )


def _refuse_others(others: set[int], targets: Sequence[Target], cause: str) -> None:
    """A zone that is left out and was never in is a mistake, maybe of another cause."""
    if others:
        wrong = ", ".join(sorted(targets[index].zone.name for index in others))
        raise CommandError(
            f"--except {wrong}: no such zone waits for cause {cause!r}; nothing was signed",
            ExitCode.BAD_INPUT,
            hint="leave out only zones that would be decided on",
        )


def _shown_ones(shell: Shell, choice: Choice, chosen: Sequence[Apart]) -> Sequence[Apart]:
    """Those that may be decided on: what nobody can read may be rejected, and nothing else."""
    if choice is Choice.APPROVE:
        for one in chosen:
            if one.shown is None:
                shell.tell(f"{one.found.name}: not shown, and not signed: {one.trouble}", style="yellow")
        chosen = [one for one in chosen if one.shown is not None]
    if not chosen:
        raise CommandError(
            "no zone is left to decide on; nothing was signed",
            ExitCode.NOTHING,
            hint="leave fewer zones out, or name others",
        )
    return chosen


def _show(shell: Shell, chosen: Sequence[Apart], *, raw: bool) -> None:
    """Print each body once, and below it every zone that proposes it, with its own evidence."""
    from edgeshift.operations.group import Otherwise, differences

    bodies: dict[str, list[Apart]] = {}
    for one in chosen:
        bodies.setdefault(one.state.fingerprint, []).append(one)
    for number, (fingerprint, some) in enumerate(bodies.items(), 1):
        place = f" {number} of {len(bodies)}" if len(bodies) > 1 else ""
        show_digest(shell, f"fingerprint{place}", fingerprint, indent=0)
        shell.tell(f"{len(some):,}", lead="zones that are decided on, each by itself: ")
        if (example := some[0].shown) is not None:
            show_facts(shell, example, example=True, raw=raw, evidence=False)
        for one in some:
            shell.tell(one.found.name, indent=2, style="bold")
            show_digest(shell, "digest", one.state.digest, indent=4)
            if one.shown is None:
                shell.tell(one.trouble, lead="not shown: ", indent=4, style="yellow")
            else:
                more, less = differences(example, one.shown) if example else ((), ())
                show_otherwise(shell, Otherwise((), more, less), named=False)
                CLI.of(one.shown.area).show_evidence(shell, one.shown)


async def _decide(
    shell: Shell, client: Client, asked: DecisionAsked, chosen: Sequence[Apart]
) -> tuple[list[SignedZone], list[NotSigned]]:
    """Decide on each, and say so; those that were decided on, and those of which that failed."""
    from edgeshift import operations
    from edgeshift.cli.receipts import NotSigned, SignedZone
    from edgeshift.views.words import short

    decided, failed = [], []
    for one in chosen:
        name = one.found.name
        try:
            answer = await operations.sign_zone(
                client, one.found, one.state.digest, asked.choice, by=asked.by, reason=asked.reason
            )
        except operations.OperationError as why:
            failed.append(NotSigned(name=name, message=why.text))
            shell.tell(f"{name}: not {asked.choice.past}: {why.text}", indent=0, style="yellow")
        else:
            zone = SignedZone(name=name, id=one.found.target.zone.id, digest=one.state.digest)
            decided.append(zone)
            shell.tell(f"{answer.text}: digest {short(one.state.digest)}", indent=0)
    return decided, failed


def _data(group: Alike) -> dict[str, Any]:
    return {
        "cause": group.cause.key,
        "text": group.cause.text,
        "zones": [
            {
                "zone": one.found.name,
                "id": one.found.target.zone.id,
                "digest": one.state.digest,
                "fingerprint": one.state.fingerprint,
                "evidence": one.state.evidence or None,
                "trouble": one.trouble,
            }
            for one in group.zones
        ],
    }


@contextmanager
def _looking(shell: Shell) -> Iterator[Heard]:
    """What hears how many zones were looked at, and shows it on a terminal."""
    if shell.as_json or shell.quiet or not shell.notes.is_terminal:
        yield lambda done, of: None
        return
    with shell.notes.status("looking at what waits …") as status:
        yield lambda done, of: status.update(f"looked at {done:,} of {of:,} zones …")

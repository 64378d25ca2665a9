"""``edgeshift sign-off approve|reject``: a person's decision, bound to exactly what was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.parts import MOST_LINES
from edgeshift.cli.proposals import show_facts, show_proposal
from edgeshift.cli.shell import Shell, current, person, run
from edgeshift.model.counts import counted

if TYPE_CHECKING:
    from edgeshift.messages import CampaignSummary
    from edgeshift.model.sign_off import Choice
    from edgeshift.operations import Preview, ToSign

app = typer.Typer(help="Approve or reject what waits for a sign-off.")

Campaign = Annotated[str, typer.Argument(help="The campaign's name.")]
Zone = Annotated[str, typer.Option(help="One zone, by name or identifier.", show_default=False)]
Fingerprint = Annotated[
    str, typer.Option(metavar="PREFIX", help="Every zone that shares this fingerprint.", show_default=False)
]
Wave = Annotated[int | None, typer.Option(min=1, help="All that waits in this wave now.", show_default=False)]
Digest = Annotated[
    str, typer.Option(help="With --zone: the digest that you saw; refused if it changed.", show_default=False)
]
Reason = Annotated[str, typer.Option(help="Why; it is kept with the decision.", show_default=False)]
By = Annotated[
    str, typer.Option(help="Who signs. Default: EDGESHIFT_USER or your login.", show_default=False)
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def _command(choice: str, told: str) -> None:
    """Add the command of a choice; both have the same options."""

    @app.command(choice, help=told)
    def sign(
        campaign: Campaign,
        zone: Zone = "",
        fingerprint: Fingerprint = "",
        wave: Wave = None,
        digest: Digest = "",
        reason: Reason = "",
        by: By = "",
        yes: Yes = False,
    ) -> None:
        from edgeshift.model.sign_off import LONGEST_REASON, Choice

        if sum(map(bool, (zone, fingerprint, wave))) != 1:
            raise CommandError(
                "name exactly one of --zone, --fingerprint and --wave",
                ExitCode.BAD_INPUT,
                hint=f"`edgeshift status {campaign}` shows what waits",
            )
        if digest and not zone:
            raise CommandError(
                "--digest needs --zone",
                ExitCode.BAD_INPUT,
                hint="name the zone whose digest you saw, or leave --digest out",
            )
        if len(reason) > LONGEST_REASON:
            raise CommandError(
                f"--reason has {len(reason)} characters",
                ExitCode.BAD_INPUT,
                hint=f"write at most {LONGEST_REASON} characters",
            )
        who = (by or person()).strip()
        shell = current()
        if zone:
            run(_sign_zone(shell, Choice(choice), campaign, zone, digest, reason, who, yes=yes))
        else:
            run(_sign_shapes(shell, Choice(choice), campaign, fingerprint, wave, reason, who, yes=yes))


_command(
    "approve",
    "Approve a zone, a fingerprint or a wave. What is approved is sent as soon as the campaign permits it.",
)
_command(
    "reject",
    "Reject a zone, a fingerprint or a wave. Rejected zones end; `reopen --zone` begins one again.",
)


async def _sign_zone(
    shell: Shell, choice: Choice, campaign: str, zone: str, digest: str, reason: str, by: str, *, yes: bool
) -> None:
    from edgeshift import operations

    async with shell.temporal() as client:
        summary = await operations.summary(client, campaign)
        archive = shell.archive()
        targets = await operations.frozen_targets(archive, summary.targets)
        found = operations.pick_zone(targets, zone, campaign, summary.area)
        state = await operations.waiting_zone(client, found, digest or None)
        shown = await operations.preview_of(archive, state, summary.area)
        _say_scale(shell, summary)
        show_proposal(shell, shown)
        shell.confirm(f"{choice.value.capitalize()} this for {found.name} as {by}?", yes=yes)
        answer = await operations.sign_zone(client, found, state.digest, choice, by=by, reason=reason)
    shell.console.print(answer.text, markup=False, soft_wrap=True)


async def _sign_shapes(
    shell: Shell,
    choice: Choice,
    campaign: str,
    fingerprint: str,
    wave: int | None,
    reason: str,
    by: str,
    *,
    yes: bool,
) -> None:
    from edgeshift import operations

    async with shell.temporal() as client:
        summary = await operations.summary(client, campaign)
        if wave:
            groups = await operations.waiting_groups(client, campaign, wave - 1)
            chosen = operations.by_wave(groups, wave - 1, summary)
        else:
            wanted = operations.checked_prefix(fingerprint)
            groups = await operations.waiting_groups(client, campaign, prefix=wanted)
            chosen = operations.by_prefix(groups, wanted, summary)
        archive = shell.archive()
        targets = await operations.frozen_targets(archive, summary.targets)
        apart = (
            await operations.separate_zones(client, campaign, chosen, MOST_LINES) if chosen.separate else []
        )
        names = [targets[target.index].zone.name for target in apart]
        examples = await operations.examples(
            client, archive, summary.area, targets, campaign, chosen, MOST_SHOWN
        )
        _say_scale(shell, summary)
        _show_shapes(shell, chosen, examples, names, campaign)
        if not chosen.fingerprints:
            zone = names[0] if names else "NAME"
            raise CommandError(
                "none of these zones can be signed together: the evidence of each did not pass",
                ExitCode.NOTHING,
                hint=f"read the evidence of each: edgeshift history {zone} --campaign {campaign}",
            )
        where = f" of wave {wave}" if wave else ""
        question = (
            f"{choice.value.capitalize()} {counted(len(chosen.fingerprints), 'fingerprint')}{where},"
            f" {counted(chosen.count, 'zone')} now and those that come later, as {by}?"
        )
        shell.confirm(question, yes=yes)
        answers = await operations.sign_fingerprints(
            client, campaign, chosen.fingerprints, choice, by=by, reason=reason, wave=chosen.wave
        )
    for answer in answers:
        shell.console.print(answer.text, markup=False, soft_wrap=True)


def _say_scale(shell: Shell, summary: CampaignSummary) -> None:
    if summary.time_scale != 1:
        said = f"Campaign {summary.name}: time runs {summary.time_scale:,.6g} times as fast"
        shell.console.print(said, markup=False, soft_wrap=True)


MOST_SHOWN = 10


def _show_shapes(
    shell: Shell, chosen: ToSign, examples: list[Preview], separate: list[str], campaign: str
) -> None:
    say = shell.console.print
    by_shape = {shown.fingerprint: shown for shown in examples}
    # Groups that this reaches no zone of are shown only where there is nothing else to see.
    groups = list(chosen.reached or chosen.groups[:1])
    for group in groups[:MOST_SHOWN]:
        say(f"Fingerprint {group.fingerprint}", markup=False, soft_wrap=True)
        apart = f", and {group.separate:,} to be signed singly" if group.separate else ""
        say(f"  zones that wait: {group.zones - group.separate:,}{apart}", markup=False)
        if (shown := by_shape.get(group.fingerprint)) is not None:
            show_facts(shell, shown, example=True)
    if left := groups[MOST_SHOWN:]:
        zones = counted(sum(group.zones - group.separate for group in left), "zone")
        say(f"… and {counted(len(left), 'more fingerprint')}, {zones}:")
        for group in left:
            say(f"  {group.fingerprint[:16]}…  {counted(group.zones - group.separate, 'zone')}")
    if chosen.separate:
        say("Not signed by this: their own evidence did not pass. Decide on each with --zone:")
        for name in separate:
            say(f"  {name}", markup=False, soft_wrap=True)
        if chosen.separate > len(separate):
            say(
                f"  … and {chosen.separate - len(separate):,} more:"
                f" edgeshift status {campaign} --phase awaiting_separate"
            )

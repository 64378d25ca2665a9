"""``edgeshift sign-off approve|reject``: a person's decision, bound to exactly what was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli import candidates
from edgeshift.cli.decision import DecisionAsked
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import AsJson, By, Campaign, Reason, Yes
from edgeshift.cli.parts import MOST_LINES
from edgeshift.cli.proposals import show_digest, show_facts, show_proposal, show_rest
from edgeshift.cli.shell import Shell, current, run
from edgeshift.cli.signed_elsewhere import Elsewhere
from edgeshift.model.counts import counted
from edgeshift.model.zone_names import is_identifier, typed_zone
from edgeshift.views.chosen import as_chosen

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.messages import CampaignSummary
    from edgeshift.operations import Examples, FoundZone, ToSign
    from edgeshift.stores.archive import Archive

app = typer.Typer(help="Approve or reject what waits for a sign-off.")

Zones = Annotated[
    list[str] | None,
    typer.Option(
        "--zone",
        help="This zone, by name or identifier; may be repeated.",
        show_default=False,
        autocompletion=candidates.zones,
    ),
]
CauseKey = Annotated[
    str | None,
    typer.Option(
        "--cause", help="All that wait singly for this cause (`sign-off causes`).", show_default=False
    ),
]
Except = Annotated[
    list[str] | None,
    typer.Option(
        "--except",
        help="With --cause: all but this zone; may be repeated.",
        show_default=False,
        autocompletion=candidates.zones,
    ),
]
Fingerprint = Annotated[
    str | None,
    typer.Option(metavar="PREFIX", help="Every zone that shares this fingerprint.", show_default=False),
]
Wave = Annotated[int | None, typer.Option(min=1, help="All that waits in this wave now.", show_default=False)]
Digest = Annotated[
    str | None,
    typer.Option(help="With --zone: the digest that you saw; refused if it changed.", show_default=False),
]
Raw = Annotated[bool, typer.Option("--raw", help="Also show each body as JSON.")]
Print = Annotated[
    bool, typer.Option("--print", help="Sign nothing: print what would be signed, to sign it elsewhere.")
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="With --print: a file for each.", show_default=False)
]
StatementFile = Annotated[
    list[Path] | None,
    typer.Option("--statement", metavar="FILE", help="What was printed, and is signed.", show_default=False),
]
SignatureFile = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Its signature. Default: FILE.sig.", show_default=False),
]


def _command(choice: str, told: str) -> None:
    """Add the command of a choice; both have the same options."""

    @app.command(choice, help=told)
    def sign(
        context: typer.Context,
        campaign: Campaign,
        zone: Zones = None,
        fingerprint: Fingerprint = None,
        wave: Wave = None,
        cause: CauseKey = None,
        leave_out: Except = None,
        digest: Digest = None,
        reason: Reason = "",
        by: By = "",
        raw: Raw = False,
        yes: Yes = False,
        prints: Print = False,
        out: Out = None,
        statement: StatementFile = None,
        signature: SignatureFile = None,
        as_json: AsJson = False,
    ) -> None:
        from edgeshift.model.sign_off import Choice

        zones = zone or []
        # The zones of a cause may be narrowed to a wave.
        alone = wave is not None and cause is None
        _check_one_kind(campaign, (bool(zones), fingerprint is not None, alone, cause is not None))
        _check_belongs(campaign, zones, cause, digest, leave_out)
        if prints and as_json:
            raise CommandError(
                "--print and --json exclude each other",
                ExitCode.BAD_INPUT,
                hint="what --print prints is JSON already, and is signed byte for byte",
            )
        where = Elsewhere.of(prints=prints, out=out, statements=statement or [], signatures=signature or [])
        where.check_choice(Choice(choice))
        where.check_by(by, typed=context.get_parameter_source("by"))
        asked = DecisionAsked(
            choice=Choice(choice),
            by=where.by or by,
            reason=reason or where.reason,
            where=where,
            raw=raw,
            yes=yes or prints,
        )
        shell = current()
        where.begin(shell)
        if cause is not None:
            from edgeshift.cli.sign_off_each import sign_cause

            run(sign_cause(shell, asked, campaign, cause=cause, wave=wave, leave_out=leave_out or []))
        elif zones:
            run(_sign_zones(shell, asked, campaign, zones, digest))
        else:
            run(_sign_groups(shell, asked, campaign, fingerprint, wave))
        where.check_each_start(campaign)


def _check_one_kind(campaign: str, named: Sequence[bool]) -> None:
    """Raises CommandError where zones are named in no way, or in several."""
    if sum(named) != 1:
        raise CommandError(
            "name exactly one of --zone, --fingerprint, --wave and --cause",
            ExitCode.BAD_INPUT,
            hint=f"`edgeshift status {campaign}` shows what waits",
        )


def _check_belongs(
    campaign: str, zones: Sequence[str], cause: str | None, digest: str | None, leave_out: list[str] | None
) -> None:
    """Raises CommandError where an option is given without the one that it belongs to."""
    if digest is not None:
        # Of a name and an identifier, only the campaign knows whether they are one zone's.
        kinds = Counter(map(is_identifier, {typed_zone(zone) for zone in zones}))
        _check_digest(digest, max(kinds.values(), default=0))
    if leave_out and cause is None:
        raise CommandError(
            "--except needs --cause",
            ExitCode.BAD_INPUT,
            hint=f"`edgeshift sign-off causes {campaign}` lists the causes for which zones wait singly",
        )


def _check_digest(digest: str | None, zones: int) -> None:
    """Raises CommandError where a digest was given, and not for one zone."""
    if digest is not None and zones != 1:
        raise CommandError(
            "--digest needs --zone" if not zones else "--digest is of one zone, and several are named",
            ExitCode.BAD_INPUT,
            hint="name the zone whose digest you saw, or leave --digest out",
        )


_command(
    "approve",
    "Approve a zone, a fingerprint or a wave. What is approved is sent as soon as the campaign permits it.",
)
_command(
    "reject",
    "Reject a zone, a fingerprint or a wave. Rejected zones end; `reopen --zone` begins one again.",
)


@app.command("causes")
def causes(
    campaign: Campaign,
    wave: Annotated[int | None, typer.Option(min=1, help="In this wave alone.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List why zones wait for a sign-off of their own: each cause with its zones. Signs nothing."""
    from edgeshift.cli.sign_off_each import show_causes

    run(show_causes(current(), campaign, wave, as_json=as_json))


async def _sign_zones(
    shell: Shell, asked: DecisionAsked, campaign: str, zones: Sequence[str], digest: str | None
) -> None:
    """Decide on the zones that were named: on one, or on each of several by itself."""
    from edgeshift import operations

    async with shell.temporal(writes=True) as client:
        archive = shell.archive()
        with shell.waiting(f"looking for zone {zones[0]}"):
            summary = await operations.summary(client, campaign)
            await operations.check_archive(archive, summary)
            targets = await operations.frozen_targets(archive, summary.targets)
            named = operations.pick_zones(targets, zones, campaign, summary.area)
        _check_digest(digest, len(named))
        if len(named) == 1:
            await _sign_zone(shell, client, asked, summary, archive, named[0], digest)
            return
        from edgeshift.cli.sign_off_each import sign_named

        await sign_named(shell, client, asked, summary, archive, named)


async def _sign_zone(
    shell: Shell,
    client: Client,
    asked: DecisionAsked,
    summary: CampaignSummary,
    archive: Archive,
    found: FoundZone,
    digest: str | None,
) -> None:
    from edgeshift import operations
    from edgeshift.cli.receipts import Signed, SignedZone, common
    from edgeshift.model.sign_off import Choice
    from edgeshift.operations.signed_targets import refuse_other_targets
    from edgeshift.stores.archive import ArchiveError

    campaign = summary.name
    with shell.waiting(f"looking for zone {found.name}"):
        state = await operations.waiting_zone(client, found, digest, command=asked.command)
    await _say_kind(shell, summary)
    try:
        shown = await operations.preview_of(archive, state, summary.area, shell.readable_roots)
    except (operations.NotAsSigned, ArchiveError) as why:
        if asked.choice is Choice.APPROVE:
            raise
        # What nobody can read may be rejected, and nothing else.
        shell.tell(f"It cannot be shown: {getattr(why, 'text', why)}", indent=0, style="yellow")
    else:
        with shell.paged():
            show_proposal(shell, shown, raw=asked.raw)
    await asked.confirm(shell, summary, f"this for {found.name}")
    if (pen := asked.where.pen(shell, asked.by)) is not None:
        await refuse_other_targets(pen, campaign, summary.spec, summary.targets)
        not_for = await pen.proposal(campaign, summary.spec, state, asked.choice, asked.reason)
        asked.where.not_signed_for.append(not_for)
    if await asked.where.done(shell):
        return
    with shell.waiting(f"waiting for zone {found.name}"):
        answer = await operations.sign_zone(
            client, found, state.digest, asked.choice, by=asked.by, reason=asked.reason
        )
    if not shell.as_json:
        shell.tell(answer.text, indent=0)
        return
    signed = SignedZone(name=found.name, id=found.target.zone.id, digest=state.digest)
    known = common(shell, "sign-off", campaign, asked.by, asked.reason)
    shell.print_json(Signed(**known, text=answer.text, choice=asked.choice.value, zone=signed, zones=1))


async def _sign_groups(
    shell: Shell, asked: DecisionAsked, campaign: str, fingerprint: str | None, wave: int | None
) -> None:
    from edgeshift import operations
    from edgeshift.cli.receipts import Signed, common

    async with shell.temporal(writes=True) as client:
        archive = shell.archive()
        with shell.waiting("looking for what waits"):
            summary = await operations.summary(client, campaign)
            await operations.check_archive(archive, summary)
            if wave is not None:
                groups = await operations.waiting_groups(client, campaign, wave - 1)
                chosen = operations.by_wave(groups, wave - 1, summary)
            else:
                wanted = operations.checked_prefix(fingerprint or "")
                groups = await operations.waiting_groups(client, campaign, prefix=wanted)
                chosen = operations.by_prefix(groups, wanted, summary)
            targets = await operations.frozen_targets(archive, summary.targets)
            apart = await operations.separate_zones(client, campaign, chosen, MOST_LINES)
            names = [targets[target.index].zone.name for target in apart]
            found = await operations.examples(
                client, archive, summary.area, targets, campaign, chosen, shell.readable_roots, asked.choice
            )
        await _say_kind(shell, summary)
        with shell.paged():
            _show_groups(shell, chosen, found, names, summary, raw=asked.raw)
        # Nothing is signed that was not shown.
        chosen = chosen.without(found.unseen)
        if not chosen.fingerprints:
            raise _nothing_to_sign(found, names, campaign)
        part = f" of wave {wave}" if wave is not None else ""
        await asked.confirm(
            shell,
            summary,
            f"{counted(len(chosen.fingerprints), 'fingerprint')}{part},"
            f" {counted(chosen.count, 'zone')} now and those that come later,",
        )
        pen = asked.where.pen(shell, asked.by)
        not_for = await operations.sign_by_key(pen, summary, chosen, asked.choice, asked.reason)
        asked.where.not_signed_for.append(not_for)
        if await asked.where.done(shell):
            return
        with shell.waiting(f"waiting for campaign {campaign}"):
            answers = await operations.sign_fingerprints(
                client,
                campaign,
                chosen.fingerprints,
                asked.choice,
                by=asked.by,
                reason=asked.reason,
                wave=chosen.wave,
            )
    if not shell.as_json:
        for answer in answers:
            shell.tell(answer.text, indent=0)
        return
    shell.print_json(
        Signed(
            **common(shell, "sign-off", campaign, asked.by, asked.reason),
            text="\n".join(answer.text for answer in answers),
            choice=asked.choice.value,
            wave=None if chosen.wave is None else chosen.wave + 1,
            fingerprints=list(chosen.fingerprints),
            zones=chosen.count,
            separate=chosen.separate,
            not_shown=dict(found.unseen),
        )
    )


def _nothing_to_sign(found: Examples, separate: list[str], campaign: str) -> CommandError:
    if found.unseen:
        fingerprint, why = next(iter(found.unseen.items()))
        return CommandError(
            f"nothing was signed: no fingerprint can be shown, such as {fingerprint[:12]}: {why}",
            ExitCode.REFUSED,
            hint=f"`edgeshift status {campaign}` shows what waits now; `edgeshift doctor` checks the archive",
        )
    name = quote(separate[0]) if separate else "NAME"
    hint = f"read its evidence: edgeshift history {name} --campaign {campaign}"
    if len(separate) > 1:
        hint = f"`edgeshift sign-off causes {campaign}` groups them by cause"
    return CommandError(
        "none of these zones can be signed together: the evidence of each did not pass",
        ExitCode.NOTHING,
        hint=hint,
    )


async def _say_kind(shell: Shell, summary: CampaignSummary) -> None:
    shell.say_note(await shell.note_of(summary.name, summary.spec))
    if summary.time_scale != 1:
        shell.tell(f"Campaign {summary.name}: time runs {summary.time_scale:,.6g} times as fast", indent=0)


def _show_groups(
    shell: Shell, chosen: ToSign, found: Examples, separate: list[str], summary: CampaignSummary, *, raw: bool
) -> None:
    """Print every fingerprint that would be signed, with the proposal of one zone of each."""
    from edgeshift.views.approvals import approvals_so_far

    campaign = summary.name
    # Groups that this reaches no zone of are shown only where there is nothing else to see.
    groups = list(chosen.reached or chosen.groups[:1])
    for number, group in enumerate(groups, 1):
        place = f" {number} of {len(groups)}" if len(groups) > 1 else ""
        show_digest(shell, f"fingerprint{place}", group.fingerprint, indent=0)
        if before := approvals_so_far(summary, group.fingerprint):
            shell.tell(before, lead="so far: ")
        apart = f", and {group.separate:,} to be signed singly" if group.separate else ""
        shell.tell(f"{group.zones - group.separate:,}{apart}", lead="zones that wait: ")
        if (shown := found.shown.get(group.fingerprint)) is not None:
            show_facts(shell, shown, example=True, raw=raw)
            show_rest(shell, found.rest[group.fingerprint], campaign)
        else:
            shell.tell(found.unseen[group.fingerprint], lead="not shown, and not signed: ", style="yellow")
    if chosen.separate:
        shell.tell(
            "Not signed by this: their own evidence did not pass."
            + as_chosen(f" `edgeshift sign-off causes {campaign}` groups them, --zone decides on one:"),
            indent=0,
        )
        for name in separate:
            shell.tell(name)
        if chosen.separate > len(separate):
            more = f"… and {chosen.separate - len(separate):,} more:"
            shell.tell(as_chosen(f"{more} edgeshift status {campaign} --phase awaiting_separate"))

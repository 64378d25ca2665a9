"""``edgeshift audit``: who agreed to what, in a file that proves it without edgeshift's help."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer
from rich.text import Text

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import By, Campaign, checked_out
from edgeshift.cli.shell import Shell, current, run
from edgeshift.model.counts import agreed, counted
from edgeshift.views.chosen import as_chosen

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.audit.exporting import Exported
    from edgeshift.audit.proof import Proof
    from edgeshift.authority.roots import Roots

app = typer.Typer(help="Write who agreed to what as a file that proves it, and verify such a file.")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON (docs/output.md).")]


@app.callback()
def audit() -> None:
    """Write who agreed to what as a file that proves it, and verify such a file."""


@app.command()
def export(
    campaign: Campaign,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it there, and not to stdout.")
    ] = None,
    by: By = "",
    archive_only: Annotated[
        bool, typer.Option("--archive-only", help="Do not ask Temporal how zones ended.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say as JSON what was written; needs --out.")
    ] = False,
) -> None:
    """Write a campaign's audit file: what people signed, what was sent, what came of it. Changes nothing."""
    shell = current()
    if as_json and out is None:
        raise CommandError(
            "--json needs --out: the file itself goes to stdout",
            ExitCode.BAD_INPUT,
            hint="--out FILE writes the file, and --json then says what is in it",
        )
    if out is None and sys.stdout.isatty():
        # Its bytes are what is signed, so that nothing in them can be escaped.
        raise CommandError(
            "the file is not for a terminal, which would obey what a name in it hides",
            ExitCode.BAD_INPUT,
            hint="--out FILE writes it to a file; or redirect stdout",
        )
    if out is None:
        done, note = run(_export(shell, campaign, sys.stdout.buffer, by, archive_only=archive_only))
        sys.stdout.flush()
    else:
        from edgeshift.runtime.files import whole_path

        checked_out("--out", out)
        with whole_path(out) as place, place.open("wb") as file:
            done, note = run(_export(shell, campaign, file, by, archive_only=archive_only))
    if as_json:
        shell.print_json({**done.model_dump(mode="json"), "note": note})
    else:
        _tell(shell, done, out)
        if note:
            shell.errors.print(Text.assemble(("warning: ", "yellow"), note), soft_wrap=True)


async def _export(
    shell: Shell, campaign: str, out: BinaryIO, by: str, *, archive_only: bool
) -> tuple[Exported, str]:
    from edgeshift.audit.collecting import NothingSigned
    from edgeshift.audit.exporting import export as write
    from edgeshift.audit.temporal_outcomes import add_temporal_outcomes
    from edgeshift.operations.archives import check_campaigns

    archive, signer = shell.archive(), shell.signer(by)
    async with AsyncExitStack() as stack:
        stack.enter_context(shell.waiting(f"collecting what was signed of campaign {campaign}"))
        client = None if archive_only else await _temporal(shell, stack)
        if client is not None:
            await check_campaigns(client, archive, [campaign])
        try:
            done = await write(
                archive,
                campaign,
                out,
                datetime.now(UTC),
                by=by,
                signer=signer,
                more=None if client is None else partial(add_temporal_outcomes, client, campaign),
            )
        except NothingSigned as why:
            raise CommandError(str(why), ExitCode.NOTHING, hint=why.hint) from None
        return done, await shell.note_of(campaign)


async def _temporal(shell: Shell, stack: AsyncExitStack) -> Client | None:
    """Temporal, or None where it is not there: the file does not need it, and says itself what it lacks."""
    from edgeshift.runtime.temporal import TemporalError

    try:
        return await stack.enter_async_context(shell.temporal())
    except (TemporalError, CommandError) as why:
        shell.errors.print(Text.assemble(("warning: ", "yellow"), str(why)), soft_wrap=True)
        return None


def _tell(shell: Shell, done: Exported, out: Path | None) -> None:
    """On stderr: what was written, and what it lacks."""
    say = shell.errors.print
    kinds = done.kinds
    what = ", ".join(
        counted(kinds.get(kind, 0), word)
        for kind, word in (("target", "target"), ("signed", "signed statement"), ("request", "request"))
    )
    say(Text(f"written: {counted(done.lines, 'line')}{f' in {out}' if out else ''}: {what}"), soft_wrap=True)
    if done.sealed_by:
        say(Text(f"sealed by {done.sealed_by}, key {done.key}"), soft_wrap=True)
    else:
        text = "nobody signed its end, so that it proves no completeness; set EDGESHIFT_AUTHORITY_KEY"
        say(Text.assemble(("warning: ", "yellow"), text), soft_wrap=True)
    if not done.told:
        say(Text("without outcomes: Temporal was not asked, or knows the campaign no more"), soft_wrap=True)
    if odd := kinds.get("odd", 0):
        text = f"{counted(odd, 'record')} of the archive cannot be read; "
        text += as_chosen("`edgeshift audit verify` names them")
        say(Text.assemble(("warning: ", "yellow"), text), soft_wrap=True)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The audit file.")],
    signers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Whose keys they are: OpenSSH's allowed_signers.", show_default=False
        ),
    ] = None,
    roots: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead: a worker's roots, with roles, least policy and revoked keys.",
            show_default=False,
        ),
    ] = None,
    unsealed: Annotated[
        bool,
        typer.Option("--unsealed", help="Take a file whose end nobody signed: lines may be missing from it."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Prove from the file and public keys alone who agreed to what, and that nothing of it was changed.

    Exit 0: it is proved. Exit 1: it does not hold. Exit 2: a file cannot be read.
    """
    from edgeshift.audit.chain import NoAudit
    from edgeshift.audit.proving import prove

    shell = current()
    known = _known(signers, roots)
    try:
        with shell.waiting(f"proving {file}"), file.open("rb") as lines:
            proof = prove(lines, known, unsealed=unsealed, workers=roots is not None)
    except (NoAudit, OSError) as why:
        text = (why.strerror or str(why)) if isinstance(why, OSError) else str(why)
        raise CommandError(
            f"{file}: {text}",
            ExitCode.BAD_INPUT,
            hint="`edgeshift audit export CAMPAIGN --out FILE` writes one",
        ) from None
    if as_json:
        shell.print_json(proof)
    else:
        _show(shell, proof)
    if not proof.holds:
        raise typer.Exit(ExitCode.FAILED)


def _known(signers: Path | None, roots: Path | None) -> Roots:
    """Whose word counts. Raises CommandError (2), RootsError."""
    from edgeshift.audit.judging import roots_of
    from edgeshift.authority.loading import load_roots
    from edgeshift.authority.signers import BadSigners, parsed

    if (signers is None) == (roots is None):
        raise CommandError(
            "give --signers or --roots, one of them",
            ExitCode.BAD_INPUT,
            hint="--signers FILE is the allowed_signers file beside the workers' roots",
        )
    if roots is not None:
        return load_roots(roots)
    assert signers is not None
    try:
        # Reading it as text would make an end of line of a lone carriage return, which a comment may have.
        return roots_of(parsed(signers.read_bytes().decode()))
    except (OSError, UnicodeDecodeError, BadSigners) as why:
        text = (why.strerror or str(why)) if isinstance(why, OSError) else str(why)
        raise CommandError(
            f"{signers}: {text}", ExitCode.BAD_INPUT, hint="write it as OpenSSH's allowed_signers: NAME KEY"
        ) from None


def _show(shell: Shell, proof: Proof) -> None:
    from edgeshift.views.words import moment, one_line

    def say(text: str, style: str = "") -> None:
        shell.console.print(Text(one_line(text, 2_000), style=style), soft_wrap=True)

    say(
        f"campaign {proof.campaign}, area {proof.area or 'unknown'}, at {proof.service or 'no known service'}"
    )
    for who in proof.people:
        when = dict.fromkeys((moment(who.first), moment(who.last)))
        less = f"; of these do not count: {_numbers(who.uncounted)}" if who.uncounted else ""
        shell.tell(f"{_numbers(who.said)}{less}; {' to '.join(when)}; key {who.key}", lead=f"{who.name}: ")
    say(f"requests: {_numbers(proof.sent)}; to {proof.zones:,} of {counted(proof.targets, 'target')}")
    for names, number in sorted(proof.agreed.items()):
        shell.tell(f"{counted(number, 'request')} agreed to by {names}")
    if proof.unrecorded:
        verb = agreed(proof.unrecorded, "was", "were")
        requests = counted(proof.unrecorded, "request")
        say(f"{requests} {verb} recorded by no worker whose key is known", "yellow")
    if proof.results:
        say(f"outcomes that workers signed, of each attempt: {_numbers(proof.results)}")
    if proof.told:
        say(f"outcomes of each attempt, as Temporal has them: {_numbers(proof.told)}")
    if proof.results and proof.unsigned:
        say(f"of these, no worker signed {counted(proof.unsigned, 'outcome')}", "yellow")
    if proof.strangers:
        verb = agreed(proof.strangers, "counts", "count")
        say(f"{counted(proof.strangers, 'statement')} {verb} for nothing: by keys that are not known")
    found = {finding.odd for finding in proof.findings}
    for odd in proof.odd:
        if odd not in found:
            say(f"not readable when it was written: {odd}", "yellow")
    if proof.sealed:
        say(f"sealed by {proof.sealed.name} at {moment(proof.sealed.at)}, key {proof.sealed.key}")
    elif proof.holds:
        say("nobody signed its end: lines may have been left out", "yellow")
    for finding in proof.findings:
        say(f"line {finding.line:,}: {finding.text}", "red")
    if proof.found > len(proof.findings):
        say(f"and {proof.found - len(proof.findings):,} more", "red")
    if proof.holds:
        say("it holds: every request rests on what people signed", "bold green")
    else:
        say("it does not hold", "bold red")


def _numbers(said: dict[str, int]) -> str:
    """How often what, in words."""
    return (
        ", ".join(f"{what.replace('_', ' ')} ({number:,})" for what, number in sorted(said.items())) or "none"
    )

"""What is printed of a proposal before a person signs it, in each area."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgeshift.areas import area_of
from edgeshift.cli.parts import CLI, MOST_LINES
from edgeshift.cli.shell import Shell
from edgeshift.model.counts import counted

if TYPE_CHECKING:
    from edgeshift.operations import Preview

MOST_CHANGES = 20


def show_proposal(shell: Shell, shown: Preview) -> None:
    """Print what one zone proposes: what a person should see before signing."""
    say = shell.console.print
    say(f"{_subject(shown)} ({_kind(shown)})", markup=False, soft_wrap=True)
    say(f"  digest: {shown.digest}", markup=False, soft_wrap=True)
    say(f"  fingerprint: {shown.fingerprint}", markup=False, soft_wrap=True)
    show_facts(shell, shown, example=False)


def show_facts(shell: Shell, shown: Preview, *, example: bool) -> None:
    """Print what would be sent and what it is known to do. ``example``: for others that propose the same."""
    from edgeshift.views.words import one_line

    say = shell.console.print
    if example:
        say(f"  for example: {shown.zone} ({_kind(shown)})", markup=False, soft_wrap=True)
    part, phrases = CLI.of(shown.area), area_of(shown.area).phrases
    part.show_step(shell, shown)
    if shown.drifted:
        say(f"  {phrases.basis} changed after the last sign-off: this is a new proposal", style="yellow")
        for line in shown.changes[:MOST_CHANGES]:
            say(f"    {one_line(line)}", markup=False, soft_wrap=True)
        if len(shown.changes) > MOST_CHANGES:
            say(f"    … and {len(shown.changes) - MOST_CHANGES} more")
    for label, lines in (("added", shown.additions), ("lost", shown.losses), ("to know", shown.warnings)):
        for line in lines[:MOST_LINES]:
            say(f"  {label}: {one_line(line)}", markup=False, soft_wrap=True)
        if len(lines) > MOST_LINES:
            say(f"  {label}: … and {len(lines) - MOST_LINES} more")
    part.show_evidence(shell, shown)


def _subject(shown: Preview) -> str:
    return f"{'Account' if shown.covers else 'Zone'} {shown.zone}"


def _kind(shown: Preview) -> str:
    return f"an account of {counted(shown.covers, 'zone')}" if shown.covers else shown.plan

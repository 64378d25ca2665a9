"""What is printed of a proposal before a person signs it, in each area."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgeshift.cli.shell import Shell
from edgeshift.model.fleet import Area

if TYPE_CHECKING:
    from edgeshift.operations import Shown

MOST_LINES = 6
MOST_NAMES = 40
MOST_CHANGES = 20
NO_WINDOW = "there was no validation window, so nothing has been seen of these rules at work"


def show_proposal(shell: Shell, shown: Shown) -> None:
    """Print what one zone proposes: what a person should see before signing."""
    say = shell.console.print
    say(f"{_subject(shown)} ({_kind(shown)})", markup=False, soft_wrap=True)
    say(f"  digest: {shown.digest}", markup=False, soft_wrap=True)
    say(f"  fingerprint: {shown.fingerprint}", markup=False, soft_wrap=True)
    show_facts(shell, shown, example=False)


def show_facts(shell: Shell, shown: Shown, *, example: bool) -> None:
    """Print what would be sent and what it is known to do. ``example``: for others that propose the same."""
    from edgeshift.views.words import one_line

    say = shell.console.print
    if example:
        say(f"  for example: {shown.zone} ({_kind(shown)})", markup=False, soft_wrap=True)
    _STEPS[shown.area](shell, shown)
    if shown.drifted:
        what = "the configuration" if shown.area is Area.WAF else "what it is based on"
        say(f"  {what} changed after the last sign-off: this is a new proposal", style="yellow")
        for line in shown.changes[:MOST_CHANGES]:
            say(f"    {one_line(line)}", markup=False, soft_wrap=True)
        if len(shown.changes) > MOST_CHANGES:
            say(f"    … and {len(shown.changes) - MOST_CHANGES} more")
    for label, lines in (("added", shown.additions), ("lost", shown.losses), ("to know", shown.warnings)):
        for line in lines[:MOST_LINES]:
            say(f"  {label}: {one_line(line)}", markup=False, soft_wrap=True)
        if len(lines) > MOST_LINES:
            say(f"  {label}: … and {len(lines) - MOST_LINES} more")
    _evidence(shell, shown)


def _subject(shown: Shown) -> str:
    return f"{'Account' if shown.covers else 'Zone'} {shown.zone}"


def _kind(shown: Shown) -> str:
    return f"an account of {shown.covers} zone(s)" if shown.covers else shown.plan


def _waf_step(shell: Shell, shown: Shown) -> None:
    from edgeshift.messages import Step

    say = shell.console.print
    if shown.step is Step.DELETE_OVERRIDES:
        listed = ", ".join(shown.overrides[:5]) + (" …" if len(shown.overrides) > 5 else "")
        said = f"  step: delete {len(shown.overrides)} URI-based override(s): {listed}"
        say(said, markup=False, soft_wrap=True)
    else:
        say(f"  step: commit {shown.rules} rule(s); this cannot be undone", markup=False)
        for line in shown.only_log[:MOST_LINES]:
            say(f"  only logs, as signed: {line}", markup=False, soft_wrap=True)


def _esc_step(shell: Shell, shown: Shown) -> None:
    for_whom = f"for all {shown.covers} zone(s) of the account at once" if shown.covers else "for this zone"
    said = (
        f"  step: turn esc off for every request, {for_whom}; watched, and turned on again if it gets worse"
    )
    shell.console.print(said, markup=False, soft_wrap=True)


def _fields_step(shell: Shell, shown: Shown) -> None:
    say = shell.console.print
    say("  step: have these fields logged, beside what others log; it can be taken back", markup=False)
    if shown.fields is not None:
        for label, names in (
            ("request headers", shown.fields.request_headers),
            ("response headers", shown.fields.response_headers),
            ("cookies", shown.fields.cookies),
        ):
            if names:
                say(f"  {label}: {', '.join(names[:MOST_NAMES])}", markup=False, soft_wrap=True)
    if shown.jobs:
        say(f"  log jobs list: {', '.join(shown.jobs)}", markup=False, soft_wrap=True)
    if shown.new_job:
        say(f"  a log job is created: {shown.new_job}", markup=False, soft_wrap=True)


_STEPS = {Area.WAF: _waf_step, Area.ESC: _esc_step, Area.LOG_FIELDS: _fields_step}


def _evidence(shell: Shell, shown: Shown) -> None:
    say = shell.console.print
    from edgeshift.messages import Step

    if shown.evidence is not None:
        from edgeshift.areas.waf.evidence_told import CONSENT, LOG_ONLY, evidence_lines
        from edgeshift.views.words import one_line

        found = shown.evidence
        say(f"  evidence: {found.verdict.value} ({found.why})", markup=False, soft_wrap=True)
        for line in evidence_lines(found, MOST_LINES):
            say(f"    {one_line(line)}", markup=False, soft_wrap=True)
        if shown.earlier is not None:
            verdict = shown.earlier.verdict.value
            say(f"  the shadow window before: {verdict} ({shown.earlier.why})", markup=False, soft_wrap=True)
            for line in evidence_lines(shown.earlier, MOST_LINES):
                if line not in (LOG_ONLY, CONSENT):
                    say(f"    {one_line(line)}", markup=False, soft_wrap=True)
    elif shown.area is Area.WAF and shown.step is Step.COMMIT:
        say(f"  evidence: none; {NO_WINDOW}", markup=False, soft_wrap=True)
    if shown.probe is not None:
        from rich.padding import Padding

        from edgeshift.views.archive_told import coverage_lines
        from edgeshift.views.differences import changes, changes_table

        found_changes = changes([shown.probe])
        said = (
            f"{len(found_changes)} thing(s) change" if found_changes else "nothing that was asked for changes"
        )
        say(f"  probe: {said}", markup=False)
        if found_changes:
            say(Padding(changes_table(found_changes), (0, 0, 0, 4)))
        for line in coverage_lines(shown.probe):
            say(f"  probe: {line}", markup=False, soft_wrap=True)

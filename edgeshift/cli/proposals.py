"""What is printed of a proposal before a person signs it, in each area."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from edgeshift.areas import area_of
from edgeshift.cli.parts import CLI, LONGEST, MOST_LINES, tell_some, whole_of
from edgeshift.cli.shell import Shell
from edgeshift.model.body_view import Item, Mark
from edgeshift.model.counts import agreed, counted
from edgeshift.views.chosen import as_chosen

if TYPE_CHECKING:
    from edgeshift.operations import Preview
    from edgeshift.operations.group import Otherwise, Rest

MOST_CHANGES = 20

MOST_SETTINGS = 20
"""Settings of the previous WAF that are printed of a proposal."""


MARKS = {
    Mark.ADDED: ("+", "green", "added"),
    Mark.REMOVED: ("-", "red", "removed"),
    Mark.CHANGED: ("~", "yellow", "changed"),
    Mark.SAME: ("=", "dim", "as it is"),
}
"""The sign, the style and the word of each mark."""


def show_proposal(shell: Shell, shown: Preview, *, raw: bool = False, most: int = MOST_LINES) -> None:
    """Print what one zone proposes: what a person should see before signing. ``raw``: also as JSON;
    ``most``: lines of one kind.
    """
    shell.tell(f"{_subject(shown)} ({_kind(shown)})", indent=0)
    show_digest(shell, "digest", shown.digest)
    if shown.fingerprint != shown.digest:
        show_digest(shell, "fingerprint", shown.fingerprint)
    show_facts(shell, shown, example=False, raw=raw, most=most)


def show_digest(shell: Shell, label: str, digest: str, indent: int = 2) -> None:
    """Print a digest whole where the terminal has room for it, and else the part that people type."""
    from edgeshift.views.words import short

    fits = shell.console.width >= indent + len(label) + 2 + len(digest)
    line = Text(" " * indent).append(f"{label}: ", style="dim")
    line.append(digest if fits else f"{short(digest)}…", style="bold")
    shell.console.print(line, soft_wrap=True)


def show_facts(
    shell: Shell,
    shown: Preview,
    *,
    example: bool,
    raw: bool = False,
    most: int = MOST_LINES,
    evidence: bool = True,
) -> None:
    """Print what would be sent and what it is known to do. ``example``: for others that propose the same;
    ``evidence``: with its own.
    """
    if example:
        shell.tell(f"{shown.zone} ({_kind(shown)})", lead="for example: ")
    part, phrases = CLI.of(shown.area), area_of(shown.area).phrases
    part.show_step(shell, shown, most)
    show_items(shell, shown.items)
    if raw:
        show_raw(shell, shown)
    if shown.drifted:
        changed = f"{phrases.basis} changed after the last sign-off: this is a new proposal"
        shell.tell(changed, style="yellow")
        tell_some(shell, "", shown.changes, max(most, MOST_CHANGES), whole_of(shown), indent=4)
    settings = max(most, MOST_SETTINGS)
    for label, lines, limit in (
        ("added", shown.additions, most),
        ("lost", shown.losses, settings),
        ("carried over", shown.carried_over, settings),
        ("to compare", shown.compare, settings),
        ("to know", shown.warnings, most),
    ):
        tell_some(shell, f"{label}: ", lines, limit, whole_of(shown))
    if evidence:
        part.show_evidence(shell, shown, most)


def show_rest(shell: Shell, rest: Rest, campaign: str) -> None:
    """Print how the other zones of a fingerprint stand to the one that was shown: what is true of some of
    them alone is signed with the rest.
    """
    for line in rest.evidence:
        shell.tell(line, lead="evidence of all: ")
    if not rest.count:
        return
    told = "as this one" if not rest.otherwise else f"{rest.same:,} as this one"
    if compared := rest.count - rest.unseen:
        shell.tell(told, lead="the other zone: " if compared == 1 else f"the other {compared:,} zones: ")
    for some in rest.otherwise:
        show_otherwise(shell, some)
    if rest.unseen:
        shell.tell(
            as_chosen(
                f"{counted(rest.unseen, 'more zone')} {agreed(rest.unseen, 'was', 'were')} not compared:"
                f" edgeshift status {campaign} --phase awaiting lists them, edgeshift show ZONE shows one"
            ),
            style="yellow",
        )


def show_otherwise(shell: Shell, some: Otherwise, *, named: bool = True, indent: int = 2) -> None:
    """Print what is other in some zones than in the one that was shown. ``named``: with their names."""
    if named:
        names = ", ".join(some.zones[:MOST_LINES])
        more = f" and {len(some.zones) - MOST_LINES:,} more" if len(some.zones) > MOST_LINES else ""
        lead = f"otherwise in {counted(len(some.zones), 'zone')}: "
        shell.tell(f"{names}{more}", lead=lead, indent=indent, style="yellow")
    for lead, lines in (("also: ", some.more), ("not: ", some.less)):
        for line in lines:
            shell.tell(line, lead=lead, indent=indent + 2, longest=LONGEST)


def show_items(shell: Shell, items: tuple[Item, ...]) -> None:
    """Print the body thing by thing, with how each stands to what the target has."""
    counts = Counter(item.mark for item in items)
    said = ", ".join(f"{MARKS[mark][0]} {counts[mark]:,} {MARKS[mark][2]}" for mark in Mark if counts[mark])
    shell.tell(said, lead=Text("body: "))
    for item in items:
        sign, style, _ = MARKS[item.mark]
        shell.tell(item.title, lead=Text(f"{sign} ", style=style), indent=4, style=style, longest=LONGEST)
        for line in item.lines:
            text = line.text if line.before is None else f"{line.before} → {line.text}"
            label = f"{_clean(line.label)}: "
            if len(label) > shell.console.width // 3:
                # Such as the name of a rule: it wraps with the rest.
                shell.tell(label + text, indent=8, longest=LONGEST)
            else:
                shell.tell(text, lead=Text(label, style="dim"), indent=8, longest=LONGEST)
            if len(text) > LONGEST:
                shell.tell("it goes on: --raw shows all of it", indent=10, style="yellow")


def show_raw(shell: Shell, shown: Preview) -> None:
    """Print the body as JSON, every character that is not plain ASCII escaped."""
    shell.console.print(json.dumps(shown.body, indent=2), markup=False, highlight=False, soft_wrap=True)


def _clean(label: str) -> str:
    from edgeshift.views.widths import shortened
    from edgeshift.views.words import one_line

    return shortened(one_line(label))


def _subject(shown: Preview) -> str:
    return f"{'Account' if shown.covers else 'Zone'} {shown.zone}"


def _kind(shown: Preview) -> str:
    return f"an account of {counted(shown.covers, 'zone')}" if shown.covers else shown.plan

"""What of a campaign waits for a person, as a page for whoever opens only a browser: each proposal whole,
with its digest, and the command that signs it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from shlex import quote

from edgeshift.areas import area_of
from edgeshift.messages import CampaignSummary
from edgeshift.model.body_view import Mark
from edgeshift.operations import Preview
from edgeshift.operations.group import Rest
from edgeshift.views.pages import environment, style
from edgeshift.views.parts import VIEWS
from edgeshift.views.words import short, word

MARKS: Mapping[Mark, tuple[str, str, str]] = {
    Mark.ADDED: ("+", "done", "added"),
    Mark.REMOVED: ("-", "failed", "removed"),
    Mark.CHANGED: ("~", "needs_person", "changed"),
    Mark.SAME: ("=", "unstarted", "as it is"),
}
"""The sign, the style and the word of each mark."""


@dataclass(frozen=True)
class Sheet:
    """One thing to decide. ``names``: of the zones that it is about, the first of ``zones``; ``separate``:
    how many more propose the same and are signed singly; ``waves``: counted from 1. ``shown``: the proposal
    of one of them; None where it cannot be shown, and ``why_not``: why. ``single``: whether it is about one
    zone; ``typed``: what a command names that zone by. ``rest``: how the other zones stand to the one that is
    shown.
    """

    title: str
    digest: str
    names: tuple[str, ...]
    zones: int
    shown: Preview | None
    why_not: str = ""
    separate: int = 0
    waves: tuple[int, ...] = ()
    single: bool = False
    typed: str = ""
    rest: Rest = field(default_factory=Rest)

    @property
    def counts(self) -> list[tuple[str, str, str, int]]:
        """How many things of the body have which mark: sign, style, word and number."""
        items = self.shown.items if self.shown else ()
        found = Counter(item.mark for item in items)
        return [(*MARKS[mark], found[mark]) for mark in Mark if found[mark]]

    @property
    def body(self) -> str:
        """The body as JSON, every character that is not plain ASCII escaped."""
        return json.dumps(self.shown.body, indent=2) if self.shown else ""

    @property
    def speaks_against(self) -> bool:
        """Whether the evidence of the zone itself failed: an approval of it is offered to nobody."""
        return self.single and self.shown is not None and self.shown.speaks_against

    def command(self, choice: str, campaign: str) -> str:
        """The command that decides so on exactly this."""
        what = f"--zone {quote(self.typed or self.names[0])} --digest" if self.single else "--fingerprint"
        why = ' --reason "…"' if choice == "reject" else ""
        return f"edgeshift sign-off {choice} {campaign} {what} {short(self.digest)}{why}"


@dataclass(frozen=True)
class WithSupport:
    """A zone that waits until the provider's support has helped."""

    name: str
    reason: str
    tickets: tuple[str, ...]


@dataclass(frozen=True)
class Approval:
    """What waits. ``policy``: how many must approve, and who may. ``left_out``: how many fingerprints
    (``groups``, and zones that they reach, ``reached``), zones to be signed singly, and zones with support
    the page does not show.
    """

    summary: CampaignSummary
    made_at: datetime
    policy: str
    sheets: Sequence[Sheet]
    support: Sequence[WithSupport] = ()
    note: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def tiles(self) -> list[tuple[str, int]]:
        """What is counted at the top."""
        groups = [sheet for sheet in self.sheets if not sheet.single]
        singly = len(self.sheets) - len(groups) + self.left_out.get("singly", 0)
        support = len(self.support) + self.left_out.get("support", 0)
        reached = sum(sheet.zones for sheet in groups) + self.left_out.get("reached", 0)
        noun = f"{word('zone', self.summary.area)}s"
        found = [
            ("fingerprints that wait", len(groups) + self.left_out.get("groups", 0)),
            (f"{noun} that they reach", reached),
            (f"{noun} to be signed singly", singly),
        ]
        return [*found, (f"{noun} with the provider's support", support)] if support else found


def render_approval(approval: Approval) -> str:
    """The page."""
    part = VIEWS.of(approval.summary.area)
    return (
        environment(part)
        .get_template("approval.html.j2")
        .render(
            approval=approval,
            summary=approval.summary,
            area=area_of(approval.summary.area),
            part=part,
            style=style(),
            marks=MARKS,
            same=Mark.SAME,
        )
    )

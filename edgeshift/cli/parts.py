"""What an area prints of its own (edgeshift/areas/parts.py): in plans, before sign-offs, after ``init``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from edgeshift.areas.parts import PartOf
from edgeshift.cli.shell import Shell
from edgeshift.views.chosen import command

if TYPE_CHECKING:
    from rich.console import Console

    from edgeshift.campaign_file.spec import CampaignSpec
    from edgeshift.messages import AssessmentResult, PlanReport
    from edgeshift.operations import Preview

MOST_LINES = 6
"""Lines of one kind that are printed of a proposal."""

LONGEST = 9_000
"""Characters of one line of a proposal: an expression has at most 4 KB, and its value before beside it."""

VERDICTS = {"pass": "green", "fail": "bold red", "inconclusive": "yellow"}
"""The styles of verdicts."""


class CliPart:
    """One area's part of the command line; as it stands, that of a zone's change which can be undone.

    ``lists_fingerprints``: whether a plan knows already what will be signed. ``by_plan``: whether it counts
    targets by the zones' plans. ``adds``: whether it lists what proposals add. ``besides``: what a new
    campaign file wants beside zones, after "Put your zones in place of …".
    """

    lists_fingerprints: bool = True
    by_plan: bool = True
    adds: bool = False
    besides: str = ""

    def show_plan(
        self, console: Console, spec: CampaignSpec, report: PlanReport, result: AssessmentResult
    ) -> None:
        """Print what a plan has of this area, between the waves and the fingerprints."""

    def show_forecast(self, console: Console, spec: CampaignSpec, moving: int, enterprise: int) -> None:
        """Print what a plan has to say after its forecast. ``moving``: targets that would be changed;
        ``enterprise``: those of them that are Enterprise zones.
        """

    def plan_data(self, spec: CampaignSpec, report: PlanReport, result: AssessmentResult) -> dict[str, Any]:
        """What ``plan --json`` has of this area, beside what all plans have."""
        return {}

    def show_step(self, shell: Shell, shown: Preview, most: int = MOST_LINES) -> None:
        """Print what would be sent for one proposal. ``most``: lines of one kind."""
        from edgeshift.views.parts import VIEWS

        part = VIEWS.of(shown.area)
        shell.tell(part.step_text(shown), lead="step: ")
        for title, lines in part.remarks(shown):
            tell_some(shell, f"{title}: ", lines, most, whole_of(shown))

    def show_evidence(self, shell: Shell, shown: Preview, most: int = MOST_LINES) -> None:
        """Print what is known of what the proposal does. ``most``: lines of one kind."""
        from edgeshift.views.parts import VIEWS

        for line in VIEWS.of(shown.area).seen_lines(shown, most):
            shell.tell(line, lead="seen: ", longest=LONGEST)


def whole_of(shown: Preview) -> str:
    """The command that shows all that is known of a proposal."""
    return command("show", shown.zone, "--area", shown.area.value)


def tell_some(shell: Shell, lead: str, lines: Sequence[str], most: int, where: str, indent: int = 2) -> None:
    """Print ``most`` of these lines, each after ``lead``, and how many more there are ``where``."""
    for line in lines[:most]:
        shell.tell(line, lead=lead, indent=indent, longest=LONGEST)
    if len(lines) > most:
        shell.tell(f"… and {len(lines) - most:,} more: {where}", lead=lead, indent=indent)


CLI = PartOf("cli", CliPart)

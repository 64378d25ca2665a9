"""What the area waf prints of its own."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from rich.text import Text

from edgeshift.cli.parts import LONGEST, MOST_LINES, VERDICTS, CliPart, whole_of
from edgeshift.cli.shell import Shell
from edgeshift.model.counts import agreed, counted
from edgeshift.model.durations import say_duration

if TYPE_CHECKING:
    from rich.console import Console

    from edgeshift.areas.waf.evidence import Evidence
    from edgeshift.campaign_file.spec import CampaignSpec
    from edgeshift.operations import Preview


class WafCli(CliPart):
    """Plans of migrations, and what is signed of them."""

    adds = True

    def show_forecast(self, console: Console, spec: CampaignSpec, moving: int, enterprise: int) -> None:
        """How fast migrations move at the slowest, and who waits for a window."""
        from edgeshift.campaign_file.warnings import slowest

        console.print(f"{slowest(spec, moving)}.")
        if enterprise:
            window = say_duration(spec.validation.window)
            zones = f"{counted(enterprise, 'Enterprise zone')} {agreed(enterprise, 'waits', 'wait')}"
            console.print(f"{zones} {window} in each validation window.")

    def show_evidence(self, shell: Shell, shown: Preview, most: int = MOST_LINES) -> None:
        """What the validation window saw."""
        from edgeshift.areas.waf.evidence import Evidence

        if not isinstance(shown.evidence, Evidence):
            from edgeshift.views.parts import VIEWS

            for line in VIEWS.of(shown.area).seen_lines(shown, most):
                shell.tell(line, lead="evidence: ")
            return
        from edgeshift.areas.waf.evidence_texts import CONSENT, LOG_ONLY
        from edgeshift.areas.waf.preview_part import shown_of

        _show_verdict(shell, "evidence", shown.evidence)
        _show_lines(shell, shown.evidence, shown, most)
        if (earlier := shown_of(shown.own).earlier) is not None:
            _show_verdict(shell, "the shadow window before", earlier)
            _show_lines(shell, earlier, shown, most, besides=(LOG_ONLY, CONSENT))


def _show_lines(
    shell: Shell, found: Evidence, shown: Preview, most: int, besides: Collection[str] = ()
) -> None:
    """Print what a window saw, each finding in the colour of its own verdict."""
    from edgeshift.areas.waf.evidence_texts import evidence_lines, finding_line
    from edgeshift.areas.waf.preview_part import shown_of

    names = shown_of(shown.own).names
    known = {**found.names, **names}
    verdicts = {finding_line(one, known, most): one.verdict for one in found.findings if one.verdict}
    for line in evidence_lines(found, most, names, rules=most, where=whole_of(shown)):
        if line not in besides:
            verdict = verdicts.get(line)
            style = VERDICTS[verdict.value] if verdict and verdict.value != "pass" else ""
            # Where all lines are wanted, none is cut either.
            shell.tell(line, indent=4, style=style, longest=max(LONGEST, most))


def _show_verdict(shell: Shell, label: str, found: Evidence) -> None:
    verdict = found.verdict.value
    lead = Text(f"{label}: ").append(verdict, style=VERDICTS.get(verdict, "")).append(" ")
    shell.tell(f"({found.why})", lead=lead)


PART = WafCli()

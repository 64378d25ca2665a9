"""What the area waf prints of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgeshift.cli.parts import MOST_LINES, CliPart
from edgeshift.cli.shell import Shell
from edgeshift.model.counts import agreed, counted
from edgeshift.model.durations import say_duration

if TYPE_CHECKING:
    from rich.console import Console

    from edgeshift.campaign_file.spec import CampaignSpec
    from edgeshift.operations import Preview

NO_WINDOW = "there was no validation window, so nothing has been seen of these rules at work"


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

    def show_step(self, shell: Shell, shown: Preview) -> None:
        """What would be committed or deleted."""
        from edgeshift.messages import Step

        say = shell.console.print
        if shown.step is Step.DELETE_OVERRIDES:
            listed = ", ".join(shown.overrides[:5]) + (" …" if len(shown.overrides) > 5 else "")
            said = f"  step: delete {counted(len(shown.overrides), 'URI-based override')}: {listed}"
            say(said, markup=False, soft_wrap=True)
        else:
            say(f"  step: commit {counted(shown.rules, 'rule')}; this cannot be undone", markup=False)
            for line in shown.only_log[:MOST_LINES]:
                say(f"  only logs, as signed: {line}", markup=False, soft_wrap=True)

    def show_evidence(self, shell: Shell, shown: Preview) -> None:
        """What the validation window saw."""
        say = shell.console.print
        from edgeshift.messages import Step

        if shown.evidence is None:
            if shown.step is Step.COMMIT:
                say(f"  evidence: none; {NO_WINDOW}", markup=False, soft_wrap=True)
            return
        from edgeshift.areas.waf.evidence_texts import CONSENT, LOG_ONLY, evidence_lines
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


PART = WafCli()

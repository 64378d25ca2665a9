"""What a demo shows at its end, and what it writes to its file of results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.testbed.invariants import CheckerInput, RuleCheck
from edgeshift.testbed.invariants.seen import Execution
from edgeshift.views.widths import Columns

SHOWN_VIOLATIONS = 5


def outcomes(evidence: CheckerInput, shown: Sequence[ZoneOutcome]) -> dict[str, int]:
    """The number of targets by outcome, over all campaigns: each one's last, as the Temporal server has it.
    ``shown``: outcomes that are named also where there is none of them.
    """
    last: dict[str, Execution] = {zone: runs[-1] for zone, runs in evidence.executions_of.items()}
    counted = Counter(execution.outcome or "none" for execution in last.values())
    return {outcome.value: counted.pop(outcome.value, 0) for outcome in shown} | dict(counted)


def result(
    evidence: CheckerInput,
    shown: Sequence[ZoneOutcome],
    checks: Sequence[RuleCheck],
    seconds: float,
    time_scale: float,
) -> dict[str, Any]:
    """The content of the file of results."""
    return {
        "zones": len({zone for targets in evidence.targets.values() for zone in targets}),
        "outcomes": outcomes(evidence, shown),
        "rules": [check.model_dump() for check in checks],
        "seconds": round(seconds, 1),
        "time_scale": time_scale,
        "calls": len(evidence.journal),
    }


def write_result(path: Path, found: Mapping[str, Any]) -> None:
    """Write the file of results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n")


def missing_outcomes(counted: Mapping[str, int], shown: Sequence[ZoneOutcome]) -> list[str]:
    """Outcomes that a complete demo shows and this one did not."""
    return [outcome.value for outcome in shown if not counted.get(outcome.value)]


def outcome_table(counted: Mapping[str, int]) -> Columns:
    """The zones by outcome."""
    table = Columns("outcome", "zones", title="Zones by outcome", right={"zones"})
    for outcome, count in counted.items():
        table.add(outcome.replace("_", " "), str(count))
    table.add(Text("all", style="bold"), Text(str(sum(counted.values())), style="bold"))
    return table


def rule_table(checks: Sequence[RuleCheck]) -> Columns:
    """The rules, how many cases their checkers judged, and how many broke them."""
    title = "The rules and their checkers"
    # A title that wraps goes on below itself, and not below its number.
    right = {"rule", "checked"}
    table = Columns("rule", "", "checker", "checked", "result", title=title, right=right)
    for check in checks:
        broken = len(check.violations)
        held = Text(f"✗ {broken} broken", style="bold red") if broken else Text("✓ held", style="green")
        table.add(str(check.rule), check.title, check.checker, f"{check.checked:,}", held)
    return table


def print_violations(console: Console, checks: Sequence[RuleCheck], file: str) -> None:
    """The violations, the first few of each rule."""
    for check in checks:
        for violation in check.violations[:SHOWN_VIOLATIONS]:
            console.print(Text(f"rule {check.rule}: {violation}", style="red"), soft_wrap=True)
        if (more := len(check.violations) - SHOWN_VIOLATIONS) > 0:
            console.print(Text(f"rule {check.rule}: and {more} more ({file} has them all)", style="red"))

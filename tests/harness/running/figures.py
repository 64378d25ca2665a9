"""The figures of a run, as ``out/faults.json`` and as the tables of docs/reliability.md."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.harness.cases import Case
from tests.harness.running.kept import ROOT, code_digest
from tests.harness.verdict import Verdict, added

BEGIN = "<!-- faults:begin -->"
END = "<!-- faults:end -->"
DEATHS = "worker death"
LEAST_SCHEDULES, LEAST_UNKNOWN, LEAST_RESOLVED = 10_000, 1_000, 0.95
UNKNOWN = "unknown"
"""The family whose unknown outcomes the goal is about."""


def figures(
    verdicts: Mapping[Case, Verdict], *, seed: int, share: str, seconds: float, mutants: Path
) -> dict[str, Any]:
    """Everything that a run says. ``verdicts``: of the cases that were played, now or before on the same
    code; ``seconds``: of all runs on it; ``mutants``: the file of the run of the wrong versions. Each zone
    that ended with a person is named under ``not_final``, with its reason.
    """
    total = added(verdicts.values())
    families = {
        family: added(verdict for case, verdict in verdicts.items() if case.family == family)
        for family in dict.fromkeys(case.family for case in verdicts)
    }
    unknown = added(verdict for family, verdict in families.items() if family.split("-")[0] == UNKNOWN)
    return {
        "zone_schedules": total.zone_schedules,
        "unsigned_commits": total.unsigned_commits,
        "double_commits": total.double_commits,
        "lost_zones": total.lost_zones,
        "unknown_resolved_share": _share(unknown),
        **_mutants(mutants),
        "seconds": round(seconds, 1),
        "complaints": len(total.complaints),
        "played_seconds": round(total.seconds, 1),
        "unknown_met": total.unknown_met,
        "seed": seed,
        "share": share,
        "version": version("edgeshift"),
        "commit": _commit(),
        "cores": os.cpu_count(),
        "not_final": [f"{case.id}: {one}" for case, verdict in verdicts.items() for one in verdict.not_final],
        "complained": [
            f"{case.id}: {one}" for case, verdict in verdicts.items() for one in verdict.complaints
        ],
        "families": {
            family: {
                "cases": sum(case.family == family for case in verdicts),
                "zone_schedules": found.zone_schedules,
                "unsigned_commits": found.unsigned_commits,
                "double_commits": found.double_commits,
                "lost_zones": found.lost_zones,
                "unknown_met": found.unknown_met,
                "unknown_resolved": found.unknown_resolved,
                "worker_deaths": found.faults.get(DEATHS, 0),
                "faults": found.faults,
                "outcomes": found.outcomes,
                "waiting": len(found.not_final),
                "complaints": len(found.complaints),
                "seconds": round(found.seconds, 1),
            }
            for family, found in families.items()
        },
    }


def _share(found: Verdict) -> float | None:
    return round(found.unknown_resolved / found.unknown_met, 4) if found.unknown_met else None


def missed(found: Mapping[str, Any]) -> list[str]:
    """The goals that a run of everything has missed."""
    share, met = found["unknown_resolved_share"], _of_unknown(found)
    goals = {
        f"{found['zone_schedules']:,} zone-schedules of {LEAST_SCHEDULES:,}": found["zone_schedules"]
        >= LEAST_SCHEDULES,
        f"{met:,} unknown outcomes of {LEAST_UNKNOWN:,}": met >= LEAST_UNKNOWN,
        f"{share or 0:.1%} of them resolved without a person, of {LEAST_RESOLVED:.0%}": (share or 0.0)
        >= LEAST_RESOLVED,
        **{
            f"{found[key]} {key.replace('_', ' ')}": found[key] == 0
            for key in ("unsigned_commits", "double_commits", "lost_zones")
        },
    }
    return [text for text, reached in goals.items() if not reached]


def _mutants(path: Path) -> dict[str, int | None]:
    """Of all of them, on the code as it is."""
    found = json.loads(path.read_text()) if path.exists() else {}
    if found.get("code") != code_digest() or not found.get("whole"):
        found = {}
    return {key: found.get(key) for key in ("mutants_caught", "mutants_total")}


def _commit() -> str | None:
    """The commit that is checked out, with a plus where files differ from it."""
    try:
        said = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip()


def table(found: Mapping[str, Any]) -> str:
    """The tables of docs/reliability.md, in Markdown."""
    goals = [
        ("zone-schedules", found["zone_schedules"], "10,000 or more"),
        ("unsigned commits", found["unsigned_commits"], "0"),
        ("double commits", found["double_commits"], "0"),
        ("lost zones", found["lost_zones"], "0"),
        ("complaints of any oracle or checker", found["complaints"], "0"),
        ("unknown outcomes (family `unknown`) resolved without a person", _percent(found), "95 % or more"),
        ("wrong versions that were caught in this run", _caught(found), "all"),
        ("minutes of the run", f"{found['seconds'] / 60:.0f}", ""),
    ]
    lines = [
        f"Seed {found['seed']}, share {found['share']}, version {found['version']}, commit {found['commit']},"
        f" on {found['cores']} cores.",
        "",
        "| Measure | Value | Goal |",
        "|---|---|---|",
        *(f"| {what} | {_told(value)} | {goal} |" for what, value, goal in goals),
        "",
        "| Family | Cases | Zone-schedules | Service faults met | Worker deaths | Unknown outcomes |"
        " … resolved | Left with a person | Complaints |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_line(family, one) for family, one in found["families"].items()),
    ]
    return "\n".join(lines)


def _line(family: str, one: Mapping[str, Any]) -> str:
    # The journal names a fault by its kind and whether there was an effect, or how the answer was spoilt;
    # nothing else has a colon.
    met = sum(count for kind, count in one["faults"].items() if ":" in kind)
    values = (
        one["cases"],
        one["zone_schedules"],
        met,
        one["worker_deaths"],
        one["unknown_met"],
        one["unknown_resolved"],
        one["waiting"],
        one["complaints"],
    )
    return f"| {family} | " + " | ".join(_told(value) for value in values) + " |"


def _percent(found: Mapping[str, Any]) -> str:
    share = found["unknown_resolved_share"]
    if share is None:
        return "not played"
    return f"{share:.1%} of {_of_unknown(found):,}"


def _of_unknown(found: Mapping[str, Any]) -> int:
    """The unknown outcomes that the goal is about."""
    families = found["families"].items()
    return sum(one["unknown_met"] for name, one in families if name.split("-")[0] == UNKNOWN)


def _caught(found: Mapping[str, Any]) -> str:
    if found["mutants_total"] is None:
        return "not played"
    return f"{found['mutants_caught']} of {found['mutants_total']}"


def _told(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def put_table(page: Path, text: str) -> None:
    """Put the tables into a page, between their marks. Raises ValueError where it has none."""
    content = page.read_text()
    if BEGIN not in content or END not in content:
        raise ValueError(f"{page} has no {BEGIN} and {END}, between which the tables go")
    before, _, rest = content.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")

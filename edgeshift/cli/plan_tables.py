"""What ``edgeshift plan`` prints: tables that can be read at 80 columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from edgeshift.areas import area_of
from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.forecast import Measured, forecast
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.cli.parts import CLI
from edgeshift.messages import AssessmentResult, PlanReport, ZoneAssessment
from edgeshift.model.counts import counted
from edgeshift.model.fleet import Area, Plan
from edgeshift.views.chosen import command
from edgeshift.views.widths import Columns
from edgeshift.views.words import look, targets, word

MOST_FINGERPRINTS = 12
MOST_ZONES = 20
MOST_SENTENCES = 12

WORDS: dict[Verdict | None, tuple[str, str]] = {
    Verdict.READY: ("ready", "green"),
    Verdict.ALREADY_SETTLED: ("", "dim"),
    Verdict.IN_VALIDATION: ("in validation already", "cyan"),
    Verdict.ALREADY_MIGRATED: ("already migrated", "dim"),
    Verdict.BLOCKED: ("blocked", "yellow"),
    Verdict.NEEDS_SUPPORT: ("needs support", "magenta"),
    None: ("could not be read", "red"),
}
_MIGRATING = (Verdict.READY, Verdict.IN_VALIDATION)


def show_plan(
    console: Console,
    spec: CampaignSpec,
    report: PlanReport,
    result: AssessmentResult,
    file: str,
    measured: Mapping[bool, Measured] | None = None,
    *,
    warned: Sequence[str] = (),
) -> None:
    """Print the plan: verdicts, waves, fingerprints, what stands in the way, losses, warnings, the
    forecast. ``measured``: what targets of earlier campaigns cost; ``warned``: the warnings of the file.
    """
    zones = report.zones
    found = f": {targets(len(zones), spec.area)}; nothing was changed at the service"
    console.print(Text.assemble((f"Plan of campaign {spec.name}", "bold"), found))
    console.print(_verdicts(zones, spec.area))
    if len(result.waves) > 1:
        console.print(_waves(zones, result, spec.area))
    part = CLI.of(spec.area)
    part.show_plan(console, spec, report, result)
    if part.lists_fingerprints:
        console.print(_fingerprints(zones))
    for verdict in (Verdict.NEEDS_SUPPORT, Verdict.BLOCKED, None):
        _named(console, verdict, [line for line in zones if line.verdict is verdict])
    _counted(console, "What will be lost", (loss for line in zones for loss in line.losses))
    _counted(console, "What to know", (item for line in zones for item in _to_know(line, spec.area)))
    for warning in warned:
        console.print(Text.assemble(("warning: ", "bold yellow"), warning))
    moving, enterprise = to_move(report)
    if moving:
        expected = forecast(spec, enterprise=enterprise, others=moving - enterprise, measured=measured)
        console.print(Text.assemble(("Forecast", "bold"), f": {expected.said()}."))
        for basis in expected.bases:
            console.print(f"{basis.said()}.", markup=False)
        part.show_forecast(console, spec, moving, enterprise)
    console.print(f"Next: {command('start', file)}", soft_wrap=True)


def to_move(report: PlanReport) -> tuple[int, int]:
    """How many targets of a plan are to be changed, and how many of them are Enterprise zones."""
    moving = [line for line in report.zones if line.verdict in _MIGRATING]
    return len(moving), sum(1 for line in moving if line.zone.plan is Plan.ENTERPRISE)


def _plans(lines: Iterable[ZoneAssessment]) -> str:
    counts = Counter(line.zone.plan.value for line in lines)
    return ", ".join(f"{number} {plan}" for plan, number in counts.most_common())


def _to_know(line: ZoneAssessment, area: Area) -> tuple[str, ...]:
    return (*line.warnings, *(line.additions if CLI.of(area).adds else ()))


def _verdicts(zones: Sequence[ZoneAssessment], area: Area) -> Columns:
    by_plan, nouns = CLI.of(area).by_plan, f"{word('zone', area)}s"
    table = Columns("verdict", nouns, "plans" if by_plan else "", title="\nVerdicts", right={nouns})
    for verdict, (words, style) in WORDS.items():
        words = words or look(str(verdict), area).label
        if some := [line for line in zones if line.verdict is verdict]:
            plans = _plans(some) if by_plan else ""
            table.add(Text(words, style=style), f"{len(some):,}", plans)
    return table


def _waves(zones: Sequence[ZoneAssessment], result: AssessmentResult, area: Area) -> Columns:
    numbers = (f"{word('zone', area)}s", area_of(area).phrases.to_change, "fingerprints")
    table = Columns("wave", "name", *numbers, title="\nWaves", right=numbers)
    for wave in result.waves:
        some = [line for line in zones if line.wave == wave.number]
        moving = [line for line in some if line.verdict in _MIGRATING]
        groups = {line.fingerprint for line in moving if line.fingerprint}
        table.add(str(wave.number + 1), wave.name, f"{wave.size:,}", f"{len(moving):,}", str(len(groups)))
    return table


def _fingerprints(zones: Sequence[ZoneAssessment]) -> Columns:
    groups: dict[str, list[ZoneAssessment]] = defaultdict(list)
    for line in zones:
        if line.fingerprint and line.verdict in _MIGRATING:
            groups[line.fingerprint].append(line)
    title = f"\nFingerprints: {len(groups):,} to sign off"
    table = Columns("fingerprint", "zones", "plans", "for example", title=title, right={"zones"})
    for fingerprint, some in sorted(groups.items(), key=lambda item: -len(item[1]))[:MOST_FINGERPRINTS]:
        table.add(fingerprint[:12], f"{len(some):,}", _plans(some), some[0].zone.name)
    if len(groups) > MOST_FINGERPRINTS:
        left = sum(len(some) for some in groups.values()) - sum(
            len(some) for some in sorted(groups.values(), key=len, reverse=True)[:MOST_FINGERPRINTS]
        )
        table.add("…", f"{left:,}", f"in {counted(len(groups) - MOST_FINGERPRINTS, 'more fingerprint')}", "")
    return table


def _named(console: Console, verdict: Verdict | None, lines: Sequence[ZoneAssessment]) -> None:
    """The zones of one verdict by name, each with its reason."""
    if not lines:
        return
    words, style = WORDS[verdict]
    console.print(Text(f"\n{words.capitalize()}: {counted(len(lines), 'zone')}", style=f"bold {style}"))
    table = Columns("zone", "reason", headed=False)
    for line in lines[:MOST_ZONES]:
        reason = line.error or "; ".join(line.reasons)
        table.add(Text(line.zone.name, style="bold"), reason)
    console.print(table)
    if len(lines) > MOST_ZONES:
        console.print(f"  … and {len(lines) - MOST_ZONES:,} more (--json names all)")


def _counted(console: Console, title: str, sentences: Iterable[str]) -> None:
    """Sentences that many zones share, each once with how many zones it is about."""
    counts = Counter(sentences)
    if not counts:
        return
    console.print(Text(f"\n{title}", style="bold"))
    from edgeshift.views.words import one_line

    table = Columns("zones", "sentence", headed=False)
    for sentence, number in counts.most_common(MOST_SENTENCES):
        table.add(counted(number, "zone"), one_line(sentence))
    console.print(table)
    if len(counts) > MOST_SENTENCES:
        console.print(f"  … and {counted(len(counts) - MOST_SENTENCES, 'more kind')} (--json names all)")

"""What the area esc prints of its own: scopes, probes, the removal date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from edgeshift.areas import esc
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.campaign_file.forecast import calls_a_second
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.cli.parts import LONGEST, MOST_LINES, CliPart
from edgeshift.cli.shell import Shell
from edgeshift.messages import AssessmentResult, PlanReport, ZoneAssessment
from edgeshift.model.counts import counted
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import ScopeKind, Wave
from edgeshift.model.reason_texts import text_of
from edgeshift.views.widths import Columns

if TYPE_CHECKING:
    from edgeshift.operations import Preview

MOST_SCOPES = 20
SECRETS = {
    esc.Secret.NONE.value: "none; edgeshift sets a test secret",
    esc.Secret.OWN.value: "its own: used, never overwritten",
    esc.Secret.TEST.value: "edgeshift's test secret",
}
"""Whose secret a scope has, by its value."""


def late_scopes(
    spec: CampaignSpec, report: PlanReport, result: AssessmentResult
) -> list[tuple[ZoneAssessment, datetime]]:
    """The scopes that cannot make the removal date at the present pace, and when they could be done."""
    if report.service_time is None:
        return []
    ready = [line for line in report.zones if line.verdict is Verdict.READY]
    waves, first = [], 0
    for wave in result.waves:
        end = first + sum(line.wave == wave.number for line in ready)
        waves.append(Wave(number=wave.number, name=wave.name, first=first, end=end))
        first = end
    scaled = spec.scaled()
    targets = [line.zone for line in ready]
    found = esc.late(
        targets,
        waves,
        scaled.section(EscSpec),
        spec.largest_window,
        calls_a_second(scaled),
        report.service_time,
        spec.service.facts,
    )
    return [(ready[index], at) for index, at in sorted(found.items())]


def _show(console: Console, spec: CampaignSpec, report: PlanReport, result: AssessmentResult) -> None:
    """Print the scopes, what is asked before anything is signed, and whether the removal date can be met."""
    console.print(_scopes(report.zones))
    if len(report.zones) > MOST_SCOPES:
        console.print(f"  … and {len(report.zones) - MOST_SCOPES:,} more (--json names all)")
    ready = [line for line in report.zones if line.verdict is Verdict.READY]
    if ready:
        terms, zones = spec.section(EscSpec), sum(line.zone.covers for line in ready)
        probe = terms.probe
        requests = zones * probe.sample * 2 * probe.rounds
        first = (
            ": what changes is known after the probe of a scope, and is signed then."
            f" {counted(requests, 'request')} to {counted(zones, 'zone')}, {probe.method} alone,"
            f" {probe.per_second:g} a second to a host; more only where something looks different."
        )
        console.print(Text.assemble(("\nProbe first", "bold"), first))
        console.print(
            f"Once esc is off, a scope is watched for {say_duration(terms.observe)}, every"
            f" {say_duration(terms.every)}; it is turned on again if it gets worse than was agreed."
        )
    _deadline(console, spec, report, result)


def _scopes(zones: Sequence[ZoneAssessment]) -> Columns:
    table = Columns("scope", "esc", "secret", "zones", title="\nScopes", right={"zones"})
    for line in zones[:MOST_SCOPES]:
        kind = "account " if line.zone.kind is ScopeKind.ACCOUNT else ""
        secret = line.facts.get("secret", "")
        table.add(
            f"{kind}{line.zone.name}",
            line.facts.get("esc", "?"),
            SECRETS.get(secret, secret or "?") if line.verdict is Verdict.READY else "-",
            f"{line.zone.covers:,}",
        )
    return table


def _deadline(console: Console, spec: CampaignSpec, report: PlanReport, result: AssessmentResult) -> None:
    now = report.service_time
    if now is None:
        return
    if gone := esc.too_late(now, spec.service.facts):
        console.print(Text(text_of(gone).capitalize(), style="bold red"))
        return
    removed_at = spec.service.facts.esc_removed_at
    left = say_duration(removed_at - now)
    day = (
        f": esc is removed on {removed_at:%Y-%m-%d}; by the service's clock that is {left} from now"
        f" (profile {spec.service.profile})."
    )
    console.print(Text.assemble(("Deadline", "bold"), day))
    late = late_scopes(spec, report, result)
    if not late:
        console.print(
            "At this pace every scope can make it; the time that people take to sign is not counted."
        )
        return
    console.print(
        Text(
            f"{counted(len(late), 'scope')} cannot make it, even if everything were signed at once:",
            "bold red",
        )
    )
    for line, at in late[:MOST_SCOPES]:
        console.print(Text(f"  {line.zone.name}: {at:%Y-%m-%d %H:%M} UTC at the earliest"))
    if len(late) > MOST_SCOPES:
        console.print(f"  … and {len(late) - MOST_SCOPES:,} more (--json names all)")
    console.print("What would help: a larger window, a shorter esc.observe, a smaller esc.probe.sample.")


class EscCli(CliPart):
    """Plans of Edge Side Code being turned off, and what is signed of them."""

    lists_fingerprints = False
    by_plan = False

    def show_plan(
        self, console: Console, spec: CampaignSpec, report: PlanReport, result: AssessmentResult
    ) -> None:
        """The scopes, the probe to come, and whether the removal date can be met."""
        _show(console, spec, report, result)

    def plan_data(self, spec: CampaignSpec, report: PlanReport, result: AssessmentResult) -> dict[str, Any]:
        """What time it is at the service, and who is late."""
        late = late_scopes(spec, report, result)
        return {
            "service_time": report.service_time.isoformat() if report.service_time else None,
            "late": [{"zone": line.zone.name, "id": line.zone.id, "at": at.isoformat()} for line, at in late],
        }

    def show_evidence(self, shell: Shell, shown: Preview, most: int = MOST_LINES) -> None:
        """How the probe ended, and what it looked at; its differences are in the body that is signed."""
        from edgeshift.views.parts import VIEWS

        found = isinstance(shown.evidence, ProbeReport) and bool(shown.evidence.differences)
        for number, line in enumerate(VIEWS.of(shown.area).seen_lines(shown, most)):
            shell.tell(line, lead="probe: ", longest=LONGEST, style="yellow" if found and not number else "")


PART = EscCli()

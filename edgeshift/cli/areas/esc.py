"""What the area esc prints of its own: scopes, probes, the removal date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from edgeshift.areas import esc
from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.campaign_file.warnings import calls_a_second
from edgeshift.cli.parts import CliPart
from edgeshift.cli.shell import Shell
from edgeshift.messages import AssessmentResult, PlanReport, ZoneAssessment
from edgeshift.model.counts import counted
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import ScopeKind, Wave
from edgeshift.model.reason_texts import text_of

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
        targets, waves, scaled.esc, spec.largest_window, calls_a_second(scaled), report.service_time
    )
    return [(ready[index], at) for index, at in sorted(found.items())]


def _show(console: Console, spec: CampaignSpec, report: PlanReport, result: AssessmentResult) -> None:
    """Print the scopes, what is asked before anything is signed, and whether the removal date can be met."""
    console.print(_scopes(report.zones))
    if len(report.zones) > MOST_SCOPES:
        console.print(f"  … and {len(report.zones) - MOST_SCOPES:,} more (--json names all)")
    ready = [line for line in report.zones if line.verdict is Verdict.READY]
    if ready:
        probe, zones = spec.esc.probe, sum(line.zone.covers for line in ready)
        requests = zones * probe.sample * 2 * probe.rounds
        console.print(
            "\n[bold]Probe first[/]: what changes is known after the probe of a scope, and is signed then."
            f" {counted(requests, 'request')} to {counted(zones, 'zone')}, {probe.method} alone,"
            f" {probe.per_second:g} a second to a host; more only where something looks different."
        )
        console.print(
            f"Once esc is off, a scope is watched for {say_duration(spec.esc.observe)}, every"
            f" {say_duration(spec.esc.every)}; it is turned on again if it gets worse than was agreed."
        )
    _deadline(console, spec, report, result)


def _scopes(zones: Sequence[ZoneAssessment]) -> Table:
    table = Table(
        title="\nScopes",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    table.add_column("scope", overflow="fold")
    table.add_column("esc")
    table.add_column("secret", overflow="fold")
    table.add_column("zones", justify="right")
    for line in zones[:MOST_SCOPES]:
        kind = "account " if line.zone.kind is ScopeKind.ACCOUNT else ""
        secret = line.facts.get("secret", "")
        table.add_row(
            Text(f"{kind}{line.zone.name}"),
            line.facts.get("esc", "?"),
            SECRETS.get(secret, secret or "?") if line.verdict is Verdict.READY else "-",
            f"{line.zone.covers:,}",
        )
    return table


def _deadline(console: Console, spec: CampaignSpec, report: PlanReport, result: AssessmentResult) -> None:
    now = report.service_time
    if now is None:
        return
    if gone := esc.too_late(now):
        console.print(Text(text_of(gone).capitalize(), style="bold red"))
        return
    left = say_duration(esc.REMOVED_AT - now)
    console.print(
        f"[bold]Deadline[/]: esc is removed on {esc.REMOVED_AT:%Y-%m-%d}; by the service's clock that is"
        f" {left} from now."
    )
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

    shapes = False
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

    def show_step(self, shell: Shell, shown: Preview) -> None:
        """What would be turned off."""
        all_of_it = f"all {counted(shown.covers, 'zone')} of the account at once"
        said = (
            f"  step: turn esc off for every request, for {all_of_it if shown.covers else 'this zone'};"
            " watched, and turned on again if it gets worse"
        )
        shell.console.print(said, markup=False, soft_wrap=True)

    def show_evidence(self, shell: Shell, shown: Preview) -> None:
        """What the probe found."""
        if shown.probe is None:
            return
        say = shell.console.print
        from rich.padding import Padding

        from edgeshift.views.archive_texts import coverage_lines
        from edgeshift.views.differences import changes, changes_table

        found_changes = changes([shown.probe])
        say(f"  probe: finished, {counted(len(found_changes), 'difference')}", markup=False)
        if found_changes:
            say(Padding(changes_table(found_changes), (0, 0, 0, 4)))
        for line in coverage_lines(shown.probe):
            say(f"  probe: {line}", markup=False, soft_wrap=True)


PART = EscCli()

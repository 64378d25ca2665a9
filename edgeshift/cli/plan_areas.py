"""What ``edgeshift plan`` prints for the areas esc and log-fields beside what all plans have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from edgeshift.areas import esc
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields.names import fields_of
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.campaign_file.warnings import calls_a_second
from edgeshift.messages import AssessmentResult, PlanReport, ZoneAssessment
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import ScopeKind, Wave
from edgeshift.model.reason_texts import text_of

MOST_SCOPES = 20
SECRETS = {
    esc.Secret.NONE.value: "none yet: a test secret is set",
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
    found = esc.late(targets, waves, scaled.esc, spec.window, calls_a_second(scaled), report.service_time)
    return [(ready[index], at) for index, at in sorted(found.items())]


def show_esc(console: Console, spec: CampaignSpec, report: PlanReport, result: AssessmentResult) -> None:
    """Print the scopes, what is asked before anything is signed, and whether the removal date can be met."""
    console.print(_scopes(report.zones))
    if len(report.zones) > MOST_SCOPES:
        console.print(f"  … and {len(report.zones) - MOST_SCOPES:,} more (--json names all)")
    ready = [line for line in report.zones if line.verdict is Verdict.READY]
    if ready:
        probe, zones = spec.esc.probe, sum(line.zone.covers for line in ready)
        requests = zones * probe.sample * 2 * probe.rounds
        console.print(
            "\n[bold]Probe first[/]: what changes is known once a scope was probed, and signed then."
            f" {requests:,} requests to {zones:,} zone(s), {probe.method} alone, {probe.per_second:g} a"
            " second to a host; more only where something looks different."
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
        console.print("Every scope can make it at this pace, the time that people take to sign aside.")
        return
    console.print(
        Text(f"{len(late):,} scope(s) cannot make it, even if everything were signed at once:", "bold red")
    )
    for line, at in late[:MOST_SCOPES]:
        console.print(Text(f"  {line.zone.name}: {at:%Y-%m-%d %H:%M} UTC at the earliest"))
    if len(late) > MOST_SCOPES:
        console.print(f"  … and {len(late) - MOST_SCOPES:,} more (--json names all)")
    console.print("What would help: a larger window, a shorter esc.observe, a smaller esc.probe.sample.")


def show_log_fields(console: Console, spec: CampaignSpec, report: PlanReport) -> None:
    """Print which fields zones get, and what has to be done to rulesets and log jobs."""
    terms = spec.log_fields
    common = fields_of(terms)
    console.print(f"\n[bold]Fields of every zone[/]: {len(common)}")
    for field in common:
        console.print(Text(f"  {field}"))
    more = [line.zone for line in report.zones if {line.zone.name, line.zone.id} & terms.zones.keys()]
    for zone in more[:MOST_SCOPES]:
        own = [str(field) for field in fields_of(terms.wanted(zone.id, zone.name)) if field not in common]
        console.print(Text(f"  {zone.name} also: {', '.join(own)}"), soft_wrap=True)
    if len(more) > MOST_SCOPES:
        console.print(f"  … and {len(more) - MOST_SCOPES:,} more zones have further ones (--json names all)")
    ready = [line for line in report.zones if line.verdict is Verdict.READY]
    if merged := [line for line in ready if int(line.facts.get("fields there", "0"))]:
        there = sum(int(line.facts["fields there"]) for line in merged)
        console.print(
            f"{len(merged):,} zone(s) have {there:,} custom field(s) already, of others or of earlier runs:"
            " they stay as they are."
        )
    _done(console, ready)


def _done(console: Console, ready: Sequence[ZoneAssessment]) -> None:
    counts = Counter(_without_names(item) for line in ready for item in line.additions)
    if not counts:
        return
    console.print(Text("\nWhat would be done", style="bold"))
    for said, number in counts.most_common(12):
        console.print(Text(f"  {number:,} zone(s): {said}"), soft_wrap=True)
    if len(counts) > 12:
        console.print(f"  … and {len(counts) - 12} more kinds (--json names all)")


def _without_names(said: str) -> str:
    """What is done in a zone, so that zones that only differ in the job's name or number count together."""
    said = re.sub(r"^log job \S+ ", "a log job ", said)
    return re.sub(r"^the log job \S+ is created", "a log job is created", said)

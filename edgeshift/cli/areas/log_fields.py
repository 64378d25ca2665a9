"""What the area log-fields prints of its own: fields, rulesets, log jobs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields.names import fields_of
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.areas.log_fields import PLACEHOLDER_FIELD
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.cli.parts import CliPart
from edgeshift.messages import AssessmentResult, PlanReport, ZoneAssessment
from edgeshift.model.counts import agreed, counted
from edgeshift.views.widths import Paragraph

MOST_ZONES = 20


def _show(console: Console, spec: CampaignSpec, report: PlanReport) -> None:
    """Print which fields zones get, and what has to be done to rulesets and log jobs."""
    terms = spec.section(LogFieldsSpec)
    common = fields_of(terms)
    console.print(Text.assemble(("\nFields of every zone", "bold"), f": {len(common)}"))
    for field in common:
        console.print(Text(f"  {field}"))
    more = [line.zone for line in report.zones if {line.zone.name, line.zone.id} & terms.zones.keys()]
    for zone in more[:MOST_ZONES]:
        own = [str(field) for field in fields_of(terms.wanted(zone.id, zone.name)) if field not in common]
        console.print(Text(f"  {zone.name} also: {', '.join(own)}"), soft_wrap=True)
    if len(more) > MOST_ZONES:
        console.print(f"  … and {len(more) - MOST_ZONES:,} more zones have further ones (--json names all)")
    ready = [line for line in report.zones if line.verdict is Verdict.READY]
    if merged := [line for line in ready if int(line.facts.get("fields there", "0"))]:
        there = sum(int(line.facts["fields there"]) for line in merged)
        console.print(
            f"{counted(len(merged), 'zone')} {agreed(len(merged), 'has', 'have')}"
            f" {counted(there, 'custom field')} already, of others or of earlier runs:"
            f" {agreed(there, 'it stays as it is', 'they stay as they are')}."
        )
    _done(console, ready)


def _done(console: Console, ready: Sequence[ZoneAssessment]) -> None:
    counts = Counter(_without_names(item) for line in ready for item in line.additions)
    if not counts:
        return
    console.print(Text("\nWhat would be done", style="bold"))
    for said, number in counts.most_common(12):
        console.print(Paragraph(Text("  "), f"{counted(number, 'zone')}: {said}", hang=4), soft_wrap=True)
    if len(counts) > 12:
        console.print(f"  … and {counted(len(counts) - 12, 'more kind')} (--json names all)")


def _without_names(said: str) -> str:
    """What is done in a zone, so that zones that only differ in the job's name or number count together."""
    said = re.sub(r"^log job \S+ ", "a log job ", said)
    return re.sub(r"^the log job \S+ is created", "a log job is created", said)


class LogFieldsCli(CliPart):
    """Plans of custom log fields, and what is signed of them."""

    besides = f" and your fields in place of {PLACEHOLDER_FIELD}"

    def show_plan(
        self, console: Console, spec: CampaignSpec, report: PlanReport, result: AssessmentResult
    ) -> None:
        """Which fields zones get, and what has to be done to rulesets and log jobs."""
        _show(console, spec, report)


PART = LogFieldsCli()

"""The demos of the areas: what differs between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.testbed.demo import scenario, scenario_esc, scenario_log_fields
from edgeshift.testbed.demo.approver import Judge
from edgeshift.testbed.demo.scenario import Scenario
from edgeshift.testbed.stack import Stack


@dataclass(frozen=True)
class Part:
    """One area's demo. ``zones``: of its fleet, unless it is asked for others. ``shows``: the outcomes that
    a complete demo has, beside which some others may come. ``specs``: its campaigns: the one that is watched,
    the one that is aborted, and others that run besides. ``visited``: whether visitors come to the zones.
    ``clock``: what the simulator says the time is; the machine's if None. ``result``: the file of its result.
    """

    area: Area
    zones: int
    arrange: Callable[[int, int], Scenario]
    options: Callable[[], dict[str, Any]]
    specs: Callable[[Scenario, Stack], list[CampaignSpec]]
    judge: Judge
    shows: tuple[ZoneOutcome, ...]
    sighting: str
    result: str
    visited: bool = False
    clock: datetime | None = None


_UNDONE = (
    ZoneOutcome.SETTLED,
    ZoneOutcome.ALREADY_SETTLED,
    ZoneOutcome.ROLLED_BACK,
    ZoneOutcome.REJECTED,
    ZoneOutcome.ON_HOLD,
    ZoneOutcome.ABORTED,
    ZoneOutcome.FAILED,
    ZoneOutcome.UNKNOWN,
)
_MIGRATED = (
    ZoneOutcome.MIGRATED,
    ZoneOutcome.ALREADY_MIGRATED,
    ZoneOutcome.BLOCKED,
    ZoneOutcome.NEEDS_SUPPORT,
    ZoneOutcome.REJECTED,
    ZoneOutcome.ON_HOLD,
    ZoneOutcome.ABORTED,
    ZoneOutcome.FAILED,
    ZoneOutcome.UNKNOWN,
)

PARTS = {
    Area.WAF: Part(
        area=Area.WAF,
        zones=120,
        arrange=scenario.arrange,
        options=scenario.options,
        specs=scenario.specs,
        judge=scenario.judge,
        shows=_MIGRATED,
        sighting="migrated",
        result="demo-waf.json",
    ),
    Area.ESC: Part(
        area=Area.ESC,
        zones=60,
        arrange=scenario_esc.arrange,
        options=scenario_esc.options,
        specs=scenario_esc.specs,
        judge=scenario_esc.judge,
        shows=_UNDONE,
        sighting=scenario_esc.CAMPAIGN,
        result="demo-esc.json",
        clock=scenario_esc.CLOCK,
    ),
    Area.LOG_FIELDS: Part(
        area=Area.LOG_FIELDS,
        zones=60,
        arrange=scenario_log_fields.arrange,
        options=scenario_log_fields.options,
        specs=scenario_log_fields.specs,
        judge=scenario_log_fields.judge,
        shows=(*_UNDONE, ZoneOutcome.BLOCKED),
        sighting=scenario_log_fields.CAMPAIGN,
        result="demo-log-fields.json",
        visited=True,
    ),
}

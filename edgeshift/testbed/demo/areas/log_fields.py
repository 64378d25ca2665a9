"""The demo of the area log-fields."""

from __future__ import annotations

from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.testbed.demo import scenario_log_fields
from edgeshift.testbed.demo.part import UNDONE, Part

PART = Part(
    area=Area.LOG_FIELDS,
    zones=60,
    arrange=scenario_log_fields.arrange,
    options=scenario_log_fields.options,
    specs=scenario_log_fields.specs,
    judge=scenario_log_fields.judge,
    shows=(*UNDONE, ZoneOutcome.BLOCKED),
    sighting=scenario_log_fields.CAMPAIGN,
    result="demo-log-fields.json",
    visited=True,
)

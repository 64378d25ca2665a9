"""The demo of the area log-fields."""

from __future__ import annotations

from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.testbed.demo.areas import log_fields_scenario
from edgeshift.testbed.demo.areas.log_fields_visitors import Visitors
from edgeshift.testbed.demo.part import UNDONE, Part

PART = Part(
    area=Area.LOG_FIELDS,
    zones=60,
    arrange=log_fields_scenario.arrange,
    options=log_fields_scenario.options,
    specs=log_fields_scenario.specs,
    judge=log_fields_scenario.judge,
    shows=(*UNDONE, ZoneOutcome.BLOCKED),
    sighting=log_fields_scenario.CAMPAIGN,
    result="demo-log-fields.json",
    people=lambda beside: [Visitors(beside.control, beside.scenario)],
)

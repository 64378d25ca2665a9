"""The demo of the area waf."""

from __future__ import annotations

from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.testbed.demo import scenario
from edgeshift.testbed.demo.part import Part

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

PART = Part(
    area=Area.WAF,
    zones=120,
    arrange=scenario.arrange,
    options=scenario.options,
    specs=scenario.specs,
    judge=scenario.judge,
    shows=_MIGRATED,
    sighting="migrated",
    result="demo-waf.json",
    # The demo without an area has a result by its own name.
    also=("demo.json",),
    edge=False,
)

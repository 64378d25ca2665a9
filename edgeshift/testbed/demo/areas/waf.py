"""The demo of the area waf."""

from __future__ import annotations

from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.testbed.demo.areas import waf_scenario
from edgeshift.testbed.demo.areas.waf_support import SupportDesk
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
    arrange=waf_scenario.arrange,
    options=waf_scenario.options,
    specs=waf_scenario.specs,
    judge=waf_scenario.judge,
    shows=_MIGRATED,
    people=lambda beside: [
        SupportDesk(beside, [beside.scenario.parts[waf_scenario.FIXED]], by="sam (support)")
    ],
    sighting="migrated",
    result="demo-waf.json",
    # The demo without an area has a result by its own name.
    also=("demo.json",),
    edge=False,
)

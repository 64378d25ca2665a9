"""The demo of the area esc."""

from __future__ import annotations

from edgeshift.model.fleet import Area
from edgeshift.testbed.demo import scenario_esc
from edgeshift.testbed.demo.part import UNDONE, Part

PART = Part(
    area=Area.ESC,
    zones=60,
    arrange=scenario_esc.arrange,
    options=scenario_esc.options,
    specs=scenario_esc.specs,
    judge=scenario_esc.judge,
    shows=UNDONE,
    sighting=scenario_esc.CAMPAIGN,
    result="demo-esc.json",
    clock=scenario_esc.CLOCK,
)

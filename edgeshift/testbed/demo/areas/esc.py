"""The demo of the area esc."""

from __future__ import annotations

from edgeshift.model.fleet import Area
from edgeshift.testbed.demo.areas import esc_scenario
from edgeshift.testbed.demo.part import UNDONE, Part

PART = Part(
    area=Area.ESC,
    zones=60,
    arrange=esc_scenario.arrange,
    options=esc_scenario.options,
    specs=esc_scenario.specs,
    judge=esc_scenario.judge,
    shows=UNDONE,
    sighting=esc_scenario.CAMPAIGN,
    result="demo-esc.json",
    clock=esc_scenario.CLOCK,
)

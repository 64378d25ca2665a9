"""The demos of the areas that have one (edgeshift/areas/parts.py)."""

from __future__ import annotations

from edgeshift.areas import AREAS
from edgeshift.areas.parts import PartOf
from edgeshift.testbed.demo.part import Part

DEMO = PartOf("demo", Part, required=True)

PARTS = {area: DEMO.of(area) for area, definition in AREAS.items() if DEMO.name in definition.parts}

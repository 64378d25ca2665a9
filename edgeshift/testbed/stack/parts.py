"""What a campaign of one area needs to know of a stack's simulator (edgeshift/areas/parts.py)."""

from __future__ import annotations

from edgeshift.areas.parts import PartOf
from edgeshift.testbed.stack.paths import StackPaths


class StackPart:
    """One area's part of the campaign files that ``edgeshift up`` writes."""

    def section(self, places: StackPaths, edge: str) -> list[str]:
        """The lines of the area's section. ``edge``: where the simulated edge is."""
        return []


STACK = PartOf("stack", StackPart)

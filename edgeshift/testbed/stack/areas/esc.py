"""What a campaign of the area esc needs to know of a stack's simulator: where its edge is."""

from __future__ import annotations

import json

from edgeshift.testbed.stack.parts import StackPart
from edgeshift.testbed.stack.paths import StackPaths


class EscStack(StackPart):
    """The section esc."""

    def section(self, places: StackPaths, edge: str) -> list[str]:
        """The probe asks the simulated edge, which is quick."""
        return ["esc:", "  probe:", f"    edge: {json.dumps(edge)}", "    per_second: 100"]


PART = EscStack()

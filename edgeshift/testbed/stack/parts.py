"""What a campaign of one area needs to know of a stack's simulator (edgeshift/areas/parts.py)."""

from __future__ import annotations

from edgeshift.areas.parts import PartOf
from edgeshift.testbed.stack.paths import StackPaths

REHEARSE = (
    "# To rehearse waves and two approvers, take away the # of the next two lines. Then sign with --by ada,",
    "# and again with --by grace: the stack makes a key for each.",
    "# waves: [{name: canary, zones: 6}, {name: early, percent: 25}]",
    "# sign_off: {approvers: [ada, grace], required: 2}",
)
"""What a campaign file of a stack has at its end, where its area says nothing else."""


class StackPart:
    """One area's part of the campaign files that ``edgeshift up`` writes."""

    def section(self, places: StackPaths, edge: str) -> list[str]:
        """The lines of the area's section. ``edge``: where the simulated edge is."""
        return []

    def rehearsal(self) -> tuple[str, ...]:
        """The lines at the end of the file: waves and approvers, as they stand or as an offer."""
        return REHEARSE


STACK = PartOf("stack", StackPart)

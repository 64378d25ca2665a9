"""The registry of areas: what a campaign can change.

Adding one is a file of rules, a workflow, activities and a line.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgeshift.fleet import Area


@dataclass(frozen=True)
class AreaEntry:
    """An area's place in the rest: its title for people and the name of its zone workflow."""

    title: str
    workflow: str


AREAS = {
    Area.WAF: AreaEntry(title="previous WAF managed rules to WAF Managed Rules", workflow="WafZone"),
}

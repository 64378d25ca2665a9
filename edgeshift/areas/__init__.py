"""The registry of areas: what a campaign can change.

Adding one is a file of rules, a workflow, activities and a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from edgeshift.model.fleet import Area


@dataclass(frozen=True)
class AreaEntry:
    """An area's place in the rest: its title for people, the name of the workflow of one target, and whether
    the change can be undone. ``words``: what its targets (``zone``), outcomes, places, phases and steps are
    called, where not by their own names.
    """

    title: str
    workflow: str
    reversible: bool
    words: Mapping[str, str] = field(default_factory=dict)


AREAS = {
    Area.WAF: AreaEntry(
        title="previous WAF managed rules to WAF Managed Rules", workflow="WafZone", reversible=False
    ),
    Area.ESC: AreaEntry(
        title="Edge Side Code off",
        workflow="EscScope",
        reversible=True,
        words={
            "zone": "scope",
            "working": "being read or probed",
            "waiting": "esc off, being watched",
            "watching": "esc off, being watched",
            "probing": "asking with and without the secret",
            "settled": "esc off",
            "already_settled": "esc was off",
            "rolled_back": "esc on again",
            "set_secret": "set a test secret",
            "commit": "turn esc off",
            "roll_back": "turn esc on again",
            "committing": "turning esc off",
            "rolling_back": "turning esc on again",
            "ready_validate": "ready for a test secret",
        },
    ),
    Area.LOG_FIELDS: AreaEntry(
        title="custom fields in request logs",
        workflow="LogFieldsZone",
        reversible=True,
        words={
            "waiting": "waiting for log entries",
            "settled": "fields logged",
            "already_settled": "fields were logged",
            "commit": "write the fields",
            "committing": "writing the fields",
            "roll_back": "take the fields back",
            "rolling_back": "taking the fields back",
            "watching": "waiting for log entries",
        },
    ),
}

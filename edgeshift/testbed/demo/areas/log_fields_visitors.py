"""Stand-ins for the visitors of the zones: requests at the edge, so that there is something to log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from edgeshift.testbed.demo.areas.log_fields_scenario import LONG
from edgeshift.testbed.demo.scenario import Scenario
from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.invariants.seen import Word

EVERY = 1.5
AT_ONCE = 10
TOO_LONG = 9000
"""Bytes of a header, more than all custom fields of an entry may have together (docs/service.md §8)."""


class Visitors:
    """Come to every active zone but the quiet one, until cancelled; one zone's send a header that is too
    long.
    """

    def __init__(self, control: Control, scenario: Scenario) -> None:
        self.words: list[Word] = []
        self._control = control
        self._long = scenario.parts["long"]
        self._zones = [
            zone.id
            for zone in scenario.fleet.zones
            if zone.status == "active" and zone.id not in (scenario.parts["quiet"], self._long)
        ]

    async def work(self) -> None:
        """Make requests, again and again."""
        turn = 0
        while True:
            turn += 1
            await self._come(self._zones, turn)
            await self._come([self._long], turn, headers={LONG: "x" * TOO_LONG})
            await self._control.send("POST", "logs/flush")
            await asyncio.sleep(EVERY)

    async def _come(self, zones: Iterable[str], turn: int, **more: object) -> None:
        body = {"zones": list(zones), "count": AT_ONCE, "seed": turn, **more}
        await self._control.send("POST", "edge/requests", body)

"""A stand-in for the provider's support and for the person who follows its tickets up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from temporalio.service import RPCError

from edgeshift.messages import SupportResolved, ZonePhase, ZoneState
from edgeshift.model.fleet import Area, zone_migration_id
from edgeshift.profiles import SPECIFICATION
from edgeshift.testbed.demo.part import Beside
from edgeshift.testbed.invariants.seen import Word

LOOKS_EVERY = 1.0


class SupportDesk:
    """Fixes the zones in ``fixes`` once they have a ticket, and says so to their workflows. Others wait in
    vain.

    What it said is in ``words``: a record of its own, for the checkers.
    """

    def __init__(self, beside: Beside, fixes: Iterable[str], *, by: str) -> None:
        self.by = by
        self.words: list[Word] = []
        self._client = beside.client
        self._control = beside.control
        self._left = set(fixes)
        self._say = beside.say

    async def work(self) -> None:
        """Look for tickets until every zone that is to be fixed is fixed, or until cancelled."""
        while self._left:
            for zone in sorted(self._left):
                if await self._has_ticket(zone):
                    await self._fix(zone)
            await asyncio.sleep(LOOKS_EVERY)

    async def _has_ticket(self, zone: str) -> bool:
        handle = self._client.get_workflow_handle(zone_migration_id(zone, Area.WAF))
        try:
            state = await handle.query("state", result_type=ZoneState)
        except RPCError:
            return False
        return state.phase is ZonePhase.NEEDS_SUPPORT and bool(state.tickets)

    async def _fix(self, zone: str) -> None:
        """Put the zone's rules together at the service until they are few enough, then tell the zone."""
        found = await self._control.get(f"zones/{zone}")
        name, rules = settings_of(found)["name"], settings_of(found)["firewall_rules"]
        kept = [rule for rule in rules if not _migrates(rule)]
        kept += [rule for rule in rules if _migrates(rule)][: SPECIFICATION.most_firewall_rules // 2]
        await self._control.send("PATCH", f"zones/{zone}", {"firewall_rules": kept})
        handle = self._client.get_workflow_handle(zone_migration_id(zone, Area.WAF))
        reason = f"rules put together: {len(rules)} became {len(kept)}"
        self.words.append(Word(by=self.by, at=datetime.now(UTC), zone=zone))
        await handle.signal("support_resolved", SupportResolved(by=self.by, reason=reason))
        self._left.discard(zone)
        self._say(f"{self.by} fixed {name} ({reason}) and said so")


def settings_of(zone: dict[str, Any]) -> dict[str, Any]:
    """The zone's settings in what the control API says of it."""
    found: dict[str, Any] = zone.get("settings") or zone.get("zone") or zone
    return found


def _migrates(rule: dict[str, Any]) -> bool:
    return rule.get("action", "bypass") == "bypass" and "waf" in rule.get("products", ())

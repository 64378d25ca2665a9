"""The calls of the WAF migration (docs/service.md §3.2, §4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.service_api.caller import BeforeSend
from edgeshift.service_api.errors import InvalidIdentifier
from edgeshift.service_api.identifiers import hex_id
from edgeshift.service_api.models import CompatibilityCheck, Configuration, MigrationStatus, Ruleset
from edgeshift.service_api.rulesets import RulesetCalls, entry_point_path
from edgeshift.service_api.transport import Call

ENTRY_POINT_PHASE = "http_request_firewall_managed"

_PHASE_TWO = {"phase_two": "1"}


class MigrationCalls(RulesetCalls):
    """Check, configuration, status, and the entry point that is put."""

    async def waf_check(self, zone_id: str, *, urgent: bool = False) -> CompatibilityCheck:
        """Whether the zone can update, by the conditions of phase 2."""
        path = f"/zones/{hex_id(zone_id, 'zone id')}/waf_migration/check"
        return await self._one(Call("waf.check", "GET", path, _PHASE_TWO), CompatibilityCheck, urgent=urgent)

    async def waf_config(self, zone_id: str, *, urgent: bool = False) -> Configuration:
        """The new configuration, the equivalent of the zone's current one; its ``raw`` is what is sent
        back.
        """
        path = f"/zones/{hex_id(zone_id, 'zone id')}/waf_migration/config"
        return await self._one(Call("waf.config", "GET", path, _PHASE_TWO), Configuration, urgent=urgent)

    async def waf_status(self, zone_id: str, *, urgent: bool = False) -> MigrationStatus:
        """Old and new managed rules and the state of the migration."""
        path = f"/zones/{hex_id(zone_id, 'zone id')}/waf_migration/status"
        return await self._one(Call("waf.status", "GET", path), MigrationStatus, urgent=urgent)

    async def entry_point(self, zone_id: str, *, urgent: bool = False) -> Ruleset | None:
        """The entry point ruleset of the new WAF, or None where there is none."""
        return await self.phase_entry_point(zone_id, ENTRY_POINT_PHASE, urgent=urgent)

    async def put_entry_point(
        self,
        zone_id: str,
        body: Mapping[str, Any],
        waf_migration: str,
        *,
        before_send: BeforeSend | None = None,
    ) -> Ruleset:
        """Send the migrating PUT, once. ``waf_migration``: ``validation``, or ``pending``, which is final.

        ``body`` is sent as it is. ``before_send`` is awaited when the turn has come, just before the
        request is written. What the answer says proves nothing: read ``waf_status``. Raises ServiceError;
        its ``outcome`` says whether it is proved that nothing happened.
        """
        if waf_migration not in ("pending", "validation"):
            raise InvalidIdentifier(f"waf_migration {waf_migration!r}: pending or validation is right")
        call = Call(
            "entrypoint.put",
            "PUT",
            entry_point_path(zone_id, ENTRY_POINT_PHASE),
            {"waf_migration": waf_migration, **_PHASE_TWO},
            json=dict(body),
            write=True,
        )
        return await self._one(call, Ruleset, before_send=before_send)

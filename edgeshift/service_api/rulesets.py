"""Rulesets of a zone (docs/service.md §2.2, §4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.service_api.caller import BeforeSend, Caller, count, hex_id
from edgeshift.service_api.models import Ruleset
from edgeshift.service_api.transport import Call


class RulesetCalls(Caller):
    """Reading and writing rulesets. Every write is sent once."""

    async def rulesets(self, zone_id: str) -> list[Ruleset]:
        """The zone's rulesets, without their rules."""
        return await self._cursored(Call("rulesets.list", "GET", _path(zone_id)), Ruleset)

    async def ruleset(self, zone_id: str, ruleset_id: str) -> Ruleset:
        """One ruleset with its rules."""
        return await self._one(Call("rulesets.get", "GET", _path(zone_id, ruleset_id)), Ruleset)

    async def create_ruleset(
        self, zone_id: str, body: Mapping[str, Any], *, before_send: BeforeSend | None = None
    ) -> Ruleset:
        """Create a ruleset: ``name``, ``kind``, ``phase`` and, if wanted, ``description`` and ``rules``."""
        call = Call("rulesets.create", "POST", _path(zone_id), json=dict(body), write=True)
        return await self._one(call, Ruleset, before_send=before_send)

    async def put_ruleset(
        self,
        zone_id: str,
        ruleset_id: str,
        body: Mapping[str, Any],
        *,
        before_send: BeforeSend | None = None,
    ) -> Ruleset:
        """Update a ruleset; the rules sent replace all that were there."""
        call = Call("rulesets.put", "PUT", _path(zone_id, ruleset_id), json=dict(body), write=True)
        return await self._one(call, Ruleset, before_send=before_send)

    async def delete_ruleset(
        self, zone_id: str, ruleset_id: str, *, before_send: BeforeSend | None = None
    ) -> None:
        """Delete a ruleset."""
        call = Call("rulesets.delete", "DELETE", _path(zone_id, ruleset_id), write=True)
        await self._envelope(call, before_send=before_send)

    async def ruleset_versions(self, zone_id: str, ruleset_id: str) -> list[Ruleset]:
        """The versions of a ruleset, without their rules."""
        path = f"{_path(zone_id, ruleset_id)}/versions"
        return await self._many(Call("rulesets.versions.list", "GET", path), Ruleset)

    async def ruleset_version(self, zone_id: str, ruleset_id: str, version: int) -> Ruleset:
        """An earlier version of a ruleset, with its rules."""
        path = f"{_path(zone_id, ruleset_id)}/versions/{count(version, 'version')}"
        return await self._one(Call("rulesets.versions.get", "GET", path), Ruleset)


def _path(zone_id: str, ruleset_id: str | None = None) -> str:
    path = f"/zones/{hex_id(zone_id, 'zone id')}/rulesets"
    return path if ruleset_id is None else f"{path}/{hex_id(ruleset_id, 'ruleset id')}"

"""Rulesets of a zone (docs/service.md §2.2, §4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.service_api.caller import BeforeSend, Caller
from edgeshift.service_api.envelope import Envelope, opened
from edgeshift.service_api.errors import NotFound
from edgeshift.service_api.identifiers import count, hex_id, word
from edgeshift.service_api.models import Ruleset
from edgeshift.service_api.transport import Call, Received

NO_ENTRY_POINT = 10003
"""The code of the 404 that says that a phase has no entry point (docs/service.md §7, observed)."""


class RulesetCalls(Caller):
    """Reading and writing rulesets. Every write is sent once."""

    async def rulesets(self, zone_id: str, *, urgent: bool = False) -> list[Ruleset]:
        """The zone's rulesets, without their rules."""
        return await self._cursored(Call("rulesets.list", "GET", _path(zone_id)), Ruleset, urgent=urgent)

    async def ruleset(self, zone_id: str, ruleset_id: str, *, urgent: bool = False) -> Ruleset:
        """One ruleset with its rules. Raises NotUnderstood where the answer is not of this one: what is asked
        and written next goes by its identifier.
        """
        call = Call("rulesets.get", "GET", _path(zone_id, ruleset_id))
        found = await self._one(call, Ruleset, urgent=urgent)
        if found.id != ruleset_id:
            raise self._not_understood(call, f"expected the ruleset {ruleset_id} in the answer")
        return found

    async def phase_entry_point(self, zone_id: str, phase: str, *, urgent: bool = False) -> Ruleset | None:
        """The entry point ruleset of a phase with its rules, or None where the service says that there is
        none. Raises NotUnderstood for a 404 that something between may have answered.
        """
        call = Call("entrypoint.get", "GET", entry_point_path(zone_id, phase))
        found = await self._exchanged(call, _entry_point, urgent=urgent)
        return None if found is None else self._read(call, Ruleset, found.result)

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

    async def ruleset_version(
        self, zone_id: str, ruleset_id: str, version: int, *, urgent: bool = False
    ) -> Ruleset:
        """One version of a ruleset, with its rules. Raises NotFound where there is no such version."""
        path = f"{_path(zone_id, ruleset_id)}/versions/{count(version, 'version', least=0)}"
        return await self._one(Call("rulesets.versions.get", "GET", path), Ruleset, urgent=urgent)


def entry_point_path(zone_id: str, phase: str) -> str:
    """Where the entry point of a phase is. Raises InvalidIdentifier."""
    return f"{_path(zone_id)}/phases/{word(phase, 'phase')}/entrypoint"


def _entry_point(call: Call, received: Received, *, secrets: tuple[str, ...]) -> Envelope | None:
    """The answer's envelope, None where it says that there is no entry point."""
    try:
        return opened(call, received, secrets=secrets)
    except NotFound as failure:
        # Codes and messages may be missing altogether: the service's 404 without a code says the same.
        if NO_ENTRY_POINT in failure.codes or not failure.codes:
            return None
        raise


def _path(zone_id: str, ruleset_id: str | None = None) -> str:
    path = f"/zones/{hex_id(zone_id, 'zone id')}/rulesets"
    return path if ruleset_id is None else f"{path}/{hex_id(ruleset_id, 'ruleset id')}"

"""Zones, accounts and who one is (docs/service.md §4.3, §5, observed)."""

from __future__ import annotations

from collections.abc import AsyncIterator

from edgeshift.service_api.caller import Again, Caller
from edgeshift.service_api.identifiers import hex_id
from edgeshift.service_api.models import Account, TokenVerification, Zone
from edgeshift.service_api.transport import Call

ZONES_A_PAGE = 50
"""As many as the service lists in one answer at most."""


class ZoneCalls(Caller):
    """Finding zones."""

    def zones(
        self,
        *,
        account: str | None = None,
        name: str | None = None,
        status: str | None = None,
        again: Again | None = None,
    ) -> AsyncIterator[Zone]:
        """Every zone that the credential reaches, by name; ``account`` by its identifier. ``again``: whether
        a page that fails is read again.
        """
        params = {"order": "name", "direction": "asc"}
        if account is not None:
            params["account.id"] = hex_id(account, "account id")
        if name is not None:
            params["name"] = name
        if status is not None:
            params["status"] = status
        call = Call("zones.list", "GET", "/zones", params)
        return self._paged(call, Zone, per_page=ZONES_A_PAGE, again=again)

    async def zone(self, zone_id: str, *, urgent: bool = False) -> Zone:
        """One zone. Raises NotFound, or Refused for one that the service does not accept."""
        call = Call("zones.get", "GET", f"/zones/{hex_id(zone_id, 'zone id')}")
        return await self._one(call, Zone, urgent=urgent)

    async def accounts(self) -> list[Account]:
        """Every account that the credential reaches."""
        return await self._pages(Call("accounts.list", "GET", "/accounts"), Account, per_page=50)

    async def verify_token(self) -> TokenVerification:
        """What the service says of the bearer token; for a key there is no such call."""
        return await self._one(Call("user.tokens.verify", "GET", "/user/tokens/verify"), TokenVerification)

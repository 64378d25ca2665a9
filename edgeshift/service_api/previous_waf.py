"""What is read of the previous WAF, and the deletion of an override (docs/service.md §3.2, §4.3, observed).

These calls fail once a zone has migrated.
"""

from __future__ import annotations

from edgeshift.service_api.caller import BeforeSend, Caller
from edgeshift.service_api.envelope import acknowledged
from edgeshift.service_api.identifiers import hex_id
from edgeshift.service_api.models import (
    FirewallRule,
    PageRule,
    WafGroup,
    WafOverride,
    WafPackage,
    WafRule,
    WafSetting,
)
from edgeshift.service_api.transport import Call


class PreviousWafCalls(Caller):
    """Settings of the previous WAF, and what stands beside them."""

    async def firewall_rules(self, zone_id: str, *, urgent: bool = False) -> list[FirewallRule]:
        """Every firewall rule of the zone."""
        call = Call("firewall.rules.list", "GET", f"{_zone(zone_id)}/firewall/rules")
        return await self._pages(call, FirewallRule, per_page=100, urgent=urgent)

    async def waf_packages(self, zone_id: str, *, urgent: bool = False) -> list[WafPackage]:
        """The packages of the previous managed rules."""
        call = Call("waf.packages.list", "GET", f"{_zone(zone_id)}/firewall/waf/packages")
        return await self._pages(call, WafPackage, per_page=100, urgent=urgent)

    async def waf_groups(self, zone_id: str, package_id: str) -> list[WafGroup]:
        """The groups of a package."""
        path = f"{_zone(zone_id)}/firewall/waf/packages/{hex_id(package_id, 'package id')}/groups"
        return await self._pages(Call("waf.groups.list", "GET", path), WafGroup, per_page=100)

    async def waf_rules(self, zone_id: str, package_id: str) -> list[WafRule]:
        """The rules of a package."""
        path = f"{_zone(zone_id)}/firewall/waf/packages/{hex_id(package_id, 'package id')}/rules"
        return await self._pages(Call("waf.rules.list", "GET", path), WafRule, per_page=100)

    async def waf_overrides(self, zone_id: str, *, urgent: bool = False) -> list[WafOverride]:
        """The URI-based overrides; a zone that has one is not eligible."""
        call = Call("waf.overrides.list", "GET", f"{_zone(zone_id)}/firewall/waf/overrides")
        return await self._pages(call, WafOverride, per_page=100, urgent=urgent)

    async def delete_waf_override(
        self, zone_id: str, override_id: str, *, before_send: BeforeSend | None = None
    ) -> None:
        """Delete an override, once. What the service answers is not shown: any 2xx counts, and what is left
        is read afterwards. Raises ServiceError; its ``outcome`` says what can have come of it.
        """
        path = f"{_zone(zone_id)}/firewall/waf/overrides/{hex_id(override_id, 'override id')}"
        call = Call("waf.overrides.delete", "DELETE", path, write=True)
        await self._exchanged(call, acknowledged, before_send=before_send)

    async def page_rules(self, zone_id: str, *, urgent: bool = False) -> list[PageRule]:
        """Every page rule of the zone; the list is not paged."""
        call = Call("pagerules.list", "GET", f"{_zone(zone_id)}/pagerules")
        return await self._many(call, PageRule, urgent=urgent)

    async def waf_setting(self, zone_id: str) -> WafSetting:
        """Whether the previous WAF is on for the zone."""
        return await self._one(Call("settings.waf.get", "GET", f"{_zone(zone_id)}/settings/waf"), WafSetting)


def _zone(zone_id: str) -> str:
    return f"/zones/{hex_id(zone_id, 'zone id')}"

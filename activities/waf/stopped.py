"""Whether the calls of the previous WAF have stopped for a zone, as they do once it is migrated
(docs/service.md §3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.areas import waf
from edgeshift.model.fleet import Zone
from edgeshift.service_api import Gone, ServiceClient


async def has_stopped(
    client: ServiceClient, zone: Zone, status: Mapping[str, Any], *, urgent: bool = False
) -> bool:
    """Whether the service itself says so, of a zone whose ``status`` does not speak against it. That other
    calls are gone, such as those of firewall rules, proves nothing of the migration. Raises ServiceError.
    """
    if not waf.may_be_migrated(status):
        return False
    try:
        await client.waf_packages(zone.id, urgent=urgent)
    except Gone as failure:
        return failure.refused
    return False

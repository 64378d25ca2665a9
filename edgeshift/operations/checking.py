"""Whether a changed target still is as it was signed: it is read at the service, and nothing is sent."""

from __future__ import annotations

from shlex import quote

from temporalio.client import Client

from activities.connections import Connections
from edgeshift.model.fleet import Area, Zone
from edgeshift.operations.errors import BadInput
from edgeshift.operations.parts import CHECKS, TargetCheck
from edgeshift.quota.leases import Quotas
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.archive import Archive


async def check_target(
    client: Client, archive: Archive, zone: Zone, area: Area, *, spec: str, record: str
) -> TargetCheck:
    """What is in force for a target, against its archived result ``record``. ``spec``: digest of the campaign
    file whose credentials are used, resolved here, within the rate limit that they share with its workers.
    Raises BadInput for an area that has no check, ArchiveError, ServiceError.
    """
    part = CHECKS.of(area)
    if not part.there:
        raise BadInput(
            f"a target of area {area.value} cannot be checked after its campaign",
            f"`edgeshift history {quote(zone.name)}` shows what was seen; a plan of another campaign reads it"
            " again",
        )
    quotas = Quotas(client, "check")
    connections = Connections(client, archive, SystemClock(), quotas.pacer, "")
    try:
        return await part.check(await connections.service(spec, zone), archive, record)
    finally:
        await connections.close()
        await quotas.close()

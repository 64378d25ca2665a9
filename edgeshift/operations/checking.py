"""Whether a changed target still is as it was signed: it is read at the service, and nothing is sent."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from temporalio.client import Client

from activities.connections import Connections
from edgeshift.authority.loading import RootsFiles
from edgeshift.model.fleet import Area, Zone
from edgeshift.operations.errors import BadInput, Refused
from edgeshift.operations.parts import CHECKS, TargetCheck
from edgeshift.quota.leases import Quotas
from edgeshift.runtime.clock import SystemClock
from edgeshift.service_api import NotLet
from edgeshift.stores.archive import Archive


async def check_target(
    client: Client,
    archive: Archive,
    zone: Zone,
    area: Area,
    *,
    spec: str,
    record: str,
    roots: Path | None = None,
) -> TargetCheck:
    """What is in force for a target, against its archived result ``record``. ``spec``: digest of the campaign
    file whose credentials are used, resolved here, within the rate limit that they share with its workers.
    ``roots``: the roots file that is known here, which lets them go there; None: on this machine alone.
    Raises BadInput for an area that has no check, Refused where there are no roots that the service needs,
    NotLet where these do not let it, ArchiveError, ServiceError.
    """
    part = CHECKS.of(area)
    if not part.there:
        raise BadInput(
            f"a target of area {area.value} cannot be checked after its campaign",
            f"`edgeshift history {quote(zone.name)}` shows what was seen; a plan of another campaign reads it"
            " again",
        )
    quotas = Quotas(client, "check")
    files = RootsFiles(roots) if roots is not None else None
    connections = Connections(client, archive, SystemClock(), quotas.pacer, "", roots=files)
    try:
        return await part.check(await connections.service(spec, zone), archive, record)
    except NotLet as why:
        if files is not None:
            raise
        raise Refused(
            f"{zone.name} cannot be read from here: its campaign's file leads beyond this machine, and no"
            " roots are known here that let its credentials go there",
            "set EDGESHIFT_AUTHORITY_ROOTS to the workers' roots file (docs/authority.md)",
        ) from why
    finally:
        await connections.close()
        await quotas.close()

"""What goes for a worker's secrets: somebody who listens, and activities of a specification that lies in the
archive.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from edgeshift.areas import waf
from edgeshift.campaign.start import zone_policy
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import AwaitService, OpenTicket, ResolveTargets, ZoneStart
from edgeshift.model.fleet import Area, Plan, Target, Zone, campaign_id
from edgeshift.model.reasons import ReasonCode
from edgeshift.rate_limit.circuit import Trouble, held
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Snapshot, put_document
from tests.kit import SCALE
from tests.kit.stored import put_json

SECRET = "kept-by-the-worker-5f2c81"
ZONE = Zone(id="1" * 32, name="a.example", account="2" * 32, plan=Plan.PRO)

HERE = "127.0.0.1"
AWAY = "0.0.0.0"
"""Leads to this machine as well, but is no address of it."""


@dataclass
class Listener:
    """Somebody who takes whatever is sent."""

    port: int = 0
    heard: list[bytes] = field(default_factory=list)

    def at(self, host: str = HERE, scheme: str = "http") -> str:
        """The address under this name."""
        return f"{scheme}://{host}:{self.port}"

    def has(self, secret: str) -> bool:
        """Whether it was told the secret."""
        return any(secret.encode() in one for one in self.heard)


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """A listener, which answers everything alike."""
    found = Listener()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            found.heard.append(b"(somebody connected)")
            while said := await reader.read(65536):
                found.heard.append(said)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "0.0.0.0", 0)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()


async def message(archive: Archive, activity: str, reference: str, said: dict[str, Any]) -> BaseModel:
    """The message of an activity, of a specification that lies in the archive, whose credential lies where
    the reference says. ``said``: its service, and what else it has.
    """
    service = {"credentials": [{"token": reference}], "request_limit": "5s", **said["service"]}
    described = {"name": "x", "targets": {"all": True}, "time_scale": SCALE, **said, "service": service}
    spec = CampaignSpec.model_validate(described)
    digest = await put_json(archive, spec.model_dump(mode="json"))
    if activity == "resolve_targets":
        return ResolveTargets(spec=digest)
    if activity == "await_service":
        return AwaitService(spec=digest, holds=(held(Trouble.REFUSED, "no", datetime.now(UTC), reference),))
    start = ZoneStart(
        campaign=campaign_id("x"),
        campaign_run="r",
        index=0,
        attempt=1,
        target=Target(zone=ZONE, wave=0),
        area=Area.WAF,
        spec=digest,
        policy=zone_policy(spec),
        started_by="mallory",
    )
    reading = waf.Reading(check={"compatible": True})
    snapshot = await put_document(archive, Snapshot[waf.Reading](zone=ZONE, reading=reading))
    return OpenTicket(start=start, cause=ReasonCode.TOO_MANY_RULES, snapshot=snapshot)

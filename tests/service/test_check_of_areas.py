"""A changed target is read again within its user's rate limit; areas without a way to do so say it before
anything is read.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from ruamel.yaml import YAML
from temporalio.client import Client

from edgeshift.authority.keyring import Keyring
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import LeaseRequest
from edgeshift.model.fleet import Area, Plan, Zone, quota_id
from edgeshift.operations.checking import check_target
from edgeshift.operations.errors import BadInput, Refused
from edgeshift.operations.parts import CHECKS, CheckPart, TargetCheck
from edgeshift.rate_limit.slots import Lease
from edgeshift.service_api import NotLet, NoTurn, ServiceClient
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import put_document
from tests.service.simulated import simulated
from tests.service.test_tickets_way import CERTIFICATE

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)


@pytest.mark.parametrize("area", [Area.ESC, Area.LOG_FIELDS])
async def test_an_area_without_a_check_is_refused_by_name(tmp_path: Path, area: Area) -> None:
    """Neither a credential nor the archive is needed for the answer."""
    nobody = cast(Client, None)
    with pytest.raises(BadInput, match=rf"area {area.value} cannot be checked") as refused:
        await check_target(nobody, Archive(str(tmp_path)), ZONE, area, spec="0" * 64, record="0" * 64)
    assert "edgeshift history shop.example" in refused.value.hint


class Quotas:
    """A Temporal of which the quotas alone are asked: each has ``slots`` to give, or none answers."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.asked: list[tuple[str, LeaseRequest]] = []

    def get_workflow_handle(self, workflow_id: str) -> Any:
        """The quota itself."""

        class Handle:
            async def execute_update(_, update: str, request: LeaseRequest, **more: Any) -> Lease:
                assert update == "lease"
                self.asked.append((workflow_id, request))
                if not self.slots:
                    raise ConnectionError("no worker answers")
                return Lease(first_in=0, interval=0.01, count=self.slots, again_in=60)

        return Handle()


class Reads(CheckPart):
    """An area that reads the zone, and finds it as it was."""

    there = True

    async def check(self, service: ServiceClient, archive: Archive, record: str) -> TargetCheck:
        """One call."""
        return TargetCheck(same=True, digest=(await service.zone(record)).id)


async def test_a_check_spends_slots_of_its_users_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a campaign it waits for its turn as all others do; where nobody gives one, nothing is called."""
    monkeypatch.setattr(CHECKS, "of", lambda area: Reads())
    async with simulated(tmp_path / "data") as call:
        monkeypatch.setenv("EDGESHIFT_TEST_TOKEN", call.fleet.credentials[0].value)
        service = {
            "base_url": call.server.base_url,
            "credentials": [{"token": "env:EDGESHIFT_TEST_TOKEN", "user": "ada"}],
        }
        spec = CampaignSpec.model_validate({"name": "a", "targets": {"all": True}, "service": service})
        archive = Archive((tmp_path / "archive").as_uri())
        kept = await put_document(archive, spec)

        async def checked(quotas: Quotas) -> TargetCheck:
            client, record = cast(Client, quotas), call.ids["pro"]
            return await check_target(client, archive, ZONE, Area.WAF, spec=kept, record=record)

        open_one, silent = Quotas(5), Quotas(0)
        assert (await checked(open_one)).same
        ((whose, request),) = open_one.asked
        assert whose == quota_id(spec.service.caller(spec.service.credentials[0]))
        assert request.credentials == ("env:EDGESHIFT_TEST_TOKEN",)
        with pytest.raises(NoTurn):
            await checked(silent)
        assert len([one for one in await call.journal() if one["zone"] == call.ids["pro"]]) == 1


ELSEWHERE = "api.example.com"


@asynccontextmanager
async def elsewhere(
    port: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[str, Path]]:
    """What listens at a port, by https and under a name that is none of this machine's own: its address, and
    the authority that vouches for it.
    """
    known, key = folder / "ca.pem", folder / "key.pem"
    made = [*CERTIFICATE[:-1], f"subjectAltName=DNS:{ELSEWHERE}", "-keyout", str(key), "-out", str(known)]
    await asyncio.to_thread(subprocess.run, made, check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(known, key)
    look_up = socket.getaddrinfo

    def found(host: Any, *about: Any, **more: Any) -> Any:
        return look_up("127.0.0.1" if host in (ELSEWHERE, ELSEWHERE.encode()) else host, *about, **more)

    monkeypatch.setattr(socket, "getaddrinfo", found)

    async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copied(reader, far_writer), copied(far_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(passed_on, "127.0.0.1", 0, ssl=tls)
    try:
        yield f"https://{ELSEWHERE}:{server.sockets[0].getsockname()[1]}", known
    finally:
        server.close()


async def copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """All of it."""
    while part := await reader.read(65536):
        writer.write(part)
        await writer.drain()
    writer.close()


async def test_a_zone_of_a_service_elsewhere_is_read_where_the_roots_let_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without roots the command says what it needs; by roots that do not have the service nothing is sent."""
    monkeypatch.setattr(CHECKS, "of", lambda area: Reads())
    ring = Keyring(tmp_path / "authority")
    ring.make()
    async with (
        simulated(tmp_path / "data") as call,
        elsewhere(call.server.port, tmp_path, monkeypatch) as (there, ca_file),
    ):
        monkeypatch.setenv("EDGESHIFT_TEST_TOKEN", call.fleet.credentials[0].value)
        url, reference = f"{there}/client/v4", "env:EDGESHIFT_TEST_TOKEN"
        service = {
            "base_url": url,
            "credentials": [{"token": reference, "user": "ada"}],
            "ca_file": str(ca_file),
        }
        spec = CampaignSpec.model_validate({"name": "a", "targets": {"all": True}, "service": service})
        archive = Archive((tmp_path / "archive").as_uri())
        kept = await put_document(archive, spec)

        async def checked(roots: Path | None) -> TargetCheck:
            client, record = cast(Client, Quotas(5)), call.ids["pro"]
            return await check_target(client, archive, ZONE, Area.WAF, spec=kept, record=record, roots=roots)

        with pytest.raises(Refused, match="no roots are known here") as refused:
            await checked(None)
        assert "EDGESHIFT_AUTHORITY_ROOTS" in refused.value.hint
        with pytest.raises(NotLet, match="is no service of the worker's roots"):
            await checked(ring.roots)
        assert not [one for one in await call.journal() if one["zone"] == call.ids["pro"]]
        known = YAML(typ="safe", pure=True).load(ring.roots)
        listed = [*known["services"], {"base_url": url, "credentials": [reference]}]
        ring.roots.write_text(json.dumps({**known, "services": listed}))
        assert (await checked(ring.roots)).digest == call.ids["pro"]

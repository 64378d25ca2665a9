"""The way to a ticket desk: by the campaign's proxy, and with the authorities that it trusts."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which
from typing import Any, cast

import pytest
from pydantic import ValidationError

from activities.connections import Connections
from edgeshift.campaign_file.spec import CampaignSpec, ServiceSpec, TargetSpec, TicketSpec
from edgeshift.model.fleet import Area
from edgeshift.runtime.secret_refs import SecretRefError
from edgeshift.stores.tickets import TicketsMisconfigured, TicketsUnavailable, WebhookTickets, ticket_system
from tests.service.raw_service import Request, http, raw_service
from tests.service.test_tickets import ticket

CERTIFICATE = (
    *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
    *("-days", "2", "-subj", "/CN=desk.example", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """An authority that nobody else knows, in a PEM file, and the TLS of a desk that it vouches for."""
    if which("openssl") is None:
        pytest.fail("openssl makes the certificate of this test: install it (Debian: openssl)")
    folder = tmp_path_factory.mktemp("authority")
    known, key = folder / "ca.pem", folder / "key.pem"
    subprocess.run([*CERTIFICATE, "-keyout", str(key), "-out", str(known)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(known, key)
    return known, context


@asynccontextmanager
async def tunnels() -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy that tunnels: its URL, and the first lines of what it was asked."""
    asked: list[str] = []

    async def copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head.split("\r\n")[0])
        host, _, port = head.split(" ")[1].partition(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        await asyncio.gather(copied(reader, far_writer), copied(far_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()


def taken(request: Request) -> bytes:
    return http(201, {"url": "/browse/EDGE-7"}, connection="close")


async def test_a_desk_with_an_authority_of_its_own_is_reached(
    authority: tuple[Path, ssl.SSLContext], tmp_path: Path
) -> None:
    """With the service's ca_file, or with one of the tickets' own, and with neither it is not."""
    ca_file, tls = authority
    async with raw_service(taken, tls=tls) as desk:
        hook = f"https://localhost:{desk.port}/hook"
        for spec, service in (
            (TicketSpec(webhook=hook), ServiceSpec(ca_file=str(ca_file))),
            (TicketSpec(webhook=hook, ca_file=str(ca_file)), ServiceSpec()),
        ):
            assert (await ticket_system(spec, tmp_path, service=service).open(ticket())).created
        with pytest.raises(TicketsUnavailable):
            await ticket_system(TicketSpec(webhook=hook), tmp_path, service=ServiceSpec()).open(ticket())
    assert len(desk.requests) == 2


async def test_tickets_go_by_the_proxy_of_the_service(
    authority: tuple[Path, ssl.SSLContext], tmp_path: Path
) -> None:
    """By the service's proxy, by one of the tickets' own, and by none where the file says so."""
    ca_file, tls = authority
    async with raw_service(taken, tls=tls) as desk, tunnels() as (url, asked), tunnels() as (other, by_other):
        hook = f"https://localhost:{desk.port}/hook"
        service = ServiceSpec(proxy=url, ca_file=str(ca_file))
        for spec, through, through_other in (
            (TicketSpec(webhook=hook), 1, 0),
            (TicketSpec(webhook=hook, proxy=other), 1, 1),
            (TicketSpec(webhook=hook, proxy="direct"), 1, 1),
        ):
            assert (await ticket_system(spec, tmp_path, service=service).open(ticket())).created
            assert (len(asked), len(by_other)) == (through, through_other)
    assert asked == [f"CONNECT localhost:{desk.port} HTTP/1.1"]
    assert len(desk.requests) == 3


async def test_what_a_worker_opens_goes_the_campaign_s_way(tmp_path: Path) -> None:
    """The worker's own wiring hands the campaign's proxy on, also for a desk on this machine."""
    async with raw_service(taken) as proxy:
        spec = CampaignSpec(
            name="spring",
            area=Area.WAF,
            targets=TargetSpec(include=("shop.example",)),
            service=ServiceSpec(proxy=f"http://127.0.0.1:{proxy.port}"),
            tickets=TicketSpec(webhook="http://127.0.0.1:9/hook"),
        )
        unused = cast("Any", None)
        connections = Connections(unused, unused, unused, unused, str(tmp_path / "tickets"))
        await connections.tickets(spec).open(ticket())
    assert [request.headers["host"] for request in proxy.requests] == ["127.0.0.1:9"]


def test_a_proxy_that_cannot_work_is_told_without_being_repeated(tmp_path: Path) -> None:
    """By its file where that can tell, and else where it is used; a reference that leads nowhere is named."""
    with pytest.raises(ValidationError, match="direct stands for no proxy"):
        TicketSpec(webhook="https://desk.example/hook", proxy="desk-proxy")
    with pytest.raises(TicketsMisconfigured) as raised:
        WebhookTickets("https://desk.example/hook", proxy="socks9://user:hush@there")
    assert "hush" not in str(raised.value)
    spec = TicketSpec(webhook="https://desk.example/hook")
    with pytest.raises(SecretRefError, match="EDGESHIFT_NO_SUCH_PROXY"):
        ticket_system(spec, tmp_path, service=ServiceSpec(proxy="env:EDGESHIFT_NO_SUCH_PROXY"))

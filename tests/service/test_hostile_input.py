"""What hostile peers send: sites that are probed, the service, takers of tickets, stores of log entries."""

from __future__ import annotations

import asyncio
import gzip
import resource
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from pydantic import SecretStr

from edgeshift.campaign_file.parts import TicketSpec
from edgeshift.http.posting import LARGEST_ANSWER
from edgeshift.model.fleet import Plan, Zone
from edgeshift.probes import Prober
from edgeshift.probes.fetch import LARGEST_BODY
from edgeshift.runtime.unpacking import EncodingError, Unpacking, gunzipped
from edgeshift.service_api import NotUnderstood
from edgeshift.service_api.models import ODD
from edgeshift.stores import log_entries
from edgeshift.stores.log_entries import LogStore
from edgeshift.stores.tickets import Ticket
from edgeshift.stores.tickets.ticket import TicketsMisconfigured, TicketsUnavailable
from edgeshift.stores.tickets.webhook import WebhookTickets
from tests.service.client_kit import client as client_of
from tests.service.raw_service import Answer, Request, at_edge, envelope, http, raw_service
from tests.service.test_probes_requests import SECRET, ZONE, StillClock, spec_for

LARGE = 256 << 20


@cache
def bomb(layers: int, size: int = LARGE) -> bytes:
    """Zeros in so many layers of gzip."""
    packing = zlib.compressobj(9, wbits=31)
    packed = b"".join(packing.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packing.flush()
    for _ in range(layers - 1):
        packed = gzip.compress(packed)
    return packed


def peak() -> int:
    """Bytes of memory that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "gzip,gzip,gzip", "deflate, gzip", "br"])
async def test_a_probed_site_cannot_fill_the_workers_memory(encoding: str) -> None:
    """Much that is packed into little, once or several times, is read to the probe's bound or not at all."""
    packed = bomb(encoding.count("gzip") or 1)
    headers = {"content_encoding": encoding, "content_type": "text/html"}

    def answer(request: Request) -> Answer:
        return http(200, packed, **headers)

    before = peak()
    async with raw_service(at_edge(answer)) as edge, Prober(spec_for(edge), clock=StillClock()) as prober:
        report, _ = await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
    assert report.coverage.hosts_tried == ("shop.example",)
    assert peak() - before < 120 << 20


async def test_what_is_packed_as_nobody_asked_is_compared_as_it_is() -> None:
    """A site that answers in br or in two encodings whatever it was asked for is still probed."""
    packed = gzip.compress(gzip.compress(b"<h1>Shop</h1>", mtime=0), mtime=0)

    def answer(request: Request) -> Answer:
        assert request.headers["accept-encoding"] == "gzip"
        return http(200, packed, content_encoding="gzip, gzip", content_type="text/html")

    async with raw_service(at_edge(answer)) as edge, Prober(spec_for(edge), clock=StillClock()) as prober:
        report, _ = await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
    assert report.differences == () and report.coverage.hosts_reached == ("shop.example",)


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
async def test_a_sitemap_with_a_document_type_is_not_read_in_any_encoding(codec: str) -> None:
    """Entities that multiply are refused before they do, however the sitemap is written."""
    entities = '<!ENTITY a "xxxxxxxxxx">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">'
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    declared = {"utf-16-le": "utf-16", "utf-16-be": "utf-16"}.get(codec, codec)
    text = f'<?xml version="1.0" encoding="{declared}"?><!DOCTYPE x [{entities}]>'
    text += "<urlset><url><loc>https://shop.example/&i;</loc></url></urlset>"
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(codec, b"")
    sitemap = mark + text.encode(codec)
    before = peak()

    def answer(request: Request) -> Answer:
        return http(200, sitemap if request.path == "/sitemap.xml" else b"<h1>Shop</h1>")

    async with raw_service(at_edge(answer)) as edge, Prober(spec_for(edge), clock=StillClock()) as prober:
        report, baseline = await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
    assert {one.url.path for one in baseline.urls} == {"/"}
    assert report.coverage.notes == ("shop.example/sitemap.xml is no sitemap that can be read",)
    assert peak() - before < 100 << 20


async def test_a_sitemap_in_utf_16_is_read() -> None:
    """Only document types are refused: one that is written in another encoding is a sitemap as well."""
    text = (
        '<?xml version="1.0" encoding="utf-16"?><urlset><url><loc>https://shop.example/a</loc></url></urlset>'
    )

    def answer(request: Request) -> Answer:
        return http(200, text.encode("utf-16") if request.path == "/sitemap.xml" else b"<h1>Shop</h1>")

    async with raw_service(at_edge(answer)) as edge, Prober(spec_for(edge), clock=StillClock()) as prober:
        _, baseline = await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
    assert {one.url.path for one in baseline.urls} == {"/", "/a"}


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip"])
async def test_the_service_cannot_fill_the_workers_memory(encoding: str) -> None:
    """An answer that unpacks to much more ends at the client's bound; one in two encodings is not read."""
    packed = bomb(2 if "," in encoding else 1)
    before = peak()
    async with (
        raw_service(lambda request: http(200, packed, content_encoding=encoding)) as service,
        client_of(service) as client,
    ):
        with pytest.raises(NotUnderstood):
            await client.zone("a" * 32)
    assert peak() - before < 120 << 20


ODD_NAMES: list[object] = ["", "a b", "x/y", "e\x1b[2Kvil.example", "\u202eelpmaxe.pohs", "a" * 300, 7, "-\n"]


async def test_one_odd_zone_does_not_keep_a_fleet_from_being_read() -> None:
    """Zones whose names no host can have are in the listing, marked, in signs that are safe to show; the
    others have the names that they have.
    """
    names = ["shop.example", *ODD_NAMES, "xn--bcher-kva.example", "bücher.example", "_a.b-c.example"]
    zones = [{"id": f"{number:032x}", "name": name} for number, name in enumerate(names)]
    async with (
        raw_service(lambda request: http(200, envelope(zones))) as service,
        client_of(service) as client,
    ):
        found = [zone.name async for zone in client.zones()]
    good = {"shop.example", "7", "xn--bcher-kva.example", "bücher.example", "_a.b-c.example"}
    assert len(found) == len(names) and {name for name in found if not name.startswith(ODD)} == good
    assert all(name.isprintable() and len(name) <= 104 and " " not in name for name in found)


def ticket() -> Ticket:
    return Ticket(
        key="waf-x-1",
        zone_id="a" * 32,
        zone_name="shop.example",
        account="b" * 32,
        cause="x",
        title="t",
        body="b",
        campaign="c",
    )


@pytest.mark.parametrize("pack", [lambda body: body, gzip.compress], ids=["plain", "gzip"])
async def test_a_webhook_is_read_to_a_bound(pack: Callable[[bytes], bytes]) -> None:
    """A receiver that answers without end, or packed, has the ticket; where it is is then not known better
    than by the webhook's own address.
    """
    body = pack(b'{"url": "https://tickets.example/1"' + b" " * (8 << 20) + b"}")
    headers = {} if body[:1] == b"{" else {"content_encoding": "gzip"}
    async with raw_service(lambda request: http(201, body, **headers)) as receiver:
        tickets = WebhookTickets(f"http://127.0.0.1:{receiver.port}/hook")
        opened = await tickets.open(ticket())
        assert opened.created and opened.location == f"http://127.0.0.1:{receiver.port}/hook"
        assert receiver.requests[0].headers["accept-encoding"] == "identity"
    assert LARGEST_ANSWER < LARGEST_BODY


async def test_a_webhook_that_drips_ends_at_the_limit() -> None:
    """A receiver that sends a byte now and then does not keep a worker for good."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)
        except OSError:
            return

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(TicketsUnavailable, match="TimeoutError"):
            await WebhookTickets(f"http://127.0.0.1:{port}/", limit=0.5).open(ticket())


@pytest.mark.parametrize("host", ["tickets.example", "192.0.2.1:8080", "127.0.0.1.example"])
def test_tickets_are_not_sent_in_plain_text_to_other_machines(host: str) -> None:
    """Neither where the campaign file names the webhook, nor where a reference leads to it; loopback may."""
    with pytest.raises(ValueError, match="in plain text; use https"):
        TicketSpec(webhook=f"http://{host}/x")
    with pytest.raises(TicketsMisconfigured, match="in plain text; use https"):
        WebhookTickets(f"http://{host}/x")
    for good in ("http://127.0.0.1:9/x", "http://localhost/x", f"https://{host}/x"):
        assert TicketSpec(webhook=good).webhook == good
        WebhookTickets(good)


async def test_packed_log_entries_are_read_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that unpacks to more than the bound is passed over; those beside it are read."""
    monkeypatch.setattr(log_entries, "LARGEST_UNPACKED", 1 << 20)
    (tmp_path / "bomb.log.gz").write_bytes(bomb(1, 64 << 20))
    good = gzip.compress(b'{"a": 1}\n') + gzip.compress(b'{"a": 2}\n')
    (tmp_path / "good.log.gz").write_bytes(good)
    zone = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
    found = [entry async for entry in LogStore(tmp_path.as_uri(), zone).entries()]
    assert found == [{"a": 1}, {"a": 2}]


def test_unpacking_gives_what_was_packed_and_no_more() -> None:
    """Whole files of one and of several members, and nothing of one that is cut or too long."""
    whole = gzip.compress(b"one") + gzip.compress(b"two")
    assert gunzipped(whole, 6) == b"onetwo"
    assert gunzipped(whole, 5) is None and gunzipped(whole[:-3], 100) is None
    assert gunzipped(b"none", 100) is None
    unpacking = Unpacking("gzip")
    assert len(unpacking.more(bomb(1, 8 << 20), 1000)) == 1000
    with pytest.raises(EncodingError):
        unpacking.end()

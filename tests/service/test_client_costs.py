"""What a call costs the worker: no more connections than the limit can use, an answer read once."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import tomllib
from pathlib import Path

import pytest

from edgeshift.http.tls import tls_context
from edgeshift.service_api import Refused, ServiceError, documents, transport
from edgeshift.service_api.connections import KEPT_ALIVE, ServerConnections
from edgeshift.service_api.transport import connections_for
from tests.kit import eventually
from tests.service.client_kit import BODY, ZONE, client
from tests.service.raw_service import RawService, Request, envelope, http, raw_service, refusal


@pytest.mark.parametrize(("rate", "connections"), [(0.1, 8), (4, 20), (40, 64)])
def test_the_pool_is_as_large_as_the_limit_can_use(rate: float, connections: int) -> None:
    """Calls a second by the seconds of a slow answer, within bounds."""
    assert connections_for(rate) == connections


async def test_calls_beyond_the_pool_wait_for_a_connection() -> None:
    """Sixty calls at once over a pool of twenty: all are answered, by twenty connections at most."""

    def answered(request: Request) -> bytes:
        return http(200, envelope({"id": ZONE, "name": "a.example"}))

    async with raw_service(answered) as service, client(service, most_connections=20) as calls:
        await asyncio.gather(*(calls.verify_token() for _ in range(60)), return_exceptions=True)
        assert len(service.requests) == 60
        assert len({request.connection for request in service.requests}) <= 20


async def test_one_call_after_the_other_takes_one_connection() -> None:
    """It is handed on; a connection that was idle for too long is closed, and another one is made."""
    now = 0.0
    tls = tls_context(None)
    connections = ServerConnections({}, tls, None, limit=5.0, connect=5.0, clock=lambda: now)

    async def read(service: RawService) -> None:
        async with connections.kept() as one:
            request = connections.request("GET", f"{service.base_url}/ips", {"page": "1"}, None)
            answer = await one.handle_async_request(request)
            await answer.aread()

    async with raw_service(lambda request: http(200, b"{}")) as service:
        for _ in range(3):
            await read(service)
        now += KEPT_ALIVE + 1
        await read(service)
        await connections.aclose()
        await read(service)
        await read(service)
    assert [one.connection for one in service.requests] == [1, 1, 1, 2, 3, 4]
    assert {tuple(one.query["page"]) for one in service.requests} == {("1",)}


async def test_a_connection_whose_call_was_cut_off_is_not_handed_on() -> None:
    """Its answer was never closed, so that it would take no other request; the next call has another one."""

    def answered(request: Request) -> bytes:
        return http(200, envelope(None))

    async with raw_service(answered) as service:
        connections = ServerConnections({}, tls_context(None), None, limit=1, connect=1)
        request = connections.request("GET", f"{service.base_url}/ips", None, None)
        with contextlib.suppress(asyncio.CancelledError):
            async with connections.kept() as cut_off:
                await cut_off.handle_async_request(request)
                raise asyncio.CancelledError
        async with connections.kept() as other:
            answer = await other.handle_async_request(request)
            assert answer.status_code == 200 and await answer.aread()

            await answer.aclose()
        async with connections.kept() as again:
            assert again is other is not cut_off
        await connections.aclose()


async def test_a_write_has_a_connection_of_its_own() -> None:
    """It neither takes one that was used before, nor leaves its own to others."""
    async with (
        raw_service(lambda request: http(200, envelope({"id": ZONE, "name": "a.example"}))) as service,
        client(service) as calls,
    ):
        for _ in range(2):
            with contextlib.suppress(ServiceError):
                await calls.waf_status(ZONE)
            with contextlib.suppress(ServiceError):
                await calls.put_entry_point(ZONE, BODY, "pending")
    read = {one.connection for one in service.requests if one.method == "GET"}
    written = [one.connection for one in service.requests if one.method == "PUT"]
    assert len({*written}) == 2 and not read & {*written}


async def test_no_cookie_is_sent_back() -> None:
    """What an answer would have remembered is nobody's business in the next call."""
    answer = http(200, envelope({}), set_cookie="__cf_bm=abc; path=/")
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        for _ in range(2):
            await calls.waf_status(ZONE)
    assert ["cookie" in one.headers for one in service.requests] == [False, False]


@pytest.mark.parametrize("answer", [http(200, envelope([])), http(400, refusal({"code": 1001}))])
async def test_an_answer_is_read_once(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks what it says, an error's too, is given the same document."""
    read = 0
    document_of = documents.document_of

    def counted(body: bytes) -> object:
        nonlocal read
        read += 1
        return document_of(body)

    monkeypatch.setattr(transport, "document_of", counted)
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        with contextlib.suppress(Refused):
            await calls.firewall_rules(ZONE)
    assert read == len(service.requests) == 1


def test_what_the_http_client_looks_for_is_there() -> None:
    """At every call, which is slow where it is missing: it is asked for, and it is installed."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert any(one.startswith("sniffio") for one in project["dependencies"])
    assert importlib.util.find_spec("sniffio") is not None


async def test_connections_are_closed_also_where_nobody_calls_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As of a campaign that is over: its worker goes on for months, and each connection is a descriptor."""
    monkeypatch.setattr("edgeshift.service_api.connections.KEPT_ALIVE", 0.1)
    answer = http(200, envelope({"id": ZONE, "name": "a.example"}))
    async with raw_service(lambda request: answer) as service, client(service, most_connections=20) as calls:
        await asyncio.gather(*(calls.verify_token() for _ in range(10)), return_exceptions=True)
        kept = calls._transport._connections
        assert kept._idle

        async def closed() -> bool:
            return not kept._idle

        await eventually(closed, 30, "they are closed")

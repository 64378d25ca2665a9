"""The embedded Temporal and pages of strangers in a browser of this machine: none comes in."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal, PortInUse, embedded_temporal
from tests.kit import eventually
from tests.kit.processes import listening

pytestmark = pytest.mark.embedded

STRANGER = "https://evil.example"
PLANTED = "planted-by-a-page"
START = json.dumps({"workflowType": {"name": "Campaign"}, "taskQueue": {"name": "control"}})


async def _client(server: EmbeddedTemporal) -> Client:
    return await connect(TemporalSettings(address=server.address, namespace=server.namespace))


async def _is_there(client: Client, workflow: str) -> bool:
    try:
        await client.get_workflow_handle(workflow).describe()
    except RPCError:
        return False
    return True


async def test_a_post_of_another_site_starts_nothing_at_any_port(embedded: EmbeddedTemporal) -> None:
    """A simple request of a page (text/plain, a foreign Origin) is refused wherever the server listens, under
    this machine's names and under the page's own.
    """
    client = await _client(embedded)
    ports = listening(embedded.pid)
    answers: dict[tuple[int, str], int] = {}
    async with httpx.AsyncClient(timeout=5, trust_env=False) as http:
        for address, port in ports:
            for host in (f"{address}:{port}", f"localhost:{port}", f"evil.example:{port}"):
                headers = {"host": host, "origin": STRANGER, "content-type": "text/plain"}
                url = f"http://{address}:{port}/api/v1/namespaces/default/workflows/{PLANTED}"
                try:
                    answer = await http.post(url, content=START, headers=headers)
                except httpx.HTTPError:
                    # What speaks gRPC alone.
                    continue
                answers[port, host] = answer.status_code
                assert answer.status_code >= 400, (url, host, answer.text)
    assert 403 in answers.values(), "the server's HTTP interface was not among the ports"
    assert not await _is_there(client, PLANTED)


async def test_the_http_interface_says_nothing_under_any_name(embedded: EmbeddedTemporal) -> None:
    """Reading is refused too: DNS rebinding makes a page's own name lead to it."""
    async with httpx.AsyncClient(timeout=5, trust_env=False) as http:
        for address, port in listening(embedded.pid):
            for host in (f"{address}:{port}", "evil.example", "localhost"):
                try:
                    answer = await http.get(
                        f"http://{address}:{port}/api/v1/namespaces", headers={"host": host}
                    )
                except httpx.HTTPError:
                    continue
                assert "namespaceInfo" not in answer.text and answer.status_code >= 400


async def test_without_asking_there_are_no_pages(embedded: EmbeddedTemporal) -> None:
    """Nothing that the server listens on serves a page."""
    assert embedded.ui_url is None
    async with httpx.AsyncClient(timeout=5, trust_env=False) as http:
        for address, port in listening(embedded.pid):
            try:
                answer = await http.get(f"http://{address}:{port}/")
            except httpx.HTTPError:
                continue
            assert "<html" not in answer.text


async def _lists_namespaces(http: httpx.AsyncClient, url: str, host: str) -> None:
    """Return once it does: the pages are there before the server behind them answers everything."""

    async def listed() -> bool:
        found = await http.get(f"{url}/api/v1/namespaces?pageSize=9", headers={"host": host})
        return any(one["namespaceInfo"]["name"] == "default" for one in found.json().get("namespaces", ()))

    await eventually(listed, what="the pages list the namespaces")


async def test_pages_are_for_their_own_name_and_for_no_page_of_others() -> None:
    """With pages: under their own names they and their writes work; a foreign Host, a foreign Origin, a frame
    in another page, and another port's name are refused; and what is behind the door is at no address that a
    page could guess.
    """
    async with embedded_temporal(None, ui_port=0) as server:
        assert server.ui_url is not None
        url, client = server.ui_url, await _client(server)
        own = url.removeprefix("http://")
        port = own.partition(":")[2]
        start = f"{url}/api/v1/namespaces/default/workflows/{PLANTED}"
        async with httpx.AsyncClient(timeout=20, trust_env=False) as http:
            for host in (own, f"localhost:{port}"):
                page = await http.get(url, headers={"host": host})
                assert page.status_code == 200 and "<html" in page.text
                assert page.headers["x-frame-options"] == "DENY"
                await _lists_namespaces(http, url, host)
            linked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
            followed = await http.get(url, headers={**linked, "sec-fetch-dest": "document"})
            assert followed.status_code == 200
            refused = [
                {"host": "evil.example"},
                {"host": f"evil.example:{port}"},
                {"host": "127.0.0.1:1"},
                {"host": "127.0.0.1"},
                {"origin": STRANGER},
                {"origin": "null"},
                {"origin": "http://localhost:1"},
                {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
                {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
                {**linked, "sec-fetch-dest": "iframe"},
            ]
            for headers in refused:
                read = await http.get(f"{url}/api/v1/namespaces", headers=headers)
                assert read.status_code == 403, headers
                written = await http.post(
                    start, content=START, headers={"content-type": "text/plain", **headers}
                )
                assert written.status_code == 403, headers
            assert not await _is_there(client, PLANTED)
            # The pages' own: with the token against forgery that their cookie has.
            token = http.cookies.get("_csrf")
            assert token
            taken = await http.post(
                start, content=START, headers={"origin": f"http://{own}", "x-csrf-token": token}
            )
            assert taken.status_code == 200, taken.text
            assert await _is_there(client, PLANTED)
        behind = [address for address, _ in listening(server.pid) if address != "127.0.0.1"]
        assert len(behind) == 1 and behind[0].startswith("127.")


async def test_the_pages_port_that_is_taken_is_named(unused_tcp_port: int) -> None:
    """A port for the pages that somebody listens on is refused before anything is started."""
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", unused_tcp_port)
    async with taken:
        with pytest.raises(PortInUse, match=str(unused_tcp_port)):
            async with embedded_temporal(None, ui_port=unused_tcp_port):
                pass

"""What `-v` tells of requests over HTTP: each as it is made, whatever sends it, and no secret in it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.http.overheard import explain_requests
from edgeshift.model.fleet import Plan, Zone
from edgeshift.probes import Prober
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.service_api import ConnectionRefused, Credential, ServiceClient
from edgeshift.stores.tickets import TicketsUnavailable, WebhookTickets
from tests.service.raw_service import Request, http, raw_service
from tests.service.simulated import simulated
from tests.service.test_tickets import ticket


@pytest.fixture
def said() -> Iterator[list[str]]:
    """What `-v` tells from now on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            httpx.AsyncHTTPTransport, "handle_async_request", httpx.AsyncHTTPTransport.handle_async_request
        )
        found: list[str] = []
        explain_requests(found.append)
        yield found


async def test_each_request_is_told_with_the_status_of_its_answer(tmp_path: Path, said: list[str]) -> None:
    """A reading and a change, which go over connections of different kinds; no credential, no body."""
    async with simulated(tmp_path / "data") as here:
        zone, credential = here.ids["pro"], Credential(token=here.fleet.credentials[0].value)
        base_url = here.server.base_url
        said.clear()
        async with ServiceClient(base_url, credential, pacer=Unpaced()) as calls:
            await calls.setting(zone, "always_use_https")
            await calls.change_setting(zone, "always_use_https", "on")
        url = f"{base_url}/zones/{zone}/settings/always_use_https"
        assert said == [f"HTTP: GET {url}: 200", f"HTTP: PATCH {url}: 200"]
    said.clear()
    async with ServiceClient("http://127.0.0.1:1/client/v4", credential, pacer=Unpaced()) as nowhere:
        with pytest.raises(ConnectionRefused):
            await nowhere.change_setting(zone, "always_use_https", "on")
    assert said and all(one.endswith(": no answer (ConnectError)") for one in said)


ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)


async def test_no_secret_of_a_request_is_told(said: list[str]) -> None:
    """Neither of its headers and body, nor of its URL: a receiver's path and query may be its key, however
    short and by whatever name, and so may the query of a page that is probed. A proxy is not told at all.
    """
    hidden = {
        "token": "keep-api-token-5f2c",
        "key": "keep-global-key-77ad",
        "email": "keeper@example.org",
        "esc": "edgeshift-keep-this-one",
        "destination": "keep-access-key-90",
        "challenge": "keep-challenge-31",
        "desk": "keep-desk-bearer",
        "path": "T0KEEP",
        "query": "q9x",
        "visitor": "v1sitor",
        "proxy": "keep-proxy-password",
    }
    sent: list[str] = []

    def taken(request: Request) -> bytes:
        sent.append(f"{request.path} {request.query} {request.headers} {request.body.decode()}")
        return http(
            404 if "robots" in request.path or "sitemap" in request.path else 200,
            {"success": True},
            cf_ray="1",
        )

    conf = SecretStr(f"s3://logs/a?secret-access-key={hidden['destination']}")
    async with raw_service(taken) as proxy, raw_service(taken) as other:
        by = f"http://keeper:{hidden['proxy']}@127.0.0.1:{proxy.port}"
        for credential in (
            Credential(token=SecretStr(hidden["token"])),
            Credential(key=SecretStr(hidden["key"]), email=hidden["email"]),
        ):
            async with ServiceClient(other.base_url, credential, pacer=Unpaced(), proxy=by) as calls:
                await calls.set_esc_secret(f"zones/{ZONE.id}", SecretStr(hidden["esc"]))
                job = {"destination_conf": conf, "ownership_challenge": SecretStr(hidden["challenge"])}
                await calls.create_log_job(ZONE.id, job)
        desk = f"HTTP://127.0.0.1:{other.port}/{hidden['path']}/hook?k={hidden['query']}"
        for through in (None, by):
            hook = WebhookTickets(desk, secret=SecretStr(hidden["desk"]), proxy=through, path_shown=False)
            await hook.open(ticket())
        spec = ProbeSpec.model_validate(
            {
                "edge": f"http://127.0.0.1:{other.port}",
                "per_second": 1000,
                "urls": [f"https://shop.example/reset?code={hidden['visitor']}"],
            }
        )
        async with Prober(spec, clock=SystemClock()) as prober:
            await prober.probe([ZONE], SecretStr(hidden["esc"]), lambda done, total: None)
    nowhere = WebhookTickets(f"http://127.0.0.1:1/{hidden['path']}", secret=SecretStr(hidden["desk"]))
    with pytest.raises(TicketsUnavailable):
        await nowhere.open(ticket())
    # Each was sent, but for the proxy's password, which goes in base64.
    everything = "\n".join(sent)
    assert [name for name, value in hidden.items() if value not in everything] == ["proxy"]
    assert base64.b64encode(f"keeper:{hidden['proxy']}".encode()).decode() in everything
    told = "\n".join(said)
    assert [name for name, value in hidden.items() if value in told] == []
    assert base64.b64encode(f"keeper:{hidden['proxy']}".encode()).decode() not in told
    assert f"HTTP: POST http://127.0.0.1:{other.port}/…: 200" in said
    assert "HTTP: POST http://127.0.0.1:1/…: no answer (ConnectError)" in said
    assert any(one.startswith("HTTP: GET ") and "/reset: " in one for one in said)

"""What `-v` tells of requests to the service: each as it is made, whatever sends it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from edgeshift.rate_limit.pacing import Unpaced
from edgeshift.service_api import ConnectionRefused, Credential, ServiceClient
from edgeshift.service_api.overheard import explain_requests
from tests.service.simulated import simulated


async def test_each_request_is_told_with_the_status_of_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reading and a change, which go over connections of different kinds; no credential, no body."""
    ask = httpx.AsyncHTTPTransport.handle_async_request
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", ask)
    said: list[str] = []
    explain_requests(said.append)
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

"""Settings of a zone that are on or off, read and written at the simulator over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import Credential, InvalidIdentifier, NotUnderstood, Refused, ServiceClient
from tests.service.raw_service import envelope, http, raw_service
from tests.service.simulated import simulated

HTTPS = "always_use_https"


def client(base_url: str, token: str = "t" * 40) -> ServiceClient:
    return ServiceClient(base_url, Credential(token=token), pacer=Unpaced())


async def test_a_setting_is_turned_on_and_off_again(tmp_path: Path) -> None:
    """At once, for one zone; the journal says what was sent, what it was and what it is."""
    async with simulated(tmp_path / "data") as here:
        zone, token = here.ids["pro"], here.fleet.credentials[0].value
        async with client(here.server.base_url, token) as calls:
            assert await calls.setting(zone, HTTPS) == "off"
            await calls.change_setting(zone, HTTPS, "on")
            assert await calls.setting(zone, HTTPS) == "on"
            assert await calls.setting(here.ids["business"], HTTPS) == "off"
            await calls.change_setting(zone, HTTPS, "off")
            with pytest.raises(Refused, match="Undefined zone setting"):
                await calls.setting(zone, "no_such_setting")
            with pytest.raises(InvalidIdentifier):
                await calls.setting(zone, "../waf")
        written = [entry for entry in await here.journal() if entry["call"] == "settings.patch"]
        assert [entry["setting"] for entry in written] == [
            {"name": HTTPS, "before": "off", "sent": "on", "after": "on"},
            {"name": HTTPS, "before": "on", "sent": "off", "after": "off"},
        ]
        assert {entry["effect"] for entry in written} == {"applied"}


async def test_a_value_that_is_neither_is_refused(tmp_path: Path) -> None:
    """The simulator takes on and off alone, and the setting waf keeps its own calls."""
    async with simulated(tmp_path / "data") as here:
        (error,) = await here.refused(400, "PATCH", f"pro:/settings/{HTTPS}", {"value": "maybe"})
        assert error["code"] == 1007
        assert (await here.result("GET", "pro:/settings/waf"))["id"] == "waf"


@pytest.mark.parametrize("result", [{"id": HTTPS, "value": "auto"}, {"id": "other", "value": "on"}, {}])
async def test_what_says_neither_on_nor_off_is_not_understood(result: dict[str, str]) -> None:
    """A value of another kind, or of another setting, is no reading."""
    answer = http(200, envelope(result))
    async with raw_service(lambda request: answer) as service, client(service.base_url) as calls:
        with pytest.raises(NotUnderstood, match="on or off"):
            await calls.setting("a" * 32, HTTPS)

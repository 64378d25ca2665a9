"""What a person reads and does when the service refuses the credential in mid-campaign."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.journeys.cli_kit import Place
from tests.kit import Scene, fleet_of, scene
from tests.kit.held import few, set_status, stands_still, watched

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(600)]

NAMES = tuple(f"held-{number}.example" for number in range(3))


def place_of(play: Scene, server: EmbeddedTemporal) -> Place:
    """The command line over the scene, with its campaign's file."""
    (credential,) = play.spec.service.credentials
    variable = credential.reference.removeprefix("env:")
    described = {
        "name": play.spec.name,
        "targets": {"all": True},
        "service": {
            "base_url": play.simulator.base_url,
            "credentials": [{"user": credential.user, "token": credential.reference}],
        },
    }
    folder = play.folder / "desk"
    folder.mkdir()
    (folder / "held.yaml").write_text(json.dumps(described))
    return Place(
        folder,
        EDGESHIFT_TEMPORAL_ADDRESS=server.address,
        EDGESHIFT_STATE_DIR=str(play.folder / "state"),
        **{variable: play.fleet.credentials[0].value},
    )


async def test_a_revoked_token_is_told_mended_and_gone_on_with(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """The campaign says why it stands still and what to fix; a probe a minute is all that is sent; doctor
    lets all go on once the token is taken again; nothing has failed by it.
    """
    fleet = fleet_of(*({"name": name, "plan": "pro"} for name in NAMES))
    lasting = {"expires_after": "1000d", "valid_for": "1000d"}
    async with scene(temporal_client, tmp_path, fleet, paced=True, sign_off=lasting) as play:
        place = place_of(play, embedded)
        (credential,) = play.spec.service.credentials
        waiting = await play.until(lambda found: found.places.get("awaiting", 0) == 3)
        await set_status(play, "expired")
        await play.sign([item.fingerprint for item in waiting.waiting])
        await stands_still(play)
        during = await watched(play)
        assert during and few(during), during
        await play.until(lambda found: found.state == "paused" and found.held_zones == 3)
        shown = " ".join((await asyncio.to_thread(place.ok, "status", play.spec.name)).split())
        assert f"{play.spec.name} waf paused" in shown
        for words in (
            f"by itself: the service refuses the credential {credential.reference} (9109 Invalid access",
            "to do: start the worker again with a valid one in",
            f"by `edgeshift doctor FILE` or `edgeshift resume {play.spec.name}`",
            "meanwhile one call a minute is made",
        ):
            assert words in shown
        assert play.fleet.credentials[0].value not in shown
        assert {(await play.state(name)).phase for name in NAMES} == {ZonePhase.WAITING_FOR_SERVICE}
        await set_status(play, "active")
        told = await asyncio.to_thread(place.run, "doctor", "held.yaml", "--json")
        checks = {check["name"]: check for check in json.loads(told.out)["checks"]}
        found = await play.until(lambda seen: not seen.holds)
        assert any("the service may be called again" in note for note in found.notes)
        if (lifted := checks.get(f"calls of {credential.user}")) is not None:
            # Else the next probe was earlier.
            assert "they go on now" in lifted["text"] and "start it again" in lifted["fix"]
        assert (await play.sign_everything()).outcomes == {"migrated": 3}
        await play.check_rules(absent={3, 4, 7})

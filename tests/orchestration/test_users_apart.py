"""Several users of the service in one campaign, side by side: what befalls one of them slows none of the
others.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignSummary, ZonePhase
from edgeshift.model.fleet import ZoneOutcome, quota_id
from edgeshift.quota.leases import Quotas
from edgeshift.runtime.settings import Settings, WorkerSettings
from edgeshift.service_api import Credential, ServiceClient, ServiceError
from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.simulator.fleet_file import Fleet
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.server import running
from tests.kit import OUT, Scene, scene
from tests.kit.held import fault
from tests.kit.queue import on_queue
from tests.kit.tiers import tiered
from worker.wiring import workers

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

USERS = ("ann", "bob")
SCALE = 10
LIMIT = {"requests": 300, "window_seconds": 600, "block_seconds": 600, "headers": True}
"""Of the service: 5 calls a second, as everything is ten times as fast."""

SECONDS = 8.0

TROUBLES: dict[str, dict[str, Any]] = {
    "blocked": {"kind": "rate_limit", "block": True, "times": 1},
    "out": {"kind": "server_error", "status": 500, "effect": "before", "times": 1_000_000},
    "silent": {"kind": "hang", "times": 1_000_000},
    "revoked": {},
}


def fleet(tag: str) -> Fleet:
    """Two accounts, each with a user, a token and three zones."""
    accounts = {name: f"{name} {tag}" for name in USERS}
    return Fleet.model_validate(
        {
            "users": [{"email": f"{name}@example.com"} for name in USERS],
            "credentials": [
                {"label": name, "user": f"{name}@example.com", "accounts": [accounts[name]]} for name in USERS
            ],
            "accounts": [{"name": accounts[name]} for name in USERS],
            "zones": [
                {"name": f"{name}{number}.{tag}.example", "plan": "pro", "account": accounts[name]}
                for number in range(3)
                for name in USERS
            ],
        }
    )


async def befalls(control: Control, trouble: str, name: str) -> None:
    """Trouble for one user, from now on."""
    if trouble == "revoked":
        await control.send("PUT", f"credentials/{name}", {"status": "disabled"})
    else:
        match = {"user": f"{name}@example.com"}
        await control.send("POST", "faults", {**TROUBLES[trouble], "match": match})


@pytest.mark.parametrize("trouble", tiered(TROUBLES))
async def test_the_calls_of_one_user_are_not_slowed_by_what_befalls_another(
    temporal_client: Client, tmp_path: Path, trouble: str
) -> None:
    """In one process, with more work than fits for both: one is refused every call, or gets no answer, and
    the other one's limit is used as before.
    """
    tag = uuid.uuid4().hex[:8]
    client, seen = on_queue(temporal_client, f"apart-{tag}"), fleet(tag)
    options = SimulatorOptions.model_validate({"time_scale": SCALE, "rate_limit": LIMIT})
    done = dict.fromkeys(USERS, 0)
    async with (
        workers(client, Settings(state_dir=tmp_path, worker=WorkerSettings(queues="quota"))),
        running(seen, tmp_path / "simulator", options=options) as served,
    ):
        spec = CampaignSpec.model_validate(
            {
                "name": f"apart-{tag}",
                "targets": {"all": True},
                "time_scale": SCALE,
                "service": {
                    "base_url": served.base_url,
                    "credentials": [{"token": f"env:{name}", "user": name} for name in USERS],
                    "rate": {"requests": 300, "per": "10m", "people": 0},
                },
            }
        ).scaled()
        quotas = Quotas(client, "the process")

        async def calls(name: str, service: ServiceClient, zone: str) -> None:
            while True:
                try:
                    await service.page_rules(zone)
                    done[name] += 1
                except ServiceError:
                    await asyncio.sleep(0.1)

        async def user(name: str) -> None:
            number = USERS.index(name)
            credential = spec.service.credentials[number]
            known = Credential(token=seen.credentials[number].value, named=credential.reference)
            pacer = quotas.pacer(credential, spec)
            async with ServiceClient(served.base_url, known, pacer=pacer) as service:
                await asyncio.gather(*(calls(name, service, seen.zones[number].id) for _ in range(20)))

        control = Control(served.control_url)
        at_work = [asyncio.create_task(user(name)) for name in USERS]
        try:
            await asyncio.sleep(5)
            before = dict(done)
            await asyncio.sleep(SECONDS)
            usual = done["bob"] - before["bob"]
            await befalls(control, trouble, "ann")
            await asyncio.sleep(2)
            before = dict(done)
            await asyncio.sleep(SECONDS)
            made = {name: done[name] - before[name] for name in USERS}
        finally:
            for task in at_work:
                task.cancel()
            await asyncio.gather(*at_work, return_exceptions=True)
            await quotas.close()
            for credential in spec.service.credentials:
                await client.get_workflow_handle(quota_id(spec.service.caller(credential))).terminate()
    assert made["ann"] == 0
    assert made["bob"] >= 0.8 * 0.99 * 5 * SECONDS, (made, usual)
    assert usual >= 0.8 * 0.99 * 5 * SECONDS, usual


async def test_zones_of_one_user_are_migrated_while_another_is_blocked(
    temporal_client: Client, tmp_path: Path
) -> None:
    """In one campaign whose window has two places: the service refuses every call of one user for a while.
    The zones of the other one are migrated meanwhile, and those of the first one after it.
    """
    tag = uuid.uuid4().hex[:8]
    names = {user: [f"{user}{number}.{tag}.example" for number in range(3)] for user in USERS}
    own = on_queue(temporal_client, f"apart-{tag}")
    async with scene(own, tmp_path, fleet(tag), paced=True, begin=False, window=2) as play:

        async def signed(user: str) -> None:
            for name in names[user]:
                await play.zone_until(name, lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF)
                await play.sign_zone(name)

        refused = {"kind": "rate_limit", "retry_after": 15}
        async with fault(play, refused, user="ann@example.com", call="waf.*"):
            await play.begin()
            await signed("bob")
            for name in names["bob"]:
                assert await play.outcome(name) is ZoneOutcome.MIGRATED
            of_bob = {play.zone_id(name) for name in names["bob"]}
            assert {entry["zone"] for entry in await play.commits()} == of_bob
            assert any(entry["status"] == 429 for entry in await play.journal())
            assert (await play.state(names["ann"][0])).phase is ZonePhase.ASSESSING
            # Now nobody else has anything left for the other place.
            assert (await play.summary()).places == {"pending": 1, "working": 2, "migrated": 3}
        await signed("ann")
        assert (await play.result()).outcomes == {"migrated": 6}
        await play.check_rules(absent={3, 4, 7})


async def befallen(play: Scene, trouble: str) -> Callable[[], Awaitable[object]]:
    """Ann's calls are refused, or not answered; what ends that."""
    if trouble == "refused":
        await play.control.send("PUT", "credentials/ann", {"status": "expired"})
        return lambda: play.control.send("PUT", "credentials/ann", {"status": "active"})
    match = {"user": "ann@example.com"}
    booked = await play.control.send("POST", "faults", {**OUT, "match": match, "times": 1_000_000})
    return lambda: play.control.send("DELETE", f"faults/{booked['id']}", None)


def goes_on_without(play: Scene, trouble: str, found: CampaignSummary) -> None:
    """The campaign runs, and says how many zones wait for whom, and what is to be fixed."""
    ann = play.spec.service.credentials[0]
    assert found.state == "running" and len(found.holds) == len(found.held_by) == 1, found
    (waits,) = found.held_by
    assert waits.zones == 3
    if trouble == "refused":
        assert (waits.credential, waits.user) == (ann.reference, "")
        assert found.why.startswith("3 zones wait: the service refuses the credential")
        assert ann.reference.removeprefix("env:") in found.fix
    else:
        assert (waits.credential, waits.user) == ("", play.spec.service.caller(ann))
        assert found.why.startswith(f"3 zones of user {ann.user} wait: the service does not answer")
        assert "no action needed" in found.fix


async def each_committed_once(play: Scene) -> None:
    """Each zone was, and nothing else."""
    sent = [entry["zone"] for entry in await play.commits() if entry["effect"] != "none"]
    assert sorted(sent) == sorted(zone.id for zone in play.fleet.zones)
    await play.check_rules(absent={3, 4, 7})


async def sign_and_migrate(play: Scene, names: list[str]) -> None:
    """They do not wait for the others; without them there is nothing left to do, and the campaign says so."""
    for name in names:
        await play.sign_zone(name)
    for name in names:
        assert await play.outcome(name) is ZoneOutcome.MIGRATED
    await play.until(lambda found: found.state == "paused")


COURSES = ("refused/itself", "refused/resume", "out/itself")


@pytest.mark.long
@pytest.mark.parametrize("course", COURSES)
async def test_zones_of_a_user_in_trouble_from_the_start_take_no_place_from_others(
    temporal_client: Client, tmp_path: Path, course: str
) -> None:
    """With a window of fewer zones than wait: those of the other user are migrated meanwhile, and these after
    it.
    """
    trouble, fixed = course.split("/")
    tag = uuid.uuid4().hex[:8]
    names = {user: [f"{user}{number}.{tag}.example" for number in range(3)] for user in USERS}
    own = on_queue(temporal_client, f"apart-{tag}")
    async with scene(own, tmp_path, fleet(tag), paced=True, begin=False, window=4) as play:
        ends: list[Callable[[], Awaitable[object]]] = []

        async def trouble_begins() -> None:
            ends.append(await befallen(play, trouble))

        # Short runs: what is held, and who has given up a place, is carried from one to the next.
        await play.begin(meanwhile=trouble_begins, most_events=60)
        for name in names["bob"]:
            await play.zone_until(name, lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF)
        goes_on_without(play, trouble, await play.until(lambda found: bool(found.holds)))
        await sign_and_migrate(play, names["bob"])
        await go_on(play, ends[0], fixed)
        for name in names["ann"]:
            await play.zone_until(name, lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF)
            await play.sign_zone(name)
        assert (await play.result()).outcomes == {"migrated": 6}
        await each_committed_once(play)


@pytest.mark.parametrize("course", tiered(COURSES))
async def test_zones_of_a_user_in_trouble_give_their_permits_and_places_to_others(
    temporal_client: Client, tmp_path: Path, course: str
) -> None:
    """Trouble for one of them once all zones wait for their sign-offs, and hers were given first."""
    trouble, fixed = course.split("/")
    tag = uuid.uuid4().hex[:8]
    names = {user: [f"{user}{number}.{tag}.example" for number in range(3)] for user in USERS}
    own = on_queue(temporal_client, f"apart-{tag}")
    async with scene(own, tmp_path, fleet(tag), paced=True, window=2) as play:
        await play.until(lambda found: found.places.get("awaiting", 0) == 6)
        ends = await befallen(play, trouble)
        for name in names["ann"]:
            await play.sign_zone(name)
        goes_on_without(play, trouble, await play.until(lambda found: bool(found.holds)))
        await sign_and_migrate(play, names["bob"])
        assert (await play.summary()).permits_out == 0
        await go_on(play, ends, fixed)
        assert (await play.result()).outcomes == {"migrated": 6}
        await each_committed_once(play)


async def go_on(play: Scene, ends: Callable[[], Awaitable[object]], fixed: str) -> None:
    """The trouble ends; by a probe, or since a person says so."""
    await ends()
    if fixed == "resume":
        await play.ask("resume")
    await play.until(lambda found: not found.holds)


@pytest.mark.long
async def test_a_zone_whose_commit_may_be_in_flight_keeps_its_place(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its user's credential is refused before anybody has seen what became of it: until it has been read, a
    window of one has no room for a zone of the other user.
    """
    tag = uuid.uuid4().hex[:8]
    hers, his = f"ann0.{tag}.example", f"bob0.{tag}.example"
    own = on_queue(temporal_client, f"apart-{tag}")
    slow = {"migration_seconds": 86_400}
    more: dict[str, Any] = {"targets": {"include": (hers, his)}, "commit": {"migration_limit": "20s"}}
    async with scene(own, tmp_path, fleet(tag), paced=True, window=1, simulator=slow, **more) as play:
        await play.until(lambda found: found.places.get("awaiting", 0) == 2)
        await play.sign_zone(hers)
        await play.zone_until(hers, lambda state: state.phase is ZonePhase.VERIFYING)
        ends = await befallen(play, "refused")
        await play.zone_until(hers, lambda state: state.phase is ZonePhase.WAITING_FOR_SERVICE)
        await play.sign_zone(his)
        await play.until(lambda found: found.places.get("ready", 0) == 1)
        await asyncio.sleep(3)
        found = await play.summary()
        assert (found.state, found.places) == ("running", {"ready": 1, "permitted": 1}), found
        await go_on(play, ends, "itself")
        assert (await play.result()).outcomes == {"migrated": 2}
        await play.check_rules(absent={3, 4, 7})

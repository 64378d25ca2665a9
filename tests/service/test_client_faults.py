"""The client against a simulator with faults, and against its rate limit."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.rate_limit.terms import PaceTerms
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import NotUnderstood, Outcome, RateLimited, ServiceError
from edgeshift.testbed.simulator.faults import FaultSpec
from edgeshift.testbed.simulator.options import RateLimit
from tests.kit.local_pacing import LocalPacer
from tests.service.client_scene import scene, until_state

AFTER = {"effect": "after"}
BEFORE = {"effect": "before"}

FAULTS: list[tuple[dict[str, Any], Outcome, bool]] = [
    ({"kind": "rate_limit"}, Outcome.NOTHING_HAPPENED, False),
    ({"kind": "server_error", "status": 500, **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "server_error", "status": 502, **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "server_error", "status": 500, **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "server_error", "status": 502, **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "gateway_timeout", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "hang", **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "hang", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "reset", **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "reset", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "not_json", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "not_json", **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "truncated", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "wrong_types"}, Outcome.MAY_HAVE_HAPPENED, True),
]


@pytest.mark.parametrize(
    ("fault", "outcome", "done"),
    FAULTS,
    ids=[f"{row[0]['kind']}-{row[0].get('effect', '')}" for row in FAULTS],
)
async def test_a_fault_at_the_commit_is_judged_and_never_sent_again(
    tmp_path: Path, fault: dict[str, Any], outcome: Outcome, done: bool
) -> None:
    """Every fault at the migrating PUT: its outcome is what can be known, and the journal has one PUT."""
    spec = FaultSpec.model_validate({**fault, "match": {"call": "entrypoint.put"}})
    async with scene(tmp_path, faults=[spec]) as here, here.client(seconds=2) as client:
        zone = here.zone("pro")
        config = await client.waf_config(zone)
        with pytest.raises(ServiceError) as raised:
            await client.put_entry_point(zone, config.raw, "pending")
        assert raised.value.outcome is outcome
        if done:
            await until_state(client, zone, "complete")
        else:
            await asyncio.sleep(0.5)
            assert (await client.waf_status(zone)).migration_state == "start"
        assert len(await here.journal("entrypoint.put")) == 1


@pytest.mark.parametrize("kind", ["null_errors", "unknown_enum"])
async def test_what_is_only_unusual_is_tolerated(tmp_path: Path, kind: str) -> None:
    """Null errors and messages, and values nobody knows: every reading goes through."""
    faults = [FaultSpec.model_validate({"kind": kind})]
    async with scene(tmp_path, faults=faults) as here, here.client() as client:
        zone = here.zone("rules")
        assert (await client.waf_check(zone)).compatible is True
        assert await client.waf_status(zone)
        assert len(await client.firewall_rules(zone)) == 201
        assert len([item async for item in client.zones()]) == len(here.fleet.zones)
        for package in await client.waf_packages(zone):
            assert await client.waf_groups(zone, package.id)


@pytest.mark.parametrize("kind", ["not_json", "wrong_types", "truncated"])
async def test_nonsense_is_an_error_and_never_a_reading(tmp_path: Path, kind: str) -> None:
    """Answers that are no answers: each reading fails by name, none comes back empty or wrong."""
    faults = [FaultSpec.model_validate({"kind": kind})]
    async with scene(tmp_path, faults=faults) as here, here.client(seconds=2) as client:
        zone = here.zone("rules")
        for read in (client.waf_check, client.waf_config, client.firewall_rules, client.page_rules):
            with pytest.raises(ServiceError) as raised:
                await read(zone)
            assert raised.value.outcome is Outcome.READ
            assert kind == "truncated" or isinstance(raised.value, NotUnderstood)


async def test_a_paced_client_never_meets_the_limit(tmp_path: Path) -> None:
    """Twice as much work as a window holds, from many tasks: no call is refused, and the limit is used."""
    limit = RateLimit(requests=60, window_seconds=3, block_seconds=3)
    terms = PaceTerms(limit=60, window=3.0, block=0.5)
    async with scene(tmp_path, rate_limit=limit) as here:
        pacer = LocalPacer(terms)
        async with here.client(pacer=pacer) as client:
            began = asyncio.get_running_loop().time()
            zone = here.zone("pro")
            await asyncio.gather(*(client.waf_status(zone) for _ in range(120)))
            took = asyncio.get_running_loop().time() - began
        await pacer.aclose()
        (use,) = (await here.control("GET", "/rate-limits"))["users"]
        assert use["busiest_window"] <= 60
        assert took < 120 / terms.rate + 3


async def test_a_block_is_kept_to(tmp_path: Path) -> None:
    """After the service has refused a call for the limit, the next one waits as long as it was told."""
    limit = RateLimit(requests=5, window_seconds=60, block_seconds=1, retry_after=True)

    class Noting(LocalPacer):
        heard: float | None = None
        at = 0.0

        def blocked(self, seconds: float) -> None:
            self.heard, self.at = seconds, asyncio.get_running_loop().time()
            super().blocked(seconds)

    async with scene(tmp_path, rate_limit=limit) as here:
        pacer = Noting(PaceTerms(limit=100_000, window=1.0))
        zone = here.zone("pro")
        async with here.client(pacer=pacer) as client:
            with pytest.raises(RateLimited) as raised:
                for _ in range(6):
                    await client.waf_status(zone)
            assert raised.value.retry_after == pacer.heard == 1
            assert (await client.waf_status(zone, urgent=True)).migration_state == "start"
            assert asyncio.get_running_loop().time() - pacer.at > 0.9
        await pacer.aclose()


@pytest.mark.parametrize(("code", "held"), [(None, False), (10100, True)])
async def test_the_limit_of_queries_holds_no_other_call(tmp_path: Path, code: int | None, held: bool) -> None:
    """It is beside that of calls: a rollback does not wait for it, and the events are asked for again when a
    window is over. The block of a user is one, whatever the call.
    """
    error = {"message": "limit reached, please retry later"} | ({} if code is None else {"code": code})
    said = {"success": False, "errors": [error], "result": None}
    fault = {"kind": "server_error", "effect": "before", "status": 429, "body": json.dumps(said), "times": 1}
    blocks: list[float] = []

    class Noting(Unpaced):
        def blocked(self, seconds: float) -> None:
            blocks.append(seconds)

    faults = [FaultSpec.model_validate({**fault, "match": {"path": "/client/v4/graphql"}})]
    async with scene(tmp_path, faults=faults) as here, here.client(pacer=Noting()) as client:
        zone, until = here.zone("pro"), datetime.now(UTC)
        with pytest.raises(RateLimited) as raised:
            await client.event_log(zone, until - timedelta(hours=1), until)
        assert blocks == ([300.0] if held else [])
        assert raised.value.retry_after == (None if held else 300.0)
        assert await client.event_log(zone, until - timedelta(hours=1), until)

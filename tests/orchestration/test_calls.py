"""How many calls a zone costs once the plan has read it, counted in the simulator's journal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import Target, ZoneOutcome
from edgeshift.operations import assess, frozen_by, start_campaign
from tests.kit import OPERATOR, Scene, fleet_of, scene
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

SIMULATOR = {"migration_seconds": 1800, "visibility_seconds": 0, "validation_seconds": 60}
SLOWER: dict[str, Any] = {"time_scale": 600.0, "simulator": SIMULATOR, "window": 1}
"""A migration takes three seconds, and one zone works at a time: the second knows what the first has seen."""

COMMIT = Counter(
    {"waf.config": 1, "pagerules.list": 1, "entrypoint.put": 1, "waf.status": 1, "entrypoint.get": 1}
)
"""What a zone costs from its sign-off on: fresh configuration and page rules, PUT, status, stored rules."""

VALIDATION = Counter(
    {
        "zones.get": 1,
        "waf.config": 1,
        "pagerules.list": 1,
        "waf.status": 1,
        "entrypoint.put validation": 1,
        "entrypoint.get": 2,
    }
)
"""What its validation costs: its plan, fresh configuration and page rules, status, stored rules, PUT, and its
stored rules again.
"""

EVIDENCE = Counter({"waf.status": 1, "entrypoint.get": 1, "graphql": 1})
"""What the evidence of a window costs: was it in validation to the end, by these rules, and its events."""


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def planned(play: Scene) -> None:
    """Plan the scene's campaign, and start it by that plan."""
    _, result = await assess(play.client, play.archive, play.spec)
    play.start = await start_campaign(
        play.client, play.archive, play.spec, by=OPERATOR, frozen=frozen_by(result, play.now())
    )
    play.targets = [Target.model_validate(item) for item in await play.archive.get_json(result.targets)]


async def calls_since(play: Scene, first: int) -> dict[str, Counter[str]]:
    """Each zone's calls by name, in the order in which the zones were first called, since so many before."""
    found: dict[str, Counter[str]] = {}
    for entry in (await play.control.journal())[first:]:
        if entry["zone"]:
            validation = " validation" if "waf_migration=validation" in str(entry["query"]) else ""
            found.setdefault(entry["zone"], Counter())[f"{entry['call']}{validation}"] += 1
    return found


async def after_a_plan(play: Scene, outcome: ZoneOutcome) -> list[Counter[str]]:
    """Plan and run the campaign; the calls of each zone after the plan, the first zone's first."""
    await planned(play)
    before = len(await play.control.journal())
    for target in play.targets:
        # Without traffic nothing speaks for a validated zone: each is signed by itself.
        await play.zone_until(
            target.zone.name, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF, within=90
        )
        await play.sign_zone(target.zone.name)
    for zone in play.fleet.zones:
        assert await play.outcome(zone.name) is outcome
    await play.result()
    return list((await calls_since(play, before)).values())


async def test_a_professional_zone_costs_five_calls_after_a_plan(client: Client, tmp_path: Path) -> None:
    """The first zone finds out how long a migration takes; every other one is asked for once it is due."""
    fleet = fleet_of(*({"name": f"five-{number}.example", "plan": "pro"} for number in range(6)))
    async with scene(client, tmp_path, fleet, begin=False, **SLOWER) as play:
        first, *others = await after_a_plan(play, ZoneOutcome.MIGRATED)
        assert len(others) == 5 and all(calls == COMMIT for calls in others), others
        assert first - COMMIT == Counter({"waf.status": first["waf.status"] - 1})
        assert 3 <= first["waf.status"] <= 10
        await play.check_rules(absent={3, 4, 6, 7})


async def test_a_zone_with_firewall_rules_that_bypass_the_waf_costs_one_call_more(
    client: Client, tmp_path: Path
) -> None:
    """They are read again with the page rules, but where they were all paused when the plan read them."""
    rule = {"expression": "ip.src eq 192.0.2.1", "products": ["waf"]}
    zones = (
        {"name": f"six-{number}.example", "plan": "pro", "firewall_rules": [{**rule, "paused": number == 2}]}
        for number in range(3)
    )
    async with scene(client, tmp_path, fleet_of(*zones), begin=False, **SLOWER) as play:
        found = await after_a_plan(play, ZoneOutcome.MIGRATED)
        more = [calls - COMMIT - Counter({"waf.status": calls["waf.status"]}) for calls in found]
        assert sorted(calls.total() for calls in more) == [0, 1, 1], more
        assert all(set(calls) <= {"firewall.rules.list"} for calls in more), more
        await play.check_rules(absent={3, 4, 6, 7})


@pytest.mark.long
async def test_an_enterprise_zone_costs_thirteen_calls_and_its_evidence(
    client: Client, tmp_path: Path
) -> None:
    """Its plan and its status are asked for once more before anything is sent with validation, its stored
    rules before that and before its commit: others may have migrated it, and people may have edited them.
    """
    fleet = fleet_of(*({"name": f"ten-{number}.example", "plan": "enterprise"} for number in range(4)))
    terms: dict[str, Any] = {**SLOWER, "validation": {"window": "10m"}}
    async with scene(client, tmp_path, fleet, begin=False, **terms) as play:
        found = await after_a_plan(play, ZoneOutcome.MIGRATED)
        # Both managed rulesets, each twice, for all zones together.
        assert sum(calls.pop("rulesets.get", 0) for calls in found) == 4
        _, *others = found
        expected = VALIDATION + Counter({"entrypoint.get": 1}) + COMMIT
        assert expected.total() == 13
        assert [calls - expected for calls in others] == [EVIDENCE] * 3, others
        assert all(not expected - calls for calls in others)
        await play.check_rules(absent={4, 6, 7})


async def test_a_blocked_zone_is_read_twice(client: Client, tmp_path: Path) -> None:
    """What ends it is believed when two readings in a row say it, and no more are made than that takes."""
    fleet = fleet_of({"name": "held.example", "plan": "pro", "uri_overrides": [{"urls": ["held.example/*"]}]})
    async with scene(client, tmp_path, fleet, begin=False, **SLOWER) as play:
        await planned(play)
        before = len(await play.control.journal())
        await play.until(lambda seen: bool(seen.places.get("blocked")), 60)
        assert await play.outcome("held.example") is ZoneOutcome.BLOCKED
        await play.result()
        (calls,) = (await calls_since(play, before)).values()
        # The groups of each of its two packages.
        assert calls.pop("waf.groups.list") == 2 * calls["waf.packages.list"]
        assert calls["waf.check"] == 2 and set(calls.values()) == {2}, calls


async def test_what_a_step_lacked_is_asked_for_again_and_nothing_else(client: Client, tmp_path: Path) -> None:
    """A reading just before the commit fails, and fails again: nothing speaks against what was signed, so the
    zone waits with it, and is not read anew.
    """
    fleet = fleet_of({"name": "six.example", "plan": "pro"})
    async with scene(client, tmp_path, fleet, begin=False, **SLOWER) as play:
        await planned(play)
        before = len(await play.control.journal())
        match = {"call": "pagerules.list"}
        fault = {"kind": "server_error", "status": 502, "effect": "before", "times": 2, "match": match}
        await play.control.send("POST", "faults", fault)
        await play.zone_until(
            "six.example", lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF, within=90
        )
        await play.sign_zone("six.example")
        assert await play.outcome("six.example") is ZoneOutcome.MIGRATED
        await play.result()
        (calls,) = (await calls_since(play, before)).values()
        calls["waf.status"] = min(1, calls["waf.status"])
        assert calls - COMMIT == Counter({"waf.config": 2, "pagerules.list": 2}), calls
        await play.check_rules(absent={3, 4, 6, 7})

"""Workers are killed before and after each activity of the main paths: the zone fares the same."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowQueryFailedError
from temporalio.service import RPCError

from edgeshift.embedded import EmbeddedTemporal
from edgeshift.messages import ZonePhase
from tests.faults_kit import Stage, staged, zone
from tests.faults_worker import MOMENTS, Kill, Moment, supervised
from tests.harness.kills import Course, broken_by, order_of, play
from tests.harness.share import shared

pytestmark = pytest.mark.embedded

TOO_LONG = [{"expression": f'http.request.uri.path eq "/{"x" * 4097}"', "products": ["waf"]}]
OVERRIDE = {"urls": ["shop.example/admin/*"], "rules": {"100000": "disable"}}

ACTIVITIES: dict[str, tuple[str, ...]] = {
    "professional": (
        "resolve_targets",
        "start_zones",
        "prepare_waf_zone",
        "tell_zones",
        "change_zone",
        "verify_waf_zone",
        "tell_campaign",
    ),
    "enterprise": (
        "resolve_targets",
        "start_zones",
        "prepare_waf_zone",
        "change_zone",
        "tell_campaign",
        "gather_evidence",
        "tell_zones",
        "change_zone",
        "verify_waf_zone",
        "tell_campaign",
    ),
    "overrides": (
        "resolve_targets",
        "start_zones",
        "prepare_waf_zone",
        "tell_zones",
        "change_zone",
        "prepare_waf_zone",
        "tell_zones",
        "change_zone",
        "verify_waf_zone",
        "tell_campaign",
    ),
    "support": (
        "resolve_targets",
        "start_zones",
        "prepare_waf_zone",
        "open_ticket",
        "tell_campaign",
        "prepare_waf_zone",
        "tell_zones",
        "change_zone",
        "verify_waf_zone",
        "tell_campaign",
    ),
}
"""What the workers do on each path when nobody dies, in order, but for the regular sweeps."""

CHANGES: dict[str, list[tuple[str, str]]] = {
    "professional": [("entrypoint.put", "pending")],
    "enterprise": [("entrypoint.put", "validation"), ("entrypoint.put", "pending")],
    "overrides": [("waf.overrides.delete", ""), ("entrypoint.put", "pending")],
    "support": [("entrypoint.put", "pending")],
}
"""What the service is sent on each path, whoever dies."""

ZONES: dict[str, dict[str, Any]] = {
    "professional": zone("shop"),
    "enterprise": zone("big", "enterprise"),
    "overrides": zone("legacy", uri_overrides=[OVERRIDE]),
    "support": zone("crowded", firewall_rules=TOO_LONG),
}


async def _mend(stage: Stage) -> None:
    await stage.phase(stage.names[0], ZonePhase.NEEDS_SUPPORT)
    await stage.change(stage.names[0], firewall_rules=[])
    await stage.play.resolve_support(stage.name(stage.names[0]))


async def _nothing(stage: Stage) -> None:
    """Nobody is needed."""


PATHS: dict[str, Course] = {
    name: Course(
        zones=(given,),
        terms={"consents": {"delete_uri_overrides": True}},
        activities=ACTIVITIES[name],
        changes=CHANGES[name],
        outcome="migrated",
        absent=frozenset({3, 4, 7}),
        meanwhile=_mend if name == "support" else _nothing,
    )
    for name, given in ZONES.items()
}


@pytest.mark.parametrize("path", shared("whole paths of waf", PATHS))
async def test_the_paths_are_the_ones_that_workers_are_killed_on(
    path: str, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """Without a kill: the activities and the changes that the kills below are measured by."""
    course = PATHS[path]
    changes, begun = await play(None, course, temporal_client, embedded.address, tmp_path / path)
    assert tuple(begun) == course.activities
    assert changes == course.changes


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "path,moment", shared("paths of waf", list(itertools.product(PATHS, MOMENTS)), least=2)
)
async def test_a_killed_worker_changes_nothing_of_the_outcome(
    path: str, moment: Moment, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """At each activity of the path, one scene a kill: migrated, with the same changes in the same order."""
    kills = shared(f"kill {path} {moment}", PATHS[path].boundaries(moment))
    broken = await broken_by(kills, PATHS[path], temporal_client, embedded.address, tmp_path)
    assert not broken, "\n".join(broken)


async def test_a_worker_killed_while_targets_are_listed_delays_the_campaign_alone(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """Listing is taken over by the next worker once the first one has been silent for half a minute."""
    kill = Kill("resolve_targets", 1, "after")
    changes, _ = await play(
        kill, PATHS["professional"], temporal_client, embedded.address, tmp_path / "listing"
    )
    assert changes == CHANGES["professional"]


async def test_a_campaign_goes_on_when_people_sign_while_workers_die(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """A sign-off that comes with the task of a dead worker is recorded in an order that does not replay; the
    next worker, which has nothing in its cache, mends the campaign, and the sign-off still counts.
    """
    kill = Kill("start_zones", 1, "after")
    async with staged(
        temporal_client, tmp_path, zone("shop"), serve=False, sign_off={"required": 2}
    ) as stage:
        order = order_of(stage, embedded.address, tmp_path, [kill])
        async with supervised(order):
            await stage.play.begin()
            await _sign_at_once(stage, "ann")
        async with supervised(order_of(stage, embedded.address, tmp_path)):
            await _sign_at_once(stage, "bob")
            result = await stage.play.result()
        assert result.outcomes == {"migrated": 1}
        assert await stage.changes() == CHANGES["professional"]
        await stage.check({3, 4, 7})


async def _sign_at_once(stage: Stage, by: str) -> None:
    """Sign what waits as soon as anybody answers."""
    async with asyncio.timeout(60):
        while True:
            try:
                if waiting := (await stage.play.summary()).waiting:
                    await stage.play.sign([item.fingerprint for item in waiting], by=by)
                    return
            except (RPCError, WorkflowQueryFailedError):
                pass
            await asyncio.sleep(0.1)

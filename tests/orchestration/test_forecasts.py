"""A plan forecasts by what earlier campaigns of its area cost, which is what the simulator's journal has."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.forecast import forecast
from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.model.fleet import DONE, Area, Plan, Target
from edgeshift.operations import assess, frozen_by, start_campaign
from edgeshift.operations.forecasts import measured_calls
from tests.kit import OPERATOR, Scene, fleet_of, scene
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

ON: dict[str, Any] = {"behaviours": [{"kind": "tls_sni", "path": "/api/items", "to": "origin.example"}]}
ENOUGH = 5
"""Zones of each kind: so many make a measure."""
QUICK = {"migration_limit": "8s", "poll": "1s"}
AREAS: dict[Area, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    Area.WAF: (
        {"validation": {"window": "4h"}, "simulator": {"migration_seconds": 7200, "validation_seconds": 60}},
        [{"plan": plan} for plan in ("pro", "enterprise") for _ in range(ENOUGH)],
    ),
    Area.ESC: (
        {
            "esc": {
                "observe": "8h",
                "every": "4h",
                "probe": {
                    "sample": 6,
                    "rounds": 2,
                    "per_second": 500,
                    "sitemap": False,
                    "urls": ["/", "/api/items"],
                },
            },
            "commit": QUICK,
        },
        [{"plan": "enterprise", "esc": ON} for _ in range(ENOUGH)],
    ),
    Area.LOG_FIELDS: (
        {
            "log_fields": {"request_headers": ["user-agent"], "verify": "40h", "every": "2h", "job": True},
            "commit": QUICK,
        },
        [{"plan": "enterprise", "logs": {"jobs": []}} for _ in range(ENOUGH)],
    ),
}


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def _run(play: Scene) -> tuple[int, dict[str, int]]:
    """Plan and run the campaign to its end; the calls of each zone after the plan, by the journal. Some name
    no zone: queries of events, and what an account's setting is read for.
    """
    report, result = await assess(play.client, play.archive, play.spec)
    assert {line.verdict for line in report.zones} == {Verdict.READY}, [line.reasons for line in report.zones]
    assert await measured_calls(play.archive, play.spec.area) == {}
    before = len(await play.control.journal())
    play.start = await start_campaign(
        play.client, play.archive, play.spec, by=OPERATOR, frozen=frozen_by(result, play.now())
    )
    play.targets = [Target.model_validate(item) for item in await play.archive.get_json(result.targets)]
    for target in play.targets:
        # Without traffic nothing speaks for a validated zone: each is signed by itself.
        await play.zone_until(target.zone.name, _waits, within=60)
        await play.sign_zone(target.zone.name)
    for zone in play.fleet.zones:
        assert await play.outcome(zone.name) in DONE
    await play.result()
    made = Counter(entry["zone"] for entry in (await play.control.journal())[before:])
    return made.pop(None, 0), {zone.name: made[zone.id] for zone in play.fleet.zones}


def _waits(found: ZoneState) -> bool:
    return found.phase is ZonePhase.AWAITING_SIGN_OFF


@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.value)
async def test_the_forecast_is_what_the_journal_has(client: Client, tmp_path: Path, area: Area) -> None:
    """Calls a zone after the plan, of a campaign that has ended: by its worker, and by the service."""
    terms, zones = AREAS[area]
    fleet = fleet_of(*({"name": f"zone-{at}.example", **zone} for at, zone in enumerate(zones)))
    async with AsyncExitStack() as staged:
        play = await staged.enter_async_context(
            scene(client, tmp_path, fleet, begin=False, area=area.value, **terms)
        )
        if area is Area.LOG_FIELDS:
            await staged.enter_async_context(play.visited())
        nowhere, made = await _run(play)
    # The worker has ended, and has recorded what it counted.
    measured = await measured_calls(play.archive, area)
    validated = [zone.name for zone in fleet.zones if area is Area.WAF and zone.plan == Plan.ENTERPRISE.value]
    others = [zone.name for zone in fleet.zones if zone.name not in validated]
    assert all(found.campaign == play.spec.name for found in measured.values())
    assert all(found.targets == ENOUGH for found in measured.values())
    expected = forecast(play.spec, enterprise=len(validated), others=len(others), measured=measured)
    assert expected.calls == sum(made.values()) + nowhere
    if validated:
        assert measured[False].calls * ENOUGH == pytest.approx(sum(made[name] for name in others))
    for basis in expected.bases:
        found = measured[basis.which == "Enterprise zone"]
        assert f"{found.calls:,.3g} measured in campaign {play.spec.name}, 5 {basis.noun}s" in basis.said()
        # What is said before anything was measured. The first zones look more often, to find out how long it
        # takes; and how many looks a zone has is a matter of the moment.
        assert 0.6 < basis.design / found.calls < 1.5, (basis, made)

"""The demo of the area: a generated fleet, some of whose zones have the setting on, and what goes wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from edgeshift.campaign_file.spec import CampaignSpec, CommitSpec, TargetSpec, TicketSpec, WaveAdvance
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.rollout import WaveSpec
from edgeshift.model.sign_off import Choice
from edgeshift.testbed.demo.part import Part
from edgeshift.testbed.demo.scenario import (
    SIDE_ZONES,
    TIME_SCALE,
    Scenario,
    background,
    of_the_change,
    policy,
    rate_limit,
    service,
    side_campaign,
)
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.stack import Stack

AREA = Area("always-https")
CAMPAIGN = "demo-always-https"
SIDE_CAMPAIGN = "demo-always-https-aborted"
ON_ALREADY = 5


def arrange(zones: int, seed: int) -> Scenario:
    """A fleet of ``zones`` zones over three accounts; a few have the setting on."""
    fleet = generate_fleet(zones, seed, accounts=3)
    free = [zone for zone in fleet.zones if zone.status == "active"]
    on = [free.pop() for _ in range(ON_ALREADY)]
    for zone in on:
        zone.settings["always_use_https"] = "on"
    own = [free.pop() for _ in range(6)]
    side = [free.pop() for _ in range(SIDE_ZONES)]
    faults = [*of_the_change({"call": "settings.patch"}, own), *background(seed)]
    return Scenario(
        fleet=fleet, left=on[0].id, aborted=tuple(zone.id for zone in side), parts={}, faults=faults
    )


def options() -> dict[str, Any]:
    """The simulator's options in the demo, in nominal seconds."""
    return {"rate_limit": rate_limit()}


def judge(body: dict[str, Any]) -> tuple[Choice, str]:
    """What a careful reader says: the setting is turned on, and nothing else."""
    if body["change"] != {"from": "off", "to": "on"}:
        return Choice.REJECT, "it does not turn the setting on"
    return Choice.APPROVE, f"read: {body['setting']}"


def specs(scenario: Scenario, running: Stack) -> list[CampaignSpec]:
    """The campaign over all zones but those of the small one, which is aborted."""
    main = CampaignSpec(
        name=CAMPAIGN,
        area=AREA,
        targets=TargetSpec(all=True, exclude=tuple(scenario.names[zone] for zone in scenario.aborted)),
        service=service(running),
        waves=(WaveSpec(name="canary", percent=10), WaveSpec(name="rest")),
        advance=WaveAdvance(percent=50, failures=10),
        window=16,
        sign_off=policy(days=4),
        commit=CommitSpec(migration_limit=timedelta(hours=1), poll=timedelta(minutes=20)),
        tickets=TicketSpec(folder=str(running.places.tickets)),
        time_scale=TIME_SCALE,
    )
    return [main, side_campaign(SIDE_CAMPAIGN, scenario, running, area=AREA)]


PART = Part(
    area=AREA,
    zones=60,
    arrange=arrange,
    options=options,
    specs=specs,
    judge=judge,
    shows=(
        ZoneOutcome.SETTLED,
        ZoneOutcome.ALREADY_SETTLED,
        ZoneOutcome.ABORTED,
        ZoneOutcome.FAILED,
        ZoneOutcome.UNKNOWN,
    ),
    sighting=CAMPAIGN,
    result="demo-always-https.json",
    edge=False,
)

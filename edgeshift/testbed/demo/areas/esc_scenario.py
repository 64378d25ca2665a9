"""What the demo of esc arranges: a fleet with Edge Side Code of every kind, an account that goes as a whole,
zones that get worse once it is off, and what goes wrong on the wire.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from edgeshift.areas.esc.terms import EscSpec, ProbeSpec
from edgeshift.campaign_file.spec import (
    CampaignSpec,
    CommitSpec,
    TargetSpec,
    TicketSpec,
    WaveAdvance,
)
from edgeshift.model.counts import counted
from edgeshift.model.fleet import Area
from edgeshift.model.rollout import WaveSpec
from edgeshift.model.sign_off import Choice
from edgeshift.testbed.demo.scenario import (
    SIDE_ZONES,
    TIME_SCALE,
    Scenario,
    background,
    of_the_change,
    parts_of_the_change,
    policy,
    rate_limit,
    service,
    side_campaign,
)
from edgeshift.testbed.simulator.fleet_edge import EscBehaviour, OriginFailure
from edgeshift.testbed.simulator.fleet_file import FleetZone
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.stack import Stack

CLOCK = datetime(2023, 10, 2, 8, 0, tzinfo=UTC)
"""What the simulator says the time is: three months before Edge Side Code is removed."""

CAMPAIGN = "demo-esc"
SIDE_CAMPAIGN = "demo-esc-aborted"
ACCOUNT_CAMPAIGN = "demo-esc-account"
SHARE = 0.9
"""The part of the zones that has Edge Side Code."""

PAYMENT = "/pay/checkout"
"""A path that a careful reader does not let change."""


def arrange(zones: int, seed: int) -> Scenario:
    """A fleet of ``zones`` zones over three accounts, the last of which goes as a whole."""
    fleet = generate_fleet(zones, seed, accounts=3, esc=SHARE)
    last = fleet.accounts[-1].id
    free = [zone for zone in fleet.zones if _able(zone) and zone.account != last]
    left, refused_by_people, off, worse, worse_too = (free.pop() for _ in range(5))
    own = [free.pop() for _ in range(6)]
    side = [free.pop() for _ in range(SIDE_ZONES)]
    for zone in own:
        # With a secret of their own, `always` is the only thing that is sent to them.
        zone.esc.with_secret = f"customer-{zone.id}"
    _plant(left, "/only/here")
    _plant(refused_by_people, PAYMENT)
    off.esc.always = True
    for zone in (worse, worse_too):
        # No probe can foresee it: it fails only once Edge Side Code is off for everybody.
        zone.edge.failures.append(OriginFailure(path="/api/items", when="esc_off"))
    turned_off = {"call": "esc.set"}
    return Scenario(
        fleet=fleet,
        left=left.id,
        aborted=tuple(zone.id for zone in side),
        parts={
            **parts_of_the_change(own),
            "gets worse when it is off": worse.id,
            "rejected: payments would change": refused_by_people.id,
        },
        faults=[
            *of_the_change(turned_off, own),
            *background(seed),
        ],
    )


def _able(zone: FleetZone) -> bool:
    """A zone with Edge Side Code and nothing else about it."""
    return (
        zone.status == "active"
        and not zone.paused
        and bool(zone.esc.behaviours)
        and not zone.esc.always
        and zone.esc.with_secret is None
    )


def _plant(zone: FleetZone, path: str) -> None:
    """Edge Side Code of this zone alone, on a path that its sitemap lists."""
    zone.esc.behaviours.append(EscBehaviour(kind="redirect", path=path, to="https://old.example/"))
    zone.edge.paths = ["/", "/api/items", path]


def options() -> dict[str, Any]:
    """The simulator's options in the demo, in nominal seconds."""
    return {"esc_effect_seconds": 1800, "esc_visibility_seconds": 1200, "rate_limit": rate_limit()}


def judge(body: dict[str, Any]) -> tuple[Choice, str]:
    """What a careful reader says of a scope: payments stay as they are."""
    differences = body["probe"]["differences"]
    if any(PAYMENT in path for one in differences for path in one["paths"]):
        return Choice.REJECT, "payments would go another way"
    features = sorted({str(one["feature"]) for one in differences})
    read = counted(len(differences), "difference")
    return Choice.APPROVE, f"read: {read} ({', '.join(features) or 'none'})"


def specs(scenario: Scenario, running: Stack) -> list[CampaignSpec]:
    """Zone by zone; a few that are aborted; and the last account as a whole."""
    last = scenario.fleet.accounts[-1]
    inside = [zone for zone in scenario.fleet.zones if zone.account == last.id]
    outside = [*(zone.name for zone in inside), *(scenario.names[zone] for zone in scenario.aborted)]
    shared: dict[str, Any] = {
        "area": Area.ESC,
        "service": service(running),
        "sign_off": policy(days=4),
        "commit": CommitSpec(migration_limit=timedelta(hours=1), poll=timedelta(minutes=20)),
        "tickets": TicketSpec(folder=str(running.places.tickets)),
        "time_scale": TIME_SCALE,
    }
    main = CampaignSpec(
        name=CAMPAIGN,
        targets=TargetSpec(all=True, exclude=tuple(outside)),
        waves=(WaveSpec(name="canary", percent=10), WaveSpec(name="rest")),
        advance=WaveAdvance(percent=50, failures=10),
        window=16,
        **shared | {"esc": _terms(running)},
    )
    account = CampaignSpec(
        name=ACCOUNT_CAMPAIGN,
        targets=TargetSpec(accounts=(last.id,)),
        window=len(inside),
        **shared | {"esc": _terms(running).model_copy(update={"scope": "account"})},
    )
    side = side_campaign(SIDE_CAMPAIGN, scenario, running, area=Area.ESC, esc=_terms(running))
    return [main, side, account]


def _terms(running: Stack) -> EscSpec:
    return EscSpec(
        probe=ProbeSpec(edge=running.edge, sample=18, rounds=2, per_second=200, links=False),
        observe=timedelta(hours=12),
        every=timedelta(hours=6),
    )

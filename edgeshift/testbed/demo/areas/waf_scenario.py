"""What the demo of waf arranges: a generated fleet in which a few zones have a part to play, and what goes
wrong on the wire.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from edgeshift.campaign_file.spec import (
    CampaignSpec,
    CommitSpec,
    ConsentSpec,
    TargetSpec,
    TicketSpec,
    ValidationSpec,
    WaveAdvance,
)
from edgeshift.model.rollout import WaveSpec
from edgeshift.model.sign_off import Choice
from edgeshift.profiles import SPECIFICATION
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
from edgeshift.testbed.simulator.fleet_file import FirewallRule, FleetZone
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.stack import Stack

CAMPAIGN = "demo"
SIDE_CAMPAIGN = "demo-aborted"

FIXED = "fixed by support"
CONSENTED = "a new configuration that runs nothing, with a consent by name"


def arrange(zones: int, seed: int) -> Scenario:
    """A fleet of ``zones`` zones (at least 60) over three accounts, and the script of the demo."""
    fleet = generate_fleet(zones, seed, accounts=3)
    free = [zone for zone in fleet.zones if _ordinary(zone)]
    enterprise = [zone for zone in free if zone.plan == "enterprise"]
    others = [zone for zone in free if zone.plan != "enterprise"]
    left, *broken = (others.pop(0) for _ in range(7))
    own = f'(http.request.uri.path eq "/only-on/{left.name.split(".")[0]}")'
    left.firewall_rules.append(
        FirewallRule(expression=own, action="bypass", products=["waf"], description="only here")
    )
    support = [zone for zone in fleet.zones if _too_many_rules(zone)]
    side = [*enterprise[:1], *others[: SIDE_ZONES - 1]]
    shell, agreed = [zone for zone in reversed(others[SIDE_ZONES:]) if _protected(zone)][:2]
    for zone in (shell, agreed):
        zone.migration.configuration = "disabled"
    put = {"call": "entrypoint.put"}
    parts = {
        FIXED: support[0].id,
        CONSENTED: agreed.id,
        "a new configuration that runs nothing": shell.id,
        **parts_of_the_change(broken),
    }
    faults = [*of_the_change(put, broken), *background(seed)]
    return Scenario(
        fleet=fleet,
        left=left.id,
        aborted=tuple(zone.id for zone in side),
        parts=parts,
        faults=faults,
    )


def _migrating(zone: FleetZone) -> list[FirewallRule]:
    return [rule for rule in zone.firewall_rules if rule.action == "bypass" and "waf" in rule.products]


def _too_many_rules(zone: FleetZone) -> bool:
    long = any(
        len(rule.expression.encode()) > SPECIFICATION.longest_expression for rule in zone.firewall_rules
    )
    return (
        zone.migration.state == "start"
        and not long
        and not zone.uri_overrides
        and len(_migrating(zone)) > SPECIFICATION.most_firewall_rules
    )


def _ordinary(zone: FleetZone) -> bool:
    """A zone with nothing special about it, which would be migrated."""
    return (
        zone.status == "active"
        and zone.plan != "free"
        and zone.migration.state == "start"
        and not zone.uri_overrides
        and len(_migrating(zone)) < SPECIFICATION.most_firewall_rules
        and all(
            len(rule.expression.encode()) < SPECIFICATION.longest_expression for rule in zone.firewall_rules
        )
        and not zone.traffic.false_positives
        and not zone.traffic.gaps
    )


def _protected(zone: FleetZone) -> bool:
    """Whether the zone's previous WAF is on."""
    return zone.previous_waf.enabled and zone.previous_waf.managed.enabled


def options() -> dict[str, Any]:
    """The simulator's options in the demo, in nominal seconds."""
    return {
        "migration_seconds": 1800,
        "validation_seconds": 600,
        "visibility_seconds": 1200,
        "rate_limit": rate_limit(),
    }


def specs(scenario: Scenario, running: Stack) -> list[CampaignSpec]:
    """The demo's campaign, every zone but those of the side campaign; and that one, which is aborted while
    its zones wait.
    """
    return [_campaign(scenario, running), side_campaign(SIDE_CAMPAIGN, scenario, running)]


def judge(body: dict[str, Any]) -> tuple[Choice, str]:
    """What a careful reader says of a proposal: nothing may be switched off for every request."""
    for rule in body["rules"]:
        if rule.get("action") == "skip" and str(rule.get("expression", "")).strip("() ") == "true":
            return Choice.REJECT, "a rule skips the WAF for every request"
    runs = sum(1 for rule in body["rules"] if rule.get("action") == "execute")
    return Choice.APPROVE, f"read: {len(body['rules'])} rules, {runs} managed rulesets"


def _campaign(scenario: Scenario, running: Stack) -> CampaignSpec:
    return CampaignSpec(
        name=CAMPAIGN,
        targets=TargetSpec(all=True, exclude=tuple(scenario.names[zone] for zone in scenario.aborted)),
        service=service(running),
        waves=(
            WaveSpec(name="canary", percent=10),
            WaveSpec(name="early", percent=30),
            WaveSpec(name="rest"),
        ),
        advance=WaveAdvance(percent=50, failures=10),
        window=24,
        sign_off=policy(days=4),
        validation=ValidationSpec(window=timedelta(hours=72)),
        consents=ConsentSpec(unprotected=(scenario.names[scenario.parts[CONSENTED]],)),
        commit=CommitSpec(migration_limit=timedelta(hours=1), poll=timedelta(minutes=20)),
        tickets=TicketSpec(folder=str(running.places.tickets)),
        waits_for_support=timedelta(days=5),
        time_scale=TIME_SCALE,
    )

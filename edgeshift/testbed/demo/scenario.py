"""What the demo arranges: a generated fleet in which a few zones have a part to play, and what goes wrong
on the wire.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from edgeshift.campaign_file.spec import (
    CampaignSpec,
    CommitSpec,
    ConsentSpec,
    RateSpec,
    ServiceSpec,
    TargetSpec,
    TicketSpec,
    ValidationSpec,
    WaveAdvance,
)
from edgeshift.model.rollout import WaveSpec
from edgeshift.model.sign_off import Choice, SignOffPolicy
from edgeshift.profiles import SPECIFICATION
from edgeshift.testbed.simulator.fleet_file import FirewallRule, Fleet, FleetZone
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.stack import Stack

TIME_SCALE = 14_400.0
"""Four hours a second: a window of 72 hours takes 18 seconds."""

CAMPAIGN = "demo"
SIDE_CAMPAIGN = "demo-aborted"
SIDE_ZONES = 6
APPROVER = "ada"
SECOND_APPROVER = "grace"
OPERATOR = "olga"

REQUEST_LIMIT = timedelta(seconds=4)
RATE = SPECIFICATION.rate.requests
RATE_SECONDS = 12.0
"""The real length of a rate limit's window in the demo: five minutes under the scale would limit nothing."""

FORBIDDEN = json.dumps(
    {
        "success": False,
        "result": None,
        "errors": [{"code": 10000, "message": "Authentication error: the zone is locked by its owner"}],
        "messages": [],
    }
)


@dataclass
class Scenario:
    """A fleet with its parts given out. Zone identifiers: ``left`` is signed by nobody, ``fixed`` is fixed
    by support, ``consented`` may move without a WAF, ``aborted`` are of the side campaign. ``faults`` are for
    the simulator's control API, ``calls`` are made there besides, before anything starts: method, path and
    body.
    """

    fleet: Fleet
    left: str
    aborted: tuple[str, ...]
    fixed: str = ""
    consented: str = ""
    parts: dict[str, str] = field(default_factory=dict)
    faults: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    @property
    def names(self) -> dict[str, str]:
        """The zones' names by their identifiers."""
        return {zone.id: zone.name for zone in self.fleet.zones}


def arrange(zones: int, seed: int) -> Scenario:
    """A fleet of ``zones`` zones (at least 60) over three accounts, and the script of the demo."""
    fleet = generate_fleet(zones, seed, accounts=3)
    free = [zone for zone in fleet.zones if _ordinary(zone)]
    enterprise = [zone for zone in free if zone.plan == "enterprise"]
    others = [zone for zone in free if zone.plan != "enterprise"]
    left, lost, refused, late, hung, cut, garbled = (others.pop(0) for _ in range(7))
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
        "a new configuration that runs nothing": shell.id,
        "the same, with a consent by name": agreed.id,
        "unknown: 502, nothing happened": lost.id,
        "refused: 403": refused.id,
        "502 after the effect": late.id,
        "time-out after the effect": hung.id,
        "connection reset after the effect": cut.id,
        "an answer that is no JSON": garbled.id,
    }
    faults = [*of_the_change(put, (lost, refused, late, hung, cut, garbled)), *background(seed)]
    return Scenario(
        fleet=fleet,
        left=left.id,
        fixed=support[0].id,
        consented=agreed.id,
        aborted=tuple(zone.id for zone in side),
        parts=parts,
        faults=faults,
    )


def of_the_change(match: dict[str, Any], zones: Sequence[FleetZone]) -> list[dict[str, Any]]:
    """What goes wrong with the change of six zones: 502 without an effect, 403, and then, after the effect,
    502, silence, a reset, an answer that is no JSON.
    """
    lost, refused, late, hung, cut, garbled = (match | {"zone": zone.id} for zone in zones)
    return [
        fault("server_error", lost, status=502, effect="before"),
        fault("server_error", refused, status=403, effect="before", body=FORBIDDEN),
        fault("server_error", late, status=502, effect="after", times=1),
        fault("hang", hung, effect="after", times=1),
        fault("reset", cut, effect="after", times=1),
        fault("not_json", garbled, effect="after", times=1),
    ]


def fault(kind: str, match: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One fault for the simulator's control API."""
    return {"kind": kind, "match": match, **more}


def background(seed: int) -> list[dict[str, Any]]:
    """What goes wrong everywhere now and then. Writes are spared here: theirs is scripted zone by zone."""
    reads = {"method": "GET"}
    return [
        fault("latency", {}, seconds=0.15, probability=0.05, seed=seed),
        fault("rate_limit", {}, retry_after=1, times=3, probability=0.02, seed=seed + 1),
        fault("server_error", reads, status=500, effect="before", probability=0.008, seed=seed + 2),
        fault("not_json", reads, probability=0.004, seed=seed + 3),
        fault("reset", reads, effect="before", probability=0.004, seed=seed + 4),
        fault("null_errors", reads, probability=0.02, seed=seed + 5),
        fault("truncated", reads, probability=0.002, seed=seed + 6),
    ]


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


def rate_limit() -> dict[str, Any]:
    """The rate limit of the simulator in the demo, in nominal seconds."""
    return {
        "requests": RATE,
        "window_seconds": RATE_SECONDS * TIME_SCALE,
        "block_seconds": RATE_SECONDS * TIME_SCALE,
    }


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
        consents=ConsentSpec(unprotected=(scenario.names[scenario.consented],)),
        commit=CommitSpec(migration_limit=timedelta(hours=1), poll=timedelta(minutes=20)),
        tickets=TicketSpec(folder=str(running.places.tickets)),
        waits_for_support=timedelta(days=5),
        time_scale=TIME_SCALE,
    )


def side_campaign(name: str, scenario: Scenario, running: Stack, **more: Any) -> CampaignSpec:
    """A small campaign that is aborted while its zones wait. ``more``: what its area needs."""
    return CampaignSpec(
        name=name,
        targets=TargetSpec(include=tuple(scenario.names[zone] for zone in scenario.aborted)),
        service=service(running),
        window=SIDE_ZONES,
        sign_off=policy(days=14),
        tickets=TicketSpec(folder=str(running.places.tickets)),
        time_scale=TIME_SCALE,
        **more,
    )


def service(running: Stack) -> ServiceSpec:
    """The simulated service, with a rate limit that the demo's pace has to keep to."""
    return ServiceSpec(
        base_url=running.service,
        credentials=running.credentials,
        request_limit=REQUEST_LIMIT,
        patience=timedelta(days=28),
        rate=RateSpec(requests=RATE, per=timedelta(seconds=RATE_SECONDS * TIME_SCALE)),
    )


def policy(days: int) -> SignOffPolicy:
    """Who signs, and how long a zone waits for them."""
    return SignOffPolicy(
        approvers=(APPROVER, SECOND_APPROVER),
        expires_after=timedelta(days=days),
        valid_for=timedelta(days=60),
    )

"""What the demos of all areas have in common: a fleet in which a few zones have a part to play, what goes
wrong on the wire, the service, who signs, and the campaign that is aborted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from edgeshift.campaign_file.spec import CampaignSpec, RateSpec, ServiceSpec, TargetSpec, TicketSpec
from edgeshift.model.sign_off import SignOffPolicy
from edgeshift.profiles import SPECIFICATION
from edgeshift.testbed.simulator.fleet_file import Fleet, FleetZone
from edgeshift.testbed.stack import Stack

TIME_SCALE = 14_400.0
"""Four hours a second: a window of 72 hours takes 18 seconds."""

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
    """A fleet with its parts given out. Zone identifiers: ``left`` is signed by nobody, ``aborted`` are of
    the side campaign, ``parts`` are those that the area's script names. ``faults`` are for the simulator's
    control API, ``calls`` are made there besides, before anything starts: method, path and body.
    """

    fleet: Fleet
    left: str
    aborted: tuple[str, ...]
    parts: dict[str, str] = field(default_factory=dict)
    faults: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    @property
    def names(self) -> dict[str, str]:
        """The zones' names by their identifiers."""
        return {zone.id: zone.name for zone in self.fleet.zones}


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


def parts_of_the_change(zones: Sequence[FleetZone]) -> dict[str, str]:
    """What the script calls these six zones, by their identifiers: as ``of_the_change`` treats them."""
    names = (
        "unknown: 502, nothing happened",
        "refused: 403",
        "502 after the effect",
        "time-out after the effect",
        "connection reset after the effect",
        "an answer that is no JSON",
    )
    return {name: zone.id for name, zone in zip(names, zones, strict=True)}


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


def rate_limit() -> dict[str, Any]:
    """The rate limit of the simulator in the demo, in nominal seconds."""
    return {
        "requests": RATE,
        "window_seconds": RATE_SECONDS * TIME_SCALE,
        "block_seconds": RATE_SECONDS * TIME_SCALE,
    }


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

"""What is planted in a fleet's traffic, by an oracle of its own, against what evidence says of it. Pure.

The oracle asks both stand-ins of the simulator about every request, each by itself and with the rules as they
would be committed: it sees neither events nor rays, and nothing that one WAF hides from the other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from edgeshift.areas.waf.evidence import Evidence, Finding, Kind
from edgeshift.model.counts import counted
from edgeshift.testbed.simulator.events import request_fields
from edgeshift.testbed.simulator.fleet_models import FleetZone
from edgeshift.testbed.simulator.fleet_whole import Fleet
from edgeshift.testbed.simulator.traffic import requests
from edgeshift.testbed.simulator.traffic_shapes import FALSE_POSITIVES, GAPS
from edgeshift.testbed.simulator.verdicts import NewWaf, PreviousWaf

Place = tuple[str, str, str]
"""Kind, rule and path."""

SECTIONS = ("blog", "cms", "docs", "shop/admin", "forum", "wiki", "intranet", "help")
ACTIONS = ("save", "edit", "preview", "publish", "import", "draft", "comment", "theme")
LOST = ("100045", "100046", "100203", "100514", "100531", "100022")
"""Previous rules with one of the new WAF after them. What a zone has set of them is lost, so that a rule that
was off stops requests anew.
"""


@dataclass
class Planted:
    """Requests of one kind, by one rule, on one path."""

    requests: int = 0
    clients: set[str] = field(default_factory=set)


@dataclass
class Truth:
    """What a zone's traffic holds: disagreements by place, requests that both stop, and all that the new WAF
    stops.
    """

    places: dict[Place, Planted]
    alike: int
    stopped_by_new: int


def planted_fleet(seed: int, zones: int) -> Fleet:
    """Enterprise zones, each with several false positives and gaps on paths of its own, and lost settings."""
    random = Random(seed)
    return Fleet.model_validate(
        {"zones": [_zone(random, f"planted-{seed}-{number}.example") for number in range(zones)]}
    )


def _zone(random: Random, name: str) -> dict[str, Any]:
    paths = [f"/{section}/{action}" for section in SECTIONS for action in ACTIONS]
    random.shuffle(paths)
    wrong = [
        {"kind": kind, "path": paths.pop(), "per_hour": random.choice((1.0, 2.5, 4.0))}
        for kind in random.sample(sorted(FALSE_POSITIVES), random.randrange(2, 5))
    ]
    missed = [
        {"kind": kind, "path": _gap_path(kind, paths), "per_hour": random.choice((1.0, 2.5, 4.0))}
        for kind in random.sample(sorted(GAPS), random.randrange(1, 4))
    ]
    lost = {rule: "disable" for rule in random.sample(LOST, random.randrange(0, 3))}
    return {
        "name": name,
        "plan": "enterprise",
        "previous_waf": {"managed": {"rules": lost}},
        "migration": {"managed_settings": "lost"},
        "traffic": {
            "requests_per_minute": random.choice((20, 60, 240)),
            "seed": random.randrange(2**31),
            "false_positives": wrong,
            "gaps": missed,
        },
    }


def _gap_path(kind: str, paths: list[str]) -> str | None:
    """A path of its own where the rule that stops it does not look at the path."""
    return paths.pop() if kind in ("comment_spam", "email_harvester") else None


def truth(zone: FleetZone, body: dict[str, Any], since: datetime, until: datetime) -> Truth:
    """What the zone's traffic between two moments holds, for the rules as they would be committed."""
    previous, new = PreviousWaf(zone), NewWaf(body)
    places: dict[Place, Planted] = defaultdict(Planted)
    alike = stopped = 0
    for request in requests(zone, since, until):
        values = request_fields(zone, request.shape, request.client)
        old_said, new_said = previous(request.shape, values), new(request.shape, values)
        old_stops = bool(old_said) and old_said[-1].terminates
        new_stops = bool(new_said) and new_said[-1].terminates
        stopped += new_stops
        if old_stops and new_stops:
            alike += 1
        if old_stops == new_stops:
            continue
        kind, rule = ("gap", old_said) if old_stops else ("false_positive", new_said)
        planted = places[kind, rule[-1].rule_id, request.shape.path]
        planted.requests += 1
        planted.clients.add(request.client.address)
    return Truth(dict(places), alike, stopped)


@dataclass(frozen=True)
class Compared:
    """Of one window: what was planted, what was found of it with the right rule, path, requests and clients,
    and what was found where nothing is. ``named``: planted and not found, but on record as not visible.
    """

    planted: Counter[str]
    found: Counter[str]
    named: int
    invented: int
    complaints: tuple[str, ...]


def compared(zone: str, seen: Evidence, real: Truth) -> Compared:
    """A window's evidence against the truth of it."""
    findings = {(item.kind.value, item.rule, item.path): item for item in seen.findings}
    unseen = {(item.rule, item.path): item for item in seen.findings if item.kind is Kind.UNSEEN}
    planted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    complaints: list[str] = []
    named = 0
    for place, truly in real.places.items():
        kind, rule, path = place
        planted[kind] += 1
        item = findings.pop(place, None)
        if item is not None and _told(item) == (truly.requests, len(truly.clients)):
            found[kind] += 1
        elif item is None and kind == "false_positive" and (rule, path) in unseen and seen.cannot_see:
            named += 1
        else:
            complaints.append(
                f"{zone}: {kind} of rule {rule} on {path}: planted {counted(truly.requests, 'request')} of"
                f" {counted(len(truly.clients), 'client')}, found {_told(item) if item else 'none'}"
            )
    left = [item for item in findings.values() if item.kind is not Kind.UNSEEN]
    complaints += [
        f"{zone}: invented a {item.kind.value} of rule {item.rule} on {item.path}" for item in left
    ]
    if seen.mode == "shadow" and seen.agreed != real.alike:
        complaints.append(f"{zone}: {seen.agreed} judged alike, and {real.alike} are")
    if seen.mode == "enforce" and seen.unseen != real.stopped_by_new:
        complaints.append(f"{zone}: {seen.unseen} said not to be seen, and {real.stopped_by_new} are not")
    return Compared(planted, found, named, len(left), tuple(complaints))


def _told(item: Finding) -> tuple[int, int]:
    return item.requests, item.clients

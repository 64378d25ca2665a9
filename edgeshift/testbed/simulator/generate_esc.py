"""Edge Side Code in generated fleets, as data: what is planted in a zone depends on its name and place alone.

Each shape has paths of its own, so that no planted behaviour hides another one of its zone.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from edgeshift.testbed.simulator.fleet_edge import NOISE, ZoneEdge, ZoneEsc
from edgeshift.testbed.simulator.fleet_models import FleetZone

Behaviour = dict[str, Any]
Shape = Callable[[str], Behaviour]

SHAPES: tuple[Shape, ...] = (
    lambda name: {
        "kind": "redirect",
        "path": "/old/*",
        "to": f"https://www.{name}/shop/cart",
        "status": 301,
    },
    lambda name: {"kind": "tls_sni", "path": "/api/items", "to": f"origin.{name}"},
    lambda name: {"kind": "resolved_host", "path": "/api/search", "to": f"backend.{name}"},
    lambda name: {"kind": "url_rewrite", "path": "/legacy/*", "to": "/api/orders", "query": "source=legacy"},
    lambda name: {"kind": "request_header", "path": "/shop/cart", "name": "x-region", "value": "eu-west"},
    lambda name: {"kind": "feature_exception", "path": "/contact", "feature": "email_obfuscation"},
    lambda name: {
        "kind": "custom_error",
        "path": "/status/503",
        "statuses": [502, 503, 504],
        "body": f"<!doctype html>\n<h1>{name} will be back soon</h1>\n",
    },
    lambda name: {
        "kind": "response_header",
        "path": "/account/*",
        "name": "strict-transport-security",
        "value": "max-age=31536000",
    },
    lambda name: {"kind": "status_redirect", "path": "/help/*", "to": "/contact"},
    # Second ways to use a feature.
    lambda name: {"kind": "feature_exception", "path": "/about", "feature": "rocket_loader"},
    lambda name: {
        "kind": "response_header",
        "path": "/login",
        "name": "x-powered-by",
        "operation": "remove",
    },
    lambda name: {
        "kind": "response_header",
        "path": "/blog/*",
        "name": "set-cookie",
        "operation": "add",
        "value": "campaign=autumn; Path=/",
    },
    lambda name: {
        "kind": "request_header",
        "path": "/shop/checkout",
        "name": "user-agent",
        "operation": "remove",
    },
)
KINDS = 9
"""So many of the shapes, the first ones, have each kind once, but for the one that goes with another."""

RESOLVED_HOST = 2
"""The shape of a zone that is sent to another host. Where it is the zone's first, the host header is switched
elsewhere, too: that kind came later, and takes no turn, so that all else is drawn as ever.
"""


def _host_header(name: str) -> Behaviour:
    return {"kind": "host_header", "path": "/status/404", "to": f"tenant.{name}"}


MOST_SHAPES = 4
OWN_SECRET_SHARE = 0.1
ALREADY_OFF_SHARE = 0.05
NOISY_SHARE = 0.5


def plant(zones: list[FleetZone], seed: int, share: float) -> None:
    """Plant Edge Side Code in a share of the zones, in place; among the first nine each kind is met.

    Some of these zones have a secret of their customer's own, a few are disabled already, and half of all
    zones answer with natural noise. Paused and pending zones get none.
    """
    random = Random(f"edge side code {seed}")
    able = [zone for zone in zones if zone.status == "active" and not zone.paused]
    chosen = random.sample(able, k=round(share * len(able)))
    for place, zone in enumerate(chosen):
        first = place % KINDS
        others = [number for number in range(len(SHAPES)) if number != first]
        numbers = sorted([first, *random.sample(others, k=random.randrange(MOST_SHAPES))])
        planted = [SHAPES[number](zone.name) for number in numbers]
        if first == RESOLVED_HOST:
            planted.append(_host_header(zone.name))
        document: dict[str, Any] = {"behaviours": planted}
        # The first ones show each kind, so nothing turns them off.
        drawn = random.random()
        if place >= KINDS and drawn < ALREADY_OFF_SHARE:
            document["always"] = True
        elif place >= KINDS and drawn < ALREADY_OFF_SHARE + OWN_SECRET_SHARE:
            document["with_secret"] = f"customer-{random.getrandbits(96):024x}"
        zone.esc = ZoneEsc.model_validate(document)
    for zone in able:
        if random.random() < NOISY_SHARE:
            kinds = random.sample(NOISE, k=random.randrange(1, len(NOISE) + 1))
            zone.edge = ZoneEdge(noise=sorted(kinds))

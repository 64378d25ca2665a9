"""What is done beside a campaign while it runs: not a fault of one request, but a trouble of the whole."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.harness.campaigns.own_server import OwnServer
from tests.kit.faults import Stage
from tests.kit.faults_worker import Order, Workers

AREAS = frozenset({"waf", "esc", "log-fields"})


@dataclass
class Acting:
    """What a disturbance gets. ``order``, ``processes``: the worker processes. ``server``: the case's own
    Temporal server, where the disturbance needs one. ``told``: counts something that happened, by kind.
    """

    stage: Stage
    chance: random.Random
    order: Order
    processes: Workers
    server: OwnServer | None
    told: Callable[[str], None]


@dataclass(frozen=True)
class Disturbance:
    """``act`` runs beside the campaign and is cancelled at its end; whatever it does it fixes by itself.

    ``own_server``: it needs a Temporal server of its own. ``leaves_people_work``: zones may end failed,
    unknown or aborted because of it, with a reason that names it. ``terms``: parts of the campaign's terms
    that it needs, merged over them.
    """

    name: str
    act: Callable[[Acting], Awaitable[None]]
    areas: frozenset[str] = AREAS
    own_server: bool = False
    leaves_people_work: bool = False
    terms: dict[str, dict[str, object]] = field(default_factory=dict)


DISTURBANCES: dict[str, Disturbance] = {}


def disturbance(found: Disturbance) -> Disturbance:
    """Register one under its name."""
    DISTURBANCES[found.name] = found
    return found

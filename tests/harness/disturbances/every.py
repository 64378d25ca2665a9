"""Every disturbance there is, by name: importing this registers all of them."""

from tests.harness.disturbances import (
    DISTURBANCES,
    archives,
    deaths,
    drifts,
    freezing,
    operators,
    servers,
    services,
    signals,
    starts,
    stops,
    ticketing,
)

__all__ = [
    "DISTURBANCES",
    "archives",
    "deaths",
    "drifts",
    "freezing",
    "operators",
    "servers",
    "services",
    "signals",
    "starts",
    "stops",
    "ticketing",
]

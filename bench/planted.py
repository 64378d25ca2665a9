"""What is planted in a generated fleet, against what the probe found and how it was mapped. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.testbed.simulator.edge.origin import known_paths
from edgeshift.testbed.simulator.fleet_edge import NOISE, OriginFailure
from edgeshift.testbed.simulator.fleet_models import FleetZone
from edgeshift.testbed.simulator.fleet_whole import Fleet

Places = Counter[tuple[str, str]]
"""Paths, each with the feature that replaces what Edge Side Code does there."""


@dataclass(frozen=True)
class Compared:
    """Of one zone: differences planted, those found at the right path, those of them with the right feature,
    and differences found where nothing is planted.
    """

    planted: int
    found: int
    mapped: int
    strange: int


def planted_in(oracle: Mapping[str, Any]) -> Places:
    """What every behaviour of a zone does to the paths of its origin, as the control API tells."""
    return Counter(
        (path, str(one["replaced_by"]))
        for one in oracle["planted"]
        for path in oracle["edge"]["paths"]
        if fnmatchcase(path, one["path"])
    )


def found_in(report: ProbeReport) -> Places:
    """What a probe found, by path and feature."""
    return Counter((one.path, one.feature.value) for one in report.differences)


def compared(planted: Places, found: Places) -> Compared:
    """How much of what is planted was found, and how it was mapped."""
    expected, seen = _paths(planted), _paths(found)
    return Compared(
        planted=planted.total(),
        found=(expected & seen).total(),
        mapped=(planted & found).total(),
        strange=(seen - expected).total(),
    )


def _paths(places: Iterable[tuple[str, str]] | Places) -> Counter[str]:
    found: Counter[str] = Counter()
    for (path, _), number in Counter(places).items():
        found[path] += number
    return found


def made_noisy(fleet: Fleet) -> None:
    """Let every zone answer with every kind of natural noise, in place."""
    for zone in fleet.zones:
        zone.edge.noise = list(NOISE)


def made_worse(fleet: Fleet, every: int) -> dict[str, str]:
    """Let the origin of every so many zones with Edge Side Code fail once that is off, in place; the path
    that does, by zone name. No probe can foresee it.
    """
    able = [
        zone
        for zone in fleet.zones
        if zone.esc.behaviours and zone.status == "active" and not zone.paused and not zone.esc.always
    ]
    found = {}
    for zone in able[::every]:
        path = _untouched(zone)
        zone.edge.failures = [OriginFailure(path=path, when="esc_off")]
        found[zone.name] = path
    return found


def _untouched(zone: FleetZone) -> str:
    """A page of the zone that none of its behaviours acts on."""
    return next(
        path
        for path in known_paths(zone)
        if path != "/"
        and not path.startswith("/status/")
        and not any(fnmatchcase(path, one.path) for one in zone.esc.behaviours)
    )

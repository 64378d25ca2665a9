"""What a worker registers of one area (edgeshift/areas/parts.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from activities.change.area_work import AreaWork
from activities.connections import Connections
from edgeshift.areas.parts import PartOf

Activities = list[Callable[..., Any]]


@dataclass(frozen=True)
class WorkerPart:
    """One area's part of a worker.

    ``workflows``: that of one target, and others that it starts. ``work``: its part of the shared activities;
    ``activities``: its own, bound to these connections. ``passed_through``: packages that the workflow
    sandbox is to take as they are, where the area lies outside edgeshift's own.
    """

    workflows: tuple[type, ...]
    work: Callable[[Connections], AreaWork]
    activities: Callable[[Connections], Activities]
    passed_through: tuple[str, ...] = ()


WORKER = PartOf("worker", WorkerPart, required=True)

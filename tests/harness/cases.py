"""A case: what the harness plays at a time, told by an id that alone plays it again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client

from tests.harness.verdict import Verdict

LONGEST = 900.0
"""Seconds that a case may take, many beside it on a busy machine; one that takes longer is a complaint."""

SEEDS = 1000
"""Seeds of one seed of a run: 1001, 1002, … are those of 1."""


def seeds_of(seed: int, count: int) -> range:
    """The first seeds of a run's."""
    return range(seed * SEEDS + 1, seed * SEEDS + count + 1)


@dataclass(frozen=True)
class World:
    """A running Temporal server that a case may use beside others, and a fresh folder of its own."""

    client: Client
    address: str
    folder: Path


@dataclass(frozen=True)
class Case:
    """``id`` begins with the family and a slash. ``zones``: the zone-schedules that it plays. ``within``: the
    seconds that it may take.
    """

    id: str
    family: str
    zones: int
    play: Callable[[World], Awaitable[Verdict]]
    within: float = LONGEST

"""What differs between the demos of the areas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from temporalio.client import Client

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.testbed.demo.approver import Judge
from edgeshift.testbed.demo.scenario import Scenario
from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.invariants.seen import Word
from edgeshift.testbed.stack import Stack


class Person(Protocol):
    """A stand-in for somebody. ``words``: what they told zones, a record of their own, for the checkers."""

    words: list[Word]

    async def work(self) -> None:
        """Do what they do, until it is done or they are cancelled."""


@dataclass(frozen=True)
class Beside:
    """What people work with beside the campaigns. ``say``: tells whoever looks on."""

    client: Client
    control: Control
    scenario: Scenario
    say: Callable[[str], None]


@dataclass(frozen=True)
class Part:
    """One area's demo. ``zones``: of its fleet, unless it is asked for others. ``shows``: the outcomes that
    a complete demo has, beside which some others may come. ``specs``: its campaigns: the one that is watched,
    the one that is aborted, and others that run besides. ``people``: stand-ins for whoever has a part beside
    approvers and operators, such as visitors of the zones. ``clock``: what the simulator says the time is;
    the machine's if None. ``result``: the file of its result; ``also``: further files of the same. ``edge``:
    whether people are told where the simulated edge is.
    """

    area: Area
    zones: int
    arrange: Callable[[int, int], Scenario]
    options: Callable[[], dict[str, Any]]
    specs: Callable[[Scenario, Stack], list[CampaignSpec]]
    judge: Judge
    shows: tuple[ZoneOutcome, ...]
    sighting: str
    result: str
    people: Callable[[Beside], Sequence[Person]] = lambda beside: ()
    clock: datetime | None = None
    also: tuple[str, ...] = ()
    edge: bool = True


UNDONE = (
    ZoneOutcome.SETTLED,
    ZoneOutcome.ALREADY_SETTLED,
    ZoneOutcome.ROLLED_BACK,
    ZoneOutcome.REJECTED,
    ZoneOutcome.ON_HOLD,
    ZoneOutcome.ABORTED,
    ZoneOutcome.FAILED,
    ZoneOutcome.UNKNOWN,
)
"""The outcomes of a change that can be undone."""

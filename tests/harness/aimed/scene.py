"""Judging one small scene that goes for one rule: what its family shares."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.service import RPCError
from temporalio.worker import ExecuteActivityInput

from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.testbed.invariants import check_rules
from tests.harness.oracles.judging import NONE, WAITING, broken, ending_of, said, unsigned
from tests.harness.oracles.unknowns import met_and_resolved
from tests.harness.verdict import Verdict
from tests.kit import SCALE
from tests.kit.around import Around, Work
from tests.kit.faults import Stage

LATE: dict[str, Any] = {"migration_seconds": 8 * SCALE}
"""A service at which a migration takes eight real seconds. Until then the zone looks as it did before."""

PATIENCE = 150.0
"""Seconds that anything which is waited for may take on a busy machine."""


class Stalled(Around):
    """Holds the first run of an activity up before its first line, as a process that gets no processor does,
    until it is let go.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.begun = asyncio.Event()
        self.go = asyncio.Event()

    async def around(self, name: str, asked: ExecuteActivityInput, work: Work) -> Any:
        """Hold the first one up."""
        if name == self._name and not self.begun.is_set():
            self.begun.set()
            await self.go.wait()
        return await work()


async def judged(
    stage: Stage,
    absent: Iterable[int],
    *,
    told: Sequence[str] = (),
    within: float = PATIENCE,
    searched: Sequence[Path] = (),
    closed: Callable[[], Awaitable[None]] | None = None,
    beside: Callable[[], Awaitable[list[str]]] | None = None,
) -> Verdict:
    """Sign whatever comes to wait until the campaign closes; then its verdict.

    ``told``: what the scene itself has to complain of. ``closed``: done before the checkers look.
    ``beside``: an oracle of the scene's own, asked at the end.
    """
    complaints = list(told)
    try:
        await stage.finish(within)
    except (AssertionError, WorkflowFailureError) as late:
        complaints.append(f"the campaign does not end: {late}"[:500])
    if closed is not None:
        await closed()
    endings = {stage.id(name): await ending_of(stage, name) for name in stage.names}
    seen = await stage.play.checkers(searched)
    checks = {check.rule: check for check in check_rules(seen, absent=frozenset(absent))}
    complaints += [text for check in checks.values() for text in said(check)]
    if beside is not None:
        complaints += await beside()
    outcomes = {zone: ending.outcome for zone, ending in endings.items()}
    met, resolved = met_and_resolved(seen.journal, outcomes)
    return Verdict(
        zone_schedules=len(endings),
        unsigned_commits=unsigned(checks),
        double_commits=broken(checks[2]),
        lost_zones=max(sum(one == NONE for one in outcomes.values()), broken(checks[11])),
        unknown_met=met,
        unknown_resolved=resolved,
        outcomes=dict(Counter(outcomes.values())),
        not_final=[
            f"{one.name}: {one.outcome}, {one.reason}" for one in endings.values() if one.outcome in WAITING
        ],
        complaints=complaints,
        faults=dict(Counter(request.fault for request in seen.journal if request.fault)),
    )


async def waits(stage: Stage, name: str) -> ZoneState:
    """The zone's state once it waits for its sign-off."""
    return await stage.waits(name, PATIENCE)


async def resumed(stage: Stage) -> None:
    """Resume the campaign; a wrong version may have ended it in its pause."""
    with contextlib.suppress(RPCError, WorkflowUpdateFailedError):
        await stage.play.ask("resume")


async def comes_to(stage: Stage, name: str, phase: ZonePhase, within: float = PATIENCE) -> ZoneState | None:
    """The zone's state once it is in the phase; None where it comes to its sign-off, or to its end, instead.

    A wrong version may never come to where it should; what it did on its way is for the oracles to say.
    """
    found: ZoneState | None = None
    with contextlib.suppress(AssertionError):
        found = await stage.play.zone_until(
            stage.name(name),
            lambda seen: seen.phase in (phase, ZonePhase.AWAITING_SIGN_OFF, ZonePhase.CLOSED),
            within,
        )
    return found if found is not None and found.phase is phase else None


async def ends(stage: Stage, name: str, within: float = PATIENCE) -> str:
    """The zone's outcome, or empty where it comes to none."""
    try:
        return (await stage.outcome(name, within)).value
    except (TimeoutError, WorkflowFailureError):
        return ""


async def quiet(seconds: float = 1.5) -> None:
    """Give something that must not happen the time to happen: on a busy machine, more of it."""
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    await asyncio.sleep(seconds * min(6.0, max(1.0, busy)))

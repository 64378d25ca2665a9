"""A plan's batch that goes on where an earlier attempt had come to."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.boundary import come_to, heartbeating
from activities.circuit import MOST_MINUTES, HeldCallActivities, HeldHere
from activities.targets import LINES_OF_A_PART, MOST_WAITS, TargetActivities
from activities.ways import Ways
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import AssessBatch, AssessedBatch, PlanWaits, ZoneAssessment
from edgeshift.model.failures import PERMANENT
from edgeshift.model.fleet import Area, Plan, Target, Zone
from edgeshift.rate_limit.circuit import Trouble, held
from edgeshift.runtime.clock import Clock, SystemClock
from edgeshift.runtime.secret_refs import CredentialMissing
from edgeshift.runtime.settings import Settings
from edgeshift.service_api import NoTurn, Outcome, ServerError, ServiceCircuitOpen
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import AssessedTargets, get_document
from tests.kit import eventually

FIRST, END = 7, 40

SPEC = CampaignSpec.model_validate(
    {
        "name": "parts",
        "targets": {"all": True},
        "service": {
            "base_url": "http://127.0.0.1:1/client/v4",
            "credentials": [{"token": "env:NOBODYS", "user": "u"}],
        },
        "time_scale": 3600,
    }
)


class Lost(Exception):
    """The worker is gone."""


class Plans:
    """A worker that makes lines of a plan, and is lost at some of the targets."""

    def __init__(
        self,
        folder: Path,
        *,
        lost_at: int | None = None,
        fails: Callable[[int], Exception | None] = lambda index: None,
        clock: Clock | None = None,
    ) -> None:
        self.archive = Archive(Settings(state_dir=folder).archive)
        self.read: list[int] = []
        self.told: list[tuple[Any, ...]] = []
        self._lost_at = lost_at
        self._fails = fails
        self._clock = clock or SystemClock()
        self.held = HeldHere(self._clock)

    async def assess(self, digest: str, spec: Any, target: Target, line: ZoneAssessment) -> ZoneAssessment:
        """A line that says which target it is of."""
        if line.index == self._lost_at:
            raise Lost
        if (failure := self._fails(line.index)) is not None:
            raise failure
        self.read.append(line.index)
        return line.model_copy(update={"fingerprint": f"of {line.index}"})

    async def run(self, *details: Any, attempt: int = 1, indexes: tuple[int, ...] = ()) -> AssessedBatch:
        """The batch, by an attempt that is handed these details."""

        async def targets(_: str) -> list[Target]:
            zones = (
                Zone(id=f"{n:032x}", name=f"{n}.example", account="a" * 32, plan=Plan.PRO) for n in range(END)
            )
            return [Target(zone=zone, wave=0) for zone in zones]

        async def spec(_: str) -> Any:
            return SPEC

        connections: Any = SimpleNamespace(
            archive=self.archive,
            targets=targets,
            spec=spec,
            clock=self._clock,
            ways=lambda spec: Ways(spec, lambda _: None),
        )
        works: Any = {Area.WAF: self}
        waiting = HeldCallActivities(connections, self.held)
        environment = ActivityEnvironment()
        environment.on_heartbeat = lambda *told: self.told.append(told)
        environment.info = dataclasses.replace(environment.info, heartbeat_details=details, attempt=attempt)
        batch = AssessBatch(spec="0" * 64, targets="0" * 64, first=FIRST, end=END, indexes=indexes)
        return await environment.run(TargetActivities(connections, works, waiting).assess, batch)


class Quick(SystemClock):
    """Waits for hardly anything."""

    async def sleep(self, seconds: float) -> None:
        """Return at once."""
        await super().sleep(0)


class Skipping(SystemClock):
    """Waits for nothing: its own time passes at once."""

    def __init__(self) -> None:
        self.slept = 0.0

    def now(self) -> datetime:
        """The time, as if everything had been slept."""
        return super().now() + timedelta(seconds=self.slept)

    async def sleep(self, seconds: float) -> None:
        """Let the time pass."""
        self.slept += seconds
        await super().sleep(0)


def lacking(index: int) -> Exception | None:
    """The secret is asked for from the thirteenth target on, and not found."""
    missing = CredentialMissing("env:NOBODYS", "env:NOBODYS: the variable NOBODYS is not set")
    return missing if index >= FIRST + 12 and "NOBODYS" not in os.environ else None


def outage() -> ServiceCircuitOpen:
    """Calls are stopped, as this process alone believes still."""
    return ServiceCircuitOpen(held(Trouble.OUTAGE, "500", datetime.now(UTC)))


@pytest.mark.parametrize("lost_at", [FIRST, FIRST + 1, FIRST + LINES_OF_A_PART, FIRST + 23, END - 1])
async def test_what_was_read_by_a_worker_that_is_gone_is_not_read_again(lost_at: int, tmp_path: Path) -> None:
    """The report is that of one attempt, and what a heartbeat tells stays small."""
    gone = Plans(tmp_path, lost_at=lost_at)
    with pytest.raises(Lost):
        await gone.run()
    then = Plans(tmp_path)
    found = await then.run(*(gone.told[-1] if gone.told else ()))
    assert gone.read + then.read == list(range(FIRST, END))
    assert found == await Plans(tmp_path / "whole").run()
    lines = (await get_document(then.archive, AssessedTargets, found.report)).root
    assert [line.fingerprint for line in lines] == [f"of {index}" for index in range(FIRST, END)]
    assert all(len(told) <= -(-(END - FIRST) // LINES_OF_A_PART) for told in (*gone.told, *then.told))


async def test_of_a_batch_that_names_its_targets_these_alone_are_read(tmp_path: Path) -> None:
    """As those of one credential among others' are; also by a worker that takes it over."""
    some = tuple(range(FIRST, END, 2))
    gone = Plans(tmp_path, lost_at=some[12])
    with pytest.raises(Lost):
        await gone.run(indexes=some)
    then = Plans(tmp_path)
    found = await then.run(*gone.told[-1], indexes=some)
    assert gone.read + then.read == list(some)
    lines = (await get_document(then.archive, AssessedTargets, found.report)).root
    assert [line.index for line in lines] == list(some)


async def test_a_batch_whose_parts_cannot_be_read_is_read_anew(tmp_path: Path) -> None:
    """As where the archive was moved meanwhile."""
    then = Plans(tmp_path)
    await then.run("f" * 64)
    assert then.read == list(range(FIRST, END))


async def test_without_a_turn_a_batch_waits_and_tells_why(tmp_path: Path) -> None:
    """As where the quota's worker starts anew: the attempt goes on, however often that was so."""
    missed = 0

    def fails(index: int) -> Exception | None:
        nonlocal missed
        if index == FIRST + 12 and missed < MOST_WAITS + 2:
            missed += 1
            return NoTurn(TimeoutError("no answer"))
        return None

    then = Plans(tmp_path, fails=fails)
    found = await then.run()
    assert then.read == list(range(FIRST, END)) and missed > MOST_WAITS
    waits = [told[-1].why for told in then.told if isinstance(told[-1], PlanWaits)]
    assert waits and all("no turn to call was given" in why for why in waits)
    assert found == await Plans(tmp_path / "whole").run()
    # An attempt that takes over from one that waited goes on after what that one had read.
    waited = next(told for told in then.told if isinstance(told[-1], PlanWaits))
    again = Plans(tmp_path)
    assert await again.run(*waited[:-1], waited[-1].model_dump()) == found
    assert again.read == list(range(FIRST + 12, END))


async def test_what_an_outage_spoilt_before_it_was_known_is_read_again(tmp_path: Path) -> None:
    """The last zones that could not be read before calls were stopped, and no others."""
    out, stopped = {index: 4 for index in (FIRST + 3, *range(FIRST + 8, FIRST + 12))}, False

    def fails(index: int) -> Exception | None:
        nonlocal stopped
        if out.get(index):
            out[index] -= 1
            return ServerError("500", call="zones.get", outcome=Outcome.READ)
        if index == FIRST + 12 and not stopped:
            stopped = True
            return outage()
        return None

    then = Plans(tmp_path, fails=fails)
    lines = (await get_document(then.archive, AssessedTargets, (await then.run()).report)).root
    assert [line.index for line in lines if line.error] == [FIRST + 3]
    assert [line.index for line in lines] == list(range(FIRST, END))


@pytest.mark.parametrize("during", [True, False])
async def test_what_an_outage_spoilt_is_read_again_by_whoever_takes_over(
    during: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the worker stops while it waits out the outage, and where it is lost before it knew of it."""

    def fails(index: int) -> Exception | None:
        if index == FIRST + 3 or FIRST + 8 <= index < FIRST + 15:
            return ServerError("500", call="zones.get", outcome=Outcome.READ)
        return outage() if index == FIRST + 15 and during else None

    async def stops(*_: Any) -> None:
        raise Lost

    gone = Plans(tmp_path, lost_at=None if during else FIRST + 15, fails=fails, clock=Quick())
    with monkeypatch.context() as patch, pytest.raises(Lost):
        patch.setattr(HeldCallActivities, "wait_out", stops)
        await gone.run()
    then = Plans(tmp_path)
    told = [one.model_dump() if isinstance(one, PlanWaits) else one for one in gone.told[-1]]
    lines = (await get_document(then.archive, AssessedTargets, (await then.run(*told)).report)).root
    assert [line.index for line in lines if line.error] == [FIRST + 3]
    assert then.read == list(range(FIRST + 8, END))


@pytest.mark.parametrize(("attempt", "minutes"), [(1, 1), (7, 7), (1_000, MOST_MINUTES)])
async def test_a_worker_that_lacks_the_secret_holds_nobody_and_lets_another_go_on(
    attempt: int, minutes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says why it waits, for longer each time; whoever has the secret goes on after what was read."""
    clock = Skipping()
    lacks = Plans(tmp_path, fails=lacking, clock=clock)
    with pytest.raises(ApplicationError) as raised:
        await asyncio.wait_for(lacks.run(attempt=attempt), 30)
    assert raised.value.type == "WorkerLacks" and not raised.value.non_retryable
    assert raised.value.type not in PERMANENT and "env:NOBODYS was not found" in raised.value.message
    assert abs(clock.slept - minutes) < 1
    assert (await lacks.held.standing("u")).holds == ()
    told = lacks.told[-1]
    assert "env:NOBODYS was not found" in told[-1].why
    monkeypatch.setenv("NOBODYS", "a-secret-of-nobody-at-all")
    has = Plans(tmp_path, fails=lacking)
    assert await has.run(*told[:-1], told[-1].model_dump()) == await Plans(tmp_path / "whole").run()
    assert lacks.read + has.read == list(range(FIRST, END))


async def test_a_secret_that_comes_back_is_found_where_it_was_lacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a file that is being replaced: nobody else has to take over."""
    then = Plans(tmp_path, fails=lacking)
    running = asyncio.create_task(then.run())

    async def waits() -> bool:
        return bool(then.told) and isinstance(then.told[-1][-1], PlanWaits)

    await eventually(waits, 30, "it waits")
    monkeypatch.setenv("NOBODYS", "a-secret-of-nobody-at-all")
    await asyncio.wait_for(running, 30)
    assert then.read == list(range(FIRST, END))


async def test_a_zone_whose_own_reading_is_refused_holds_up_no_other(tmp_path: Path) -> None:
    """Where its calls are stopped again and again, although they are let go in between."""
    then = Plans(tmp_path, fails=lambda index: outage() if index == FIRST + 5 else None)
    lines = (await get_document(then.archive, AssessedTargets, (await then.run()).report)).root
    assert [line.index for line in lines if line.error] == [FIRST + 5]
    assert then.read == [index for index in range(FIRST, END) if index != FIRST + 5]


MOST_READINGS = 5_000
"""So often no plan of these tests is read that comes to an end."""


async def test_a_zone_that_opens_the_circuit_by_itself_is_given_up_once(tmp_path: Path) -> None:
    """Calls are still stopped when it is: the first call for the next zone is held, and does not have it read
    again.
    """
    calls, held_up = 0, False

    def fails(index: int) -> Exception | None:
        nonlocal calls, held_up
        assert (calls := calls + 1) < MOST_READINGS, "it does not come to an end"
        if index == FIRST + 5:
            held_up = True
            return outage()
        if held_up:
            held_up = False
            return outage()
        return None

    then = Plans(tmp_path, fails=fails, clock=Quick())
    lines = (await get_document(then.archive, AssessedTargets, (await then.run()).report)).root
    assert [line.index for line in lines if line.error] == [FIRST + 5]
    assert [line.index for line in lines] == list(range(FIRST, END))


async def test_zones_that_never_answer_are_read_again_once_and_hold_up_no_other(tmp_path: Path) -> None:
    """As those of an account whose every reading fails: each few of them open the circuit, and the test call,
    which is of none of them, closes it again.
    """
    calls = in_a_row = 0
    bad = range(FIRST + 3, FIRST + 27)

    def fails(index: int) -> Exception | None:
        nonlocal calls, in_a_row
        assert (calls := calls + 1) < MOST_READINGS, "it does not come to an end"
        if in_a_row >= 10:
            in_a_row = 0
            return outage()
        if index not in bad:
            in_a_row = 0
            return None
        in_a_row += 1
        return ServerError("500", call="zones.get", outcome=Outcome.READ)

    then = Plans(tmp_path, fails=fails, clock=Quick())
    lines = (await get_document(then.archive, AssessedTargets, (await then.run()).report)).root
    assert [line.index for line in lines if line.error] == list(bad)
    assert [line.index for line in lines] == list(range(FIRST, END))
    # Each is tried four times for a line; no line is made more than twice, beside those that were cut off.
    assert calls <= 3 * 4 * len(bad) + END


async def test_each_heartbeat_tells_how_far_it_has_come() -> None:
    """At first what an earlier attempt had told: else a worker that is lost early would lose all of it."""
    told: list[tuple[Any, ...]] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *details: told.append(details)
    environment.info = dataclasses.replace(
        environment.info, heartbeat_details=("before",), heartbeat_timeout=timedelta(seconds=0.03)
    )

    @heartbeating
    async def work() -> int:
        await asyncio.sleep(0.05)
        come_to("further", 2)
        await asyncio.sleep(0.05)
        return activity.info().attempt

    assert await environment.run(work) == 1
    assert told[0] == ("before",) and told[-1] == ("further", 2)
    assert told == sorted(told, key=len) and told.count(("further", 2)) > 1

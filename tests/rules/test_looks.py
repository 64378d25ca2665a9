"""The sweep's look at many zones: described side by side, in slices that are heartbeat, and never queried."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.testing import ActivityEnvironment

from activities import looks
from activities.connections import Connections
from activities.fanout import ZoneActivities
from edgeshift.messages import DescribedZones, DescribeZones
from edgeshift.model.fleet import Area
from edgeshift.runtime.clock import SystemClock
from edgeshift.runtime.temporal import FINGERPRINT, PHASE
from tests.rules.ledger_kit import OTHER, SHAPE

COUNT, CAMPAIGN, RUN = 95, "campaign/c", "run-of-the-campaign"


class Zones:
    """A server that knows one zone for each index, all of which wait for a sign-off, and their campaign.

    ``original``, ``before``: in whose history the campaign's own run, and the one before it, begin.
    ``proposed``: what zones propose that do not propose the same as the others.
    """

    def __init__(
        self, *, first_run: str = RUN, original: str = RUN, before: str = "", **proposed: str
    ) -> None:
        self.at_once = self.most_at_once = 0
        self.described: list[str] = []
        self.signals: list[tuple[str, str]] = []
        self._first_run, self._proposed = first_run, proposed
        self._original = {RUN: original, "before": before}

    def get_workflow_handle(self, identifier: str, *, run_id: str | None = None) -> Any:
        async def describe() -> Any:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            await asyncio.sleep(0)
            self.at_once -= 1
            return self._campaign() if identifier == CAMPAIGN else self._zone(identifier)

        async def signal(name: str, message: Any) -> None:
            self.signals.append((identifier, name))

        async def events(**_: Any) -> Any:
            began = SimpleNamespace(original_execution_run_id=self._original[run_id or RUN])
            yield SimpleNamespace(workflow_execution_started_event_attributes=began)

        return SimpleNamespace(describe=describe, signal=signal, fetch_history_events=events)

    def _campaign(self) -> Any:
        info = SimpleNamespace(first_run_id=self._first_run)
        return SimpleNamespace(raw_description=SimpleNamespace(workflow_execution_info=info))

    def _zone(self, identifier: str) -> Any:
        self.described.append(identifier)
        fingerprint = self._proposed.get(identifier.split("/")[1], SHAPE)

        async def memo() -> dict[str, Any]:
            return {"campaign": CAMPAIGN, "campaign_run": RUN, "attempt": 1}

        return SimpleNamespace(
            id=identifier,
            run_id="a",
            status=WorkflowExecutionStatus.RUNNING,
            memo=memo,
            raw_description=SimpleNamespace(workflow_execution_info=SimpleNamespace(first_run_id="a")),
            typed_search_attributes=TypedSearchAttributes(
                [
                    SearchAttributePair(PHASE, "awaiting_sign_off"),
                    SearchAttributePair(FINGERPRINT, fingerprint),
                ]
            ),
        )


async def look(
    zones: Zones,
    *,
    duplicate_sequences: frozenset[int] = frozenset(),
    done: int = 0,
    unasked: tuple[str, ...] = (),
    told: tuple[Any, ...] = (),
) -> tuple[DescribedZones, list[int]]:
    """Look at all of them; the answer, and the positions that were heartbeat."""
    kinds = SimpleNamespace(value="zone")
    targets = [SimpleNamespace(zone=SimpleNamespace(id=f"z{n}", kind=kinds)) for n in range(COUNT)]

    async def found(digest: str) -> list[Any]:
        return targets

    batch = DescribeZones(
        campaign=CAMPAIGN,
        campaign_run=RUN,
        targets="0" * 64,
        spec="0" * 64,
        area=Area.WAF,
        indexes=tuple(range(COUNT)),
        attempts=(1,) * COUNT,
        settles_in=timedelta(minutes=1),
        waits=frozenset(range(COUNT)),
        duplicate_sequences=duplicate_sequences,
        expected=(SHAPE[:12],) * COUNT,
        unasked=unasked,
    )
    positions: list[int] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda position, _: positions.append(position)
    details = [done, DescribedZones()] if done else list(told)
    environment.info = dataclasses.replace(environment.info, workflow_run_id=RUN, heartbeat_details=details)
    nobody = cast(Any, None)
    connections = Connections(cast(Client, zones), nobody, SystemClock(), nobody, "")
    setattr(connections, "targets", found)  # noqa: B010
    answer = await environment.run(ZoneActivities(connections, {}).describe, batch)
    return answer, positions


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "LOOKS_PER_SECOND", 1e9)


async def test_all_are_described_some_at_a_time() -> None:
    """Nobody is asked of whom nothing is unknown."""
    zones = Zones()
    answer, positions = await look(zones)
    assert answer == DescribedZones(run=RUN) and zones.signals == []
    assert len(set(zones.described)) == len(zones.described) == COUNT
    assert zones.most_at_once == looks.SIDE_BY_SIDE
    assert positions == [*range(10, COUNT, 10), COUNT]


async def test_a_look_goes_on_where_the_last_try_had_come_to() -> None:
    """What was described before is not described again."""
    zones = Zones()
    await look(zones, done=90)
    assert len(zones.described) == 5


@pytest.mark.parametrize(
    "told",
    [
        (5,),
        ("x", {}),
        (True, {}),
        (2.5, {}),
        (-1, {}),
        (COUNT + 1, {}),
        (5, "x"),
        (5, None),
        (5, {"closed": [{"index": 1, "outcome": "of nobody"}]}),
        (5, {}, {}),
    ],
)
async def test_a_heartbeat_that_is_none_of_a_batch_is_passed_over(told: tuple[Any, ...]) -> None:
    """Whoever can reach Temporal may have sent it: all are looked at."""
    zones = Zones()
    await look(zones, told=told)
    assert len(set(zones.described)) == COUNT


async def test_doubted_zones_and_those_that_propose_something_else_say_again_what_they_wait_for() -> None:
    """By a signal, and no others do."""
    zones = Zones(z7=OTHER)
    await look(zones, duplicate_sequences=frozenset({3, 94}))
    assert {(one.split("/")[1], name) for one, name in zones.signals} == {
        (zone, "say_again") for zone in ("z3", "z7", "z94")
    }


@pytest.mark.parametrize(
    ("first_run", "original", "expected"),
    [(RUN, RUN, ""), ("another", RUN, ""), ("another", "another", RUN)],
    ids=["its first run", "a new run", "reset"],
)
async def test_a_campaign_that_was_reset_is_told_so(first_run: str, original: str, expected: str) -> None:
    """One that went on in a new run has forgotten nothing."""
    answer, _ = await look(Zones(first_run=first_run, original=original))
    assert answer.reset_run == expected


@pytest.mark.parametrize(
    ("original", "expected"), [("before", ""), ("another", "before")], ids=["a new run", "reset"]
)
async def test_a_campaign_that_was_reset_is_told_so_by_the_run_after(original: str, expected: str) -> None:
    """The run that came out of the reset ended before it had looked at any zone."""
    zones = Zones(first_run="another", before=original)
    answer, _ = await look(zones, unasked=("before",))
    assert (answer.run, answer.reset_run) == (RUN, expected)


async def test_a_lap_over_ten_thousand_takes_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the pace that is kept, whatever the server could do: 95 zones in half a second."""
    monkeypatch.undo()
    loop = asyncio.get_running_loop()
    began = loop.time()
    await look(Zones())
    took = loop.time() - began
    assert took > 0.9 * (COUNT - looks.SIDE_BY_SIDE) / looks.LOOKS_PER_SECOND
    assert 10_000 / looks.LOOKS_PER_SECOND <= 60

"""Holding an account's zones, and letting go of them: a second try goes on where the first one came to."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.testing import ActivityEnvironment

from activities.account_lock import MOST_NAMED, HoldActivities
from activities.connections import Connections
from edgeshift.messages import Held
from edgeshift.model.fleet import Area, Plan, Zone, migration_id
from edgeshift.stores.documents import CoveredZones, encoded

COUNT = 5_000
ZONES = tuple(
    Zone(id=f"{number:032x}", name=f"z{number}.example", account="a" * 32, plan=Plan.FREE)
    for number in range(COUNT)
)
HOLDER = "account/a/esc"
OTHERS = {migration_id(zone, Area.ESC) for zone in ZONES[-10:]}
"""What another campaign has."""


class Server:
    """A Temporal that has workflows of others, and of which it is known what it was asked for."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.released: list[str] = []

    async def start_workflow(self, name: str, *_: object, id: str, **__: object) -> None:
        """Each by its identifier."""
        if id in OTHERS:
            raise WorkflowAlreadyStartedError(id, name)
        self.started.append(id)

    def get_workflow_handle(self, identifier: str) -> Any:
        """Of a workflow of the account, or of another campaign."""
        holder = "another" if identifier in OTHERS else HOLDER
        memo = {"holder": holder, "campaign": "another", "campaign_run": "r", "attempt": 1}

        async def describe() -> Any:
            async def known() -> dict[str, Any]:
                return memo

            return SimpleNamespace(status=WorkflowExecutionStatus.RUNNING, memo=known)

        async def signal(_: str) -> None:
            self.released.append(identifier)

        return SimpleNamespace(describe=describe, signal=signal)


async def tried(work: str, details: list[Any]) -> tuple[Server, Held | None, list[tuple[Any, ...]]]:
    """What a try asks the server for that begins with what an earlier one had told, what it answers, and what
    it tells itself.
    """
    server, told = Server(), list[tuple[Any, ...]]()

    async def value(answer: Any) -> Any:
        return answer

    connections = SimpleNamespace(
        temporal=server,
        archive=SimpleNamespace(get_object=lambda digest: value(encoded(CoveredZones(ZONES)))),
        spec=lambda digest: value(SimpleNamespace(time_scale=1)),
    )
    start = SimpleNamespace(
        area=Area.ESC, spec="", attempt=1, campaign="campaign/c", campaign_run="r", started_by="olga"
    )
    again = ActivityEnvironment()
    again.info = replace(again.info, attempt=2, heartbeat_details=details)
    again.on_heartbeat = lambda *some: told.append(some)
    holds = HoldActivities(cast(Connections, connections))
    message = SimpleNamespace(start=start, holder=HOLDER, zones="")
    return server, await again.run(getattr(holds, work), message), told


async def test_a_second_try_holds_the_zones_that_are_left() -> None:
    """And names those that the first one found in the hands of others, whose number is whole."""
    server, found, told = await tried("hold", [4_000, ["z7.example by campaign/x"], 7, 0])
    assert server.started == [migration_id(zone, Area.ESC) for zone in ZONES[4_000:-10]]
    assert found is not None and len(found.others) == MOST_NAMED + 1
    assert found.others[0] == "z7.example by campaign/x" and found.others[-1] == "and 12 more"
    assert len(server.released) == COUNT - len(OTHERS)
    assert max(len(str(one)) for one in told) < 300


async def test_a_second_try_lets_go_of_the_zones_that_are_left() -> None:
    """Also where the first one was about to hold them, and others have some."""
    others = ["z7.example by campaign/x"]
    tries: dict[str, list[Any]] = {"release": [0, [], 0, 4_000], "hold": [COUNT, others, 1, 4_000]}
    for work, details in tries.items():
        server, _, told = await tried(work, details)
        assert server.started == []
        assert server.released == [migration_id(zone, Area.ESC) for zone in ZONES[4_000:-10]]
        assert list(told[0]) == [*details[:1], tuple(details[1]), *details[2:]]


@pytest.mark.parametrize(
    "details", [[], [4_000], [COUNT + 1, [], 0, 0], [4_000, None, 0, 0], [True, [], 0, 0], [1, [], -1, 0]]
)
async def test_what_is_no_progress_begins_afresh(details: list[Any]) -> None:
    """Of a worker of another version, or made up."""
    server, _, _ = await tried("hold", details)
    assert len(server.started) == COUNT - len(OTHERS)

"""Two of the schedules that `make test-schedules` plays by the hundred."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.harness.cases import World
from tests.harness.running.played import played
from tests.schedules.plans import plan
from tests.schedules.play import Record, case, record_of

pytestmark = pytest.mark.embedded

SEEDS = (10_000, 10_005)
"""One of esc and one of waf."""


@pytest.mark.long
@pytest.mark.timeout(700)
@pytest.mark.parametrize("seed", SEEDS)
async def test_every_history_of_a_schedule_replays(
    seed: int, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """The campaign comes to its end, every rule holds, and nothing diverges."""
    folder = tmp_path / "played"
    verdict = await played(case(seed), World(temporal_client, embedded.address, folder))
    assert not verdict.complaints, "\n".join(verdict.complaints)
    record = Record.model_validate_json(record_of(folder).read_bytes())
    assert not record.replayed.divergences
    assert {"Campaign", "TargetList"} <= set(record.replayed.runs)


def test_a_seed_has_the_same_plan_each_time() -> None:
    """What a complaint names can be played again."""
    assert plan(SEEDS[0]) == plan(SEEDS[0])
    assert plan(SEEDS[0]).steps != plan(SEEDS[1]).steps

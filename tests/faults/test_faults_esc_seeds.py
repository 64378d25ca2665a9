"""Hundreds of scopes, each with troubles of its own, while workers die: esc is as each outcome says."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.embedded import EmbeddedTemporal
from tests.harness.campaigns import judge
from tests.harness.schedules import schedule
from tests.harness.share import shared, sized

pytestmark = pytest.mark.embedded

SEEDS = range(1, 9)
ZONES = sized(24, 120)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", shared("seeds of esc", SEEDS))
async def test_esc_is_never_left_otherwise_than_the_outcome_says(
    seed: int, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """Off and in force at the edge where settled, on where rolled back, and most zones end so."""
    judged = await judge(schedule(seed, "esc", ZONES), temporal_client, embedded.address, tmp_path, 240)
    assert not judged.complaints, judged.told()
    through = judged.outcomes["settled"] + judged.outcomes["rolled_back"] + judged.outcomes["already_settled"]
    assert through >= 0.8 * ZONES, judged.told()
    assert judged.fired, judged.told()

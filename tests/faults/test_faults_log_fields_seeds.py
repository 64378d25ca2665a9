"""Hundreds of zones, each with troubles of its own, while workers die: nothing is left in part."""

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
@pytest.mark.parametrize("seed", shared("seeds of log-fields", SEEDS))
async def test_fields_and_jobs_are_never_left_in_part(
    seed: int, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """All fields and what jobs list where settled, nothing of it where rolled back, nobody else's lost."""
    judged = await judge(
        schedule(seed, "log-fields", ZONES), temporal_client, embedded.address, tmp_path, 480
    )
    assert not judged.complaints, judged.told()
    through = judged.outcomes["settled"] + judged.outcomes["rolled_back"] + judged.outcomes["already_settled"]
    assert through >= 0.8 * ZONES, judged.told()
    assert judged.fired, judged.told()

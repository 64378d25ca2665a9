"""What goes wrong beside a campaign: a share of the harness's cases, and what they have brought to light."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.fleet import ZoneOutcome
from tests.faults_kit import staged, zone

pytestmark = pytest.mark.embedded


async def test_a_second_commit_that_is_refused_since_the_first_one_shows_late_is_no_failure(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The first one's answer is lost, and its effect shows only after it was sent again: migrated."""
    async with staged(
        temporal_client, tmp_path, zone("late"), simulator={"visibility_seconds": 5.5 * 14_400}
    ) as stage:
        await stage.fault("gateway_timeout", "entrypoint.put", "late", effect="after")
        result = await stage.finish()
        assert result.outcomes == {"migrated": 1}
        assert await stage.outcome("late") is ZoneOutcome.MIGRATED

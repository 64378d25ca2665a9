"""A permit that a zone has put back is not believed again, however often its campaign says it."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from tests.kit.faults import staged, zone
from tests.kit.put_back import say_twice

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]


async def test_a_permit_that_went_back_lets_nothing_be_sent(temporal_client: Client, tmp_path: Path) -> None:
    """Its campaign counts it as settled: what was sent under it would be no step in flight to a pause, and
    would begin after a halt.
    """
    async with staged(temporal_client, tmp_path, zone("a"), zone("b")) as stage:
        await say_twice(stage, "a")
        await stage.play.sign_zone(stage.name("b"))
        await stage.outcome("b")
        state = await stage.play.state(stage.name("a"))
        assert state.phase is ZonePhase.AWAITING_SIGN_OFF, state.phase
        assert (await stage.finish()).outcomes == {"migrated": 2}
        await stage.check({3, 4, 7})

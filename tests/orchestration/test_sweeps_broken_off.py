"""A run of a campaign that is to end while its sweep is under way."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.kit import eventually, fleet_of, scene
from tests.kit.queue import on_queue
from tests.kit.swept import SweepHeldUp, run_ends_amid_its_sweep
from workflows.campaign import sweeper

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

MOST_EVENTS = 150


async def test_a_run_that_is_to_end_leaves_the_rest_of_its_sweep_to_the_next_one(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of five zones that wait, two at a time are looked at. Until a run has ended, nothing is started or
    granted: it ends after the look that is under way, and the next run goes on at once where it was.
    """
    monkeypatch.setattr(sweeper, "SLICE", 2)
    held, tag = SweepHeldUp(), uuid.uuid4().hex[:8]
    fleet = fleet_of(*({"name": f"z{number}.{tag}.example", "plan": "pro"} for number in range(5)))
    own = on_queue(temporal_client, f"swept-{tag}")
    async with scene(own, tmp_path, fleet, begin=False, sweep="24h", interceptors=[held]) as play:
        await play.begin(most_events=MOST_EVENTS)
        await play.until(lambda found: found.places.get("awaiting", 0) == 5)
        run = await run_ends_amid_its_sweep(play, held, MOST_EVENTS)

        async def three_looks() -> bool:
            return len(held.looks) >= 3

        await eventually(three_looks, 30, "the next run looks at the others")
        assert [looked for _, looked in held.looks[:3]] == [(0, 1), (2, 3), (4,)]
        assert [of == run for of, _ in held.looks[:3]] == [True, False, False]
        await play.sign_everything()
        assert (await play.result()).outcomes == {"migrated": 5}
        await play.check_rules(absent={3, 4, 7})

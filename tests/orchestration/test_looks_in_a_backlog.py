"""What a look reads at the service waits behind no backlog: the whole sweep would wait with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.rate_limit.terms import Lane
from edgeshift.rate_limit.unpaced import Unpaced
from tests.harness.campaigns.stages import ESC, LOG_FIELDS, esc_zone
from tests.kit.faults import staged, zone
from tests.kit.log_fields import logged_zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

WAF: dict[str, Any] = {"area": "waf"}


@pytest.mark.parametrize(
    ("spec", "one"),
    [(WAF, zone("a")), (ESC, esc_zone("a")), (LOG_FIELDS, logged_zone("{zone}") | {"name": "a"})],
    ids=["waf", "esc", "log-fields"],
)
async def test_a_zone_that_was_terminated_is_read_by_urgent_calls(
    spec: dict[str, Any],
    one: dict[str, Any],
    temporal_client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing else calls: everybody else waits for people."""
    lanes: list[Lane] = []

    async def acquire(pacer: Unpaced, lane: Lane, credential: str = "") -> None:
        lanes.append(lane)

    monkeypatch.setattr(Unpaced, "acquire", acquire)
    async with staged(temporal_client, tmp_path, one, {**one, "name": "b"}, **spec) as stage:
        for short in stage.names:
            await stage.waits(short)
        before = len(lanes)
        assert Lane.NORMAL in lanes
        await stage.play.zone(stage.name("a")).terminate("by mistake")
        await stage.play.until(lambda seen: seen.places.get("failed") == 1, 60)
        assert set(lanes[before:]) == {Lane.URGENT}, lanes[before:]

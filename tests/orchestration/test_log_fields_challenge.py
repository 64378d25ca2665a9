"""The ownership challenge of a new log job, which comes when it comes (docs/service.md §4.2, observed)."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from tests.kit import eventually
from tests.orchestration.test_log_fields_interleavings import settled, stage

STOPS = 7

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]


@pytest.mark.parametrize("never", [False, True], ids=["a moment late", "not in the time of a step"])
async def test_a_challenge_that_comes_late_is_waited_for(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, never: bool
) -> None:
    """It is looked for while its step has time, and asked for again by a later one: nothing is undone."""
    name = f"late-{never}.example".lower()
    variable = f"EDGESHIFT_TEST_{uuid.uuid4().hex[:8].upper()}"
    monkeypatch.setitem(os.environ, variable, "s3://{zone}/logs?region=eu")
    bucket = f"file://{tmp_path}/simulator/buckets/s3/{{zone}}"
    terms = {"job": {"destination": f"env:{variable}", "challenge": bucket}, "entries": f"{bucket}/logs"}
    real = 3600 if never else 1
    async with stage(
        temporal_client,
        tmp_path,
        name,
        fields=terms,
        commit={"turn_window": "2s", "send_window": "3s"},
    ) as (play, _):

        async def delayed(seconds: float) -> None:
            scale = (await play.control.send("GET", "options"))["time_scale"]
            choice = {"challenge_seconds": seconds * scale}
            await play.control.send("PUT", "options", {"log_jobs": choice})

        async def asked() -> int:
            return len(await play.journal("logpush.ownership", name))

        async def asked_again() -> bool:
            return await asked() > 1

        await delayed(real)
        await play.begin()
        await play.zone_until(name, lambda state: state.phase.value == "awaiting_sign_off")
        await play.sign_what_waits()
        if never:
            await eventually(asked_again, what="asked for another")
            await delayed(0)
        await play.sign_everything(within=60)
        outcome, reason, _ = await settled(play, name)
        assert outcome is ZoneOutcome.SETTLED, reason
        assert never or await asked() == 1
        await play.check_rules(absent={STOPS})

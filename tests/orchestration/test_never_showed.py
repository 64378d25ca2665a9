"""A change that came to nothing is nobody's: what a customer does later is not taken for it, nor undone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.change.own_changes import NOT_SHOWN
from edgeshift.messages import ZonePhase, ZoneResult
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.probes import Prober
from tests.harness.campaigns.stages import ESC, esc_stage, esc_zone, over
from tests.harness.disturbances.drifts import set_esc
from tests.kit.faults import Stage

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(240)]

FAILS = {"failures": [{"path": "/api/items", "when": "any"}]}
"""An origin that fails, whatever Edge Side Code does: the site has changed since it was probed."""


async def result(stage: Stage) -> ZoneResult:
    """How the zone ended."""
    found: ZoneResult = await asyncio.wait_for(stage.play.zone(stage.name("cut")).result(), 90)
    return found


@pytest.mark.parametrize("answered", [False, True], ids=["500", "200"])
async def test_esc_that_a_customer_turns_off_himself_after_ours_never_showed_stays_off(
    temporal_client: Client, tmp_path: Path, answered: bool
) -> None:
    """The request has no effect, whether its answer says so or not, and the setting says that it is on. Then
    the customer turns it off, and changes the site. A retry leaves it so, and signs nothing of a change.
    """
    async with esc_stage(
        temporal_client,
        tmp_path,
        esc_zone("cut", own=True),
        esc_zone("open", own=True),
        begin=False,
        **over(ESC, commit={"resend_unchanged": 0}),
    ) as stage:
        kind, how = (
            ("not_json", {"status": 200, "body": "{}"}) if answered else ("server_error", {"status": 500})
        )
        await stage.fault(kind, "esc.set", "cut", effect="before", **how)
        await stage.play.begin()
        await stage.waits("cut")
        await stage.waits("open")
        await stage.play.sign_zone(stage.name("cut"))
        await stage.phase("cut", ZonePhase.VERIFYING)
        # With a secret the service would not say that it is on.
        await set_esc(stage, "cut", "delete", clear_secret=True)
        await stage.play.until(lambda seen: seen.places.get("unknown") == 1, 60)
        ended = await result(stage)
        assert ended.outcome is ZoneOutcome.UNKNOWN and "esc stayed on" in ended.reason, ended.reason
        await set_esc(stage, "cut", "always", always=True)
        await stage.change("cut", edge=FAILS)
        await stage.play.again("retry", stage.name("cut"))
        await stage.finish(150)
        ended = await result(stage)
        assert ended.outcome is ZoneOutcome.ALREADY_SETTLED, ended.reason
        assert await stage.play.is_off(stage.name("cut"))
        assert [call for call, _ in await stage.changes("cut")] == ["esc.set"]


@pytest.mark.parametrize("by", ["setting", "urls"])
async def test_esc_that_a_customer_turns_off_before_it_is_sent_again_stays_off(
    temporal_client: Client, tmp_path: Path, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first request has no effect, as its setting says, or the URLs where that shows the secret alone.
    While the second one waits for the campaign, the customer turns it off, and changes the site. The very
    run that has sent the first does not take that for its own; and it has used no approval.
    """
    observed: list[Prober] = []
    observe = Prober.observe

    async def counted(self: Prober, *given: Any) -> Any:
        observed.append(self)
        return await observe(self, *given)

    monkeypatch.setattr(Prober, "observe", counted)
    async with esc_stage(
        temporal_client,
        tmp_path,
        esc_zone("cut", own=True),
        esc_zone("open", own=True),
        begin=False,
        **over(ESC, commit={"resend_unchanged": 1}),
    ) as stage:
        await stage.fault("server_error", "esc.set", "cut", effect="before", status=500)
        await stage.play.begin()
        await stage.waits("cut")
        await stage.waits("open")
        await stage.play.sign_zone(stage.name("cut"))
        await stage.phase("cut", ZonePhase.VERIFYING)
        observed.clear()
        await stage.play.ask("pause", "a look")
        if by == "setting":
            await set_esc(stage, "cut", "delete", clear_secret=True)
        waiting = ZonePhase.AWAITING_FIRST_PERMIT if by == "setting" else ZonePhase.AWAITING_PERMIT
        await stage.phase("cut", waiting)
        # Those of an account take minutes.
        assert len(observed) == (by == "urls")
        await set_esc(stage, "cut", "always", always=True)
        await stage.change("cut", edge=FAILS)
        await stage.play.ask("resume", "seen")
        ended = await result(stage)
        assert ended.outcome is ZoneOutcome.UNKNOWN and text_of(NOT_SHOWN) in ended.reason, ended.reason
        assert ended.why[0].because == (NOT_SHOWN,)
        assert await stage.play.is_off(stage.name("cut"))
        assert [call for call, _ in await stage.changes("cut")] == ["esc.set"]

"""Faults of the service at the calls of an account, and at a rollback; tests/harness has those of zones."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from tests.harness.campaigns.service_faults import FAULTS, limit_for
from tests.harness.campaigns.stages import ESC, esc_stage, esc_zone, over
from tests.harness.oracles.reversible import Ending, esc_complaints
from tests.harness.running.share import shared
from tests.kit import SCALE
from tests.kit.faults import Stage

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(600), pytest.mark.long]


async def ending_of(stage: Stage, short: str) -> Ending:
    """How a target ended."""
    result = await stage.play.zone(stage.name(short)).result()
    return Ending(short, result.outcome.value, result.reason)


async def complaints_of(stage: Stage, short: str, *, own: bool = False) -> list[str]:
    """What the oracle has against a zone."""
    edge = await stage.play.oracle(stage.name(short))
    return esc_complaints(await ending_of(stage, short), edge, edge["zone"], own_secret=own)


@pytest.mark.parametrize("fault", shared("faults of esc accounts", FAULTS))
async def test_a_fault_at_any_call_of_an_account_costs_no_zone(
    fault: str, temporal_client: Client, tmp_path: Path
) -> None:
    """The same fault in turn at the account's first reading, its secret, turning off and turning on."""
    zones = (esc_zone("fine"), esc_zone("worse", worse=True))
    terms = over(ESC, esc={"scope": "account"})
    async with esc_stage(
        temporal_client, tmp_path, *zones, begin=False, request_limit=limit_for(fault), **terms
    ) as stage:
        for call, nth in (("esc.get", 1), ("esc.get", 4), ("esc.set", 1), ("esc.set", 3), ("esc.delete", 1)):
            match = {"call": call, "path": "/accounts/", "nth": nth}
            await stage.play.control.send("POST", "faults", {**FAULTS[fault], "match": match, "times": 1})
        await stage.play.begin()
        assert (await stage.finish(240)).outcomes == {"rolled_back": 1}
        ending = await ending_of(stage, stage.account)
        account = stage.play.zone_id(stage.account)
        setting = await stage.play.control.get(f"edge/accounts/{account}")
        for name in stage.names:
            assert not esc_complaints(ending, await stage.play.oracle(stage.name(name)), setting)
        await stage.check({7})


@pytest.mark.parametrize("effect,visible", shared("delays", [(2.0, 0.0), (0.0, 2.0), (1.5, 2.5)]))
async def test_what_takes_and_shows_late_is_waited_for(
    effect: float, visible: float, temporal_client: Client, tmp_path: Path
) -> None:
    """Late at the edge, late in the answers, or both: nothing is sent again, and each outcome is true."""
    simulator = {"esc_effect_seconds": effect * SCALE, "esc_visibility_seconds": visible * SCALE}
    terms = over(ESC, esc={"secret_takes": "12h", "observe": "20h", "every": "4h", "effect_limit": "8s"})
    zones = (esc_zone("plain"), esc_zone("own", own=True), esc_zone("worse", worse=True))
    async with esc_stage(temporal_client, tmp_path, *zones, simulator=simulator, **terms) as stage:
        assert (await stage.finish(240)).outcomes == {"settled": 2, "rolled_back": 1}
        for name in stage.names:
            assert not await complaints_of(stage, name, own=name == "own")
        assert await stage.changes("plain") == [("esc.set", "with_secret"), ("esc.set", "always")]
        assert await stage.changes("own") == [("esc.set", "always")]
        assert (await stage.changes("worse"))[-1] == ("esc.delete", "")
        await stage.check({7})


@pytest.mark.parametrize("fault", shared("ways back", ["hang-before", "reset-after", "502-after"]))
async def test_a_way_back_that_fails_is_tried_until_it_shows(
    fault: str, temporal_client: Client, tmp_path: Path
) -> None:
    """Three tries in a row go wrong: the fourth is made all the same, and only then is it called undone."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("back", worse=True), begin=False, request_limit="1s500ms"
    ) as stage:
        spec = {**FAULTS[fault], "match": {"call": "esc.delete", "zone": stage.id("back")}, "times": 3}
        await stage.play.control.send("POST", "faults", spec)
        await stage.play.begin()
        await stage.finish(240)
        assert not await complaints_of(stage, "back")
        assert (await ending_of(stage, "back")).outcome == "rolled_back"
        await stage.check({7})

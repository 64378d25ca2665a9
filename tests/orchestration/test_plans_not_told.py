"""Zones of waf whose plan the service does not tell, or in a word of its own: never committed on a guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from tests.kit.faults import Stage, staged, zone

pytestmark = pytest.mark.embedded

LISTED = "/result/0/plan"
SHOWN = "/result/plan"


async def spoilt(stage: Stage, listed: Any, shown: Any) -> None:
    """From now on the list of zones and the zone itself say another plan."""
    await stage.fault("wrong_types", "zones.list", times=None, replace={LISTED: listed})
    if shown is not None:
        await stage.fault("wrong_types", "zones.get", "a", times=None, replace={SHOWN: shown})


async def blocked(stage: Stage) -> None:
    """The zone ends as blocked for this reason, and nothing was sent to change it."""
    await stage.play.until(lambda seen: bool(seen.places.get("blocked")), 60)
    assert await stage.outcome("a") is ZoneOutcome.BLOCKED
    result = await stage.play.zone(stage.name("a")).result()
    assert [why.code for why in result.why] == [ReasonCode.PLAN_UNKNOWN]
    assert await stage.changes() == []


@pytest.mark.parametrize(
    "shown", [{"legacy_id": None}, {"legacy_id": "adaptive"}, {"legacy_id": "enterprise"}]
)
async def test_an_enterprise_zone_whose_plan_was_not_listed_is_not_committed(
    shown: dict[str, Any], temporal_client: Client, tmp_path: Path
) -> None:
    """It is asked for its plan, and blocked unless that is one without a validation window."""
    async with staged(temporal_client, tmp_path, zone("a", "enterprise"), begin=False) as stage:
        await spoilt(stage, None, shown)
        await stage.play.begin()
        await blocked(stage)
        await stage.finish()


async def test_a_zone_that_says_its_plan_itself_goes_on(temporal_client: Client, tmp_path: Path) -> None:
    """The list does not tell it, and the zone is a Professional one."""
    async with staged(temporal_client, tmp_path, zone("a"), begin=False) as stage:
        await spoilt(stage, None, None)
        await stage.play.begin()
        assert (await stage.finish()).outcomes == {"migrated": 1}
        await stage.check()


async def test_a_partners_enterprise_zone_is_validated(temporal_client: Client, tmp_path: Path) -> None:
    """The provider has another word for its plan, and it is the same plan."""
    word = {"legacy_id": "partners_enterprise"}
    async with staged(temporal_client, tmp_path, zone("a", "enterprise"), begin=False) as stage:
        await spoilt(stage, word, word)
        await stage.play.begin()
        assert (await stage.finish()).outcomes == {"migrated": 1}
        put = "entrypoint.put"
        assert await stage.changes("a") == [(put, "validation"), (put, "pending")]
        await stage.check({4, 7})

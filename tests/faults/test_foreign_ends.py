"""Executions that somebody else has started under a zone's identifier, in the campaign's name: no number,
length or depth in their memo or result keeps a campaign from looking at its zones.
"""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.authority.records import SignedRecords
from edgeshift.messages import DescribedZones, DescribeZones
from edgeshift.model.fleet import MOST_ATTEMPTS, ZoneOutcome
from edgeshift.runtime.queues import Queue
from tests.faults.strangers_kit import QUEUE, forge, forger, stranger
from tests.forgeries.running.foreign import scheduled
from tests.harness.campaigns.authority import ONE
from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

DEEP = 196
"""Lists within each other: a result with as many can be read, and within another message no more."""

LONG = 900_000
"""Bytes: a result may be as long, and an answer that has three of them may not."""


async def signed_attempts(stage: Stage, short: str, *attempts: int) -> list[int]:
    """Those of these attempts of a zone of which a worker has signed something."""
    run = (await stage.play.campaign.describe()).run_id or ""
    records, name = SignedRecords(stage.play.archive), stage.play.spec.name
    return [n for n in attempts if await records.results(name, run, stage.id(short), n)]


@pytest.mark.parametrize("attempt", [MOST_ATTEMPTS + 1, 5_000, 2**53])
async def test_an_attempt_that_no_ledger_has_is_a_strangers(
    temporal_client: Client, tmp_path: Path, attempt: int
) -> None:
    """What it ended with is what the service shows: nothing is signed of such an attempt, and the campaign
    goes on to its end.
    """
    async with (
        forger(temporal_client),
        staged(temporal_client, tmp_path, zone("a"), zone("b"), authority=ONE) as stage,
    ):
        for short in stage.names:
            await stage.waits(short)
        await stage.change("a", state="complete")
        await forge(stage, "a", attempt, {"outcome": "migrated"})
        await stage.play.until(lambda seen: seen.places.get("migrated") == 1, 60)
        assert not any("tried again" in note for note in (await stage.play.summary()).notes)
        assert await signed_attempts(stage, "a", 0, attempt) == []
        assert (await stage.finish()).outcomes == {"migrated": 2}


async def test_an_end_of_a_target_that_has_not_begun_is_no_attempts(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Somebody has said that it is in an attempt, and so it is looked at; under its identifier is what
    another campaign has left, and the service shows that it is done. Nothing is signed, and the look ends.
    """
    waves = [{"name": "first", "zones": 1}, {"name": "rest"}]
    async with (
        forger(temporal_client),
        staged(temporal_client, tmp_path, zone("a"), zone("b"), authority=ONE, waves=waves) as stage,
    ):
        play, start = stage.play, stage.play.start
        assert start is not None
        (pending,) = [short for short in stage.names if play.index(stage.name(short)) == 1]
        (first,) = set(stage.names) - {pending}
        await stage.waits(first)
        await stage.change(pending, state="complete")
        left = {"outcome": ZoneOutcome.MIGRATED.value}
        identifier = play.zone(stage.name(pending)).id
        await play.client.execute_workflow("Forged", left, id=identifier, task_queue=QUEUE)
        run = (await play.campaign.describe()).run_id or ""
        asked = DescribeZones(
            campaign=play.campaign.id,
            campaign_run=run,
            targets=start.targets,
            spec=start.spec,
            area=start.area,
            indexes=(1,),
            attempts=(0,),
            settles_in=timedelta(0),
        )
        _, found = await scheduled(await stranger(stage, first), "describe_zones", asked, Queue.CONTROL)
        assert found is not None, "it failed for good"
        (closed,) = DescribedZones.model_validate(found).closed
        assert (closed.attempt, closed.told) == (0, None)
        assert await signed_attempts(stage, pending, 0, 1) == []


DEEP_FACTS = json.loads("[" * DEEP + "]" * DEEP)


@pytest.mark.parametrize(
    "fact",
    [{"facts": {"deep": DEEP_FACTS}}, {"said": "x" * LONG}],
    ids=["deep", "long"],
)
async def test_a_result_of_any_depth_or_length_hangs_no_campaign(
    temporal_client: Client, tmp_path: Path, fact: dict[str, Any]
) -> None:
    """Several zones end so at once: that they have failed is taken as it is, why only briefly."""
    result = {"outcome": ZoneOutcome.FAILED.value, "reason": "forged", "why": [{"code": "failed", **fact}]}
    async with (
        forger(temporal_client),
        staged(temporal_client, tmp_path, *map(zone, "abcd"), authority=ONE) as stage,
    ):
        for short in stage.names:
            await stage.waits(short)
        await asyncio.gather(*(forge(stage, short, 1, result) for short in ("a", "b", "c")))
        await stage.play.until(lambda seen: seen.places.get("failed") == 3, 60)
        assert not any("tried again" in note for note in (await stage.play.summary()).notes)
        assert (await stage.finish()).outcomes == {"failed": 3, "migrated": 1}

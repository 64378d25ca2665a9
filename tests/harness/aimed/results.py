"""Scenes in which somebody tells a campaign of outcomes that are not so: by a word, by answers in a worker's
place, by results that no worker has signed. Afterwards people begin zones again, and the campaign goes on.
"""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from edgeshift.authority.records import SignedRecords
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import ResultStatement
from edgeshift.messages import (
    ChangeResult,
    ChangeStatus,
)
from edgeshift.messages.areas.waf import Verification
from edgeshift.model.fleet import ZoneOutcome
from tests.harness.aimed.scene import PATIENCE, ends, judged, quiet, waits
from tests.harness.aimed.waf import PRO
from tests.harness.campaigns.stages import signed_stage
from tests.harness.cases import World
from tests.harness.verdict import Verdict
from tests.kit import eventually
from tests.kit.faults import Stage, zone
from tests.kit.signing import WORKER, about

COUNTED_WITHIN = 3.0
"""Seconds in which a campaign that believes a word counts it."""


class Answering(Interceptor):
    """Answers in a worker's place that a zone was changed, and that the service shows it, until ``over``."""

    def __init__(self) -> None:
        self.over = False

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Stands before the activities."""
        answering = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                if not answering.over and input.fn.__name__ == "change":
                    return ChangeResult(status=ChangeStatus.ANSWERED)
                if not answering.over and input.fn.__name__ == "verify":
                    return Verification(reached=True, record="1" * 64)
                return await super().execute_activity(input)

        return Inbound(next)


async def planted(stage: Stage, short: str, by: str, signer: FileSigner) -> None:
    """Lay a result into the archive that says that a zone was migrated, signed with this key."""
    spec, start = stage.play.spec, stage.play.start
    assert start is not None
    result = ResultStatement(
        **about(spec.service.base_url, spec.name, spec.area, by),
        run=(await stage.play.campaign.describe()).run_id or "",
        spec=start.spec,
        zone=stage.id(short),
        attempt=1,
        outcome=ZoneOutcome.MIGRATED,
    )
    await SignedRecords(stage.play.archive).put(result, await signer.sign(result.bytes))


async def _told_as_migrated(stage: Stage) -> list[str]:
    """What the campaign tells that the service does not show."""
    told, done = (await stage.play.summary()).places.get("migrated", 0), len(await stage.play.commits())
    return [f"rule 11 (nothing is lost): told of {told} as migrated, {done} were"] if told > done else []


async def migrated_by_a_word(world: World) -> Verdict:
    """The word that a zone is migrated, in its name, while it waits for people."""
    async with signed_stage(world.client, world.folder, zone("a"), zone("b")) as stage:
        await waits(stage, "a")
        await waits(stage, "b")
        await stage.play.say_ended(stage.name("a"), ZoneOutcome.MIGRATED)
        await asyncio.sleep(COUNTED_WITHIN)
        return await judged(stage, PRO, told=await _told_as_migrated(stage))


async def _answered_for(world: World, signer: FileSigner | None) -> Verdict:
    answering = Answering()
    async with signed_stage(
        world.client, world.folder, zone("a"), zone("b"), interceptors=[answering]
    ) as stage:
        state = await waits(stage, "a")
        await waits(stage, "b")
        if signer is not None:
            await planted(stage, "a", WORKER, signer)
        await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        await ends(stage, "a")
        answering.over = True

        async def counted() -> bool:
            places = (await stage.play.summary()).places
            return bool(places.get("migrated") or places.get("failed") or places.get("unknown"))

        await eventually(counted, PATIENCE, "the campaign counts the zone")
        told = await _told_as_migrated(stage)
        await quiet(1)
        if not told:
            await stage.play.again("retry", stage.name("a"))
        return await judged(stage, PRO, told=told)


async def answered_without_a_call(world: World) -> Verdict:
    """Somebody answers the change of a zone, and what reads it back, and has done neither."""
    return await _answered_for(world, None)


async def result_of_a_stranger(world: World) -> Verdict:
    """The same, with a result beside it in the worker's name, by a key that nobody knows."""
    return await _answered_for(world, FileSigner(PrivateKey.made()))

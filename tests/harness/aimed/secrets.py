"""Scenes in which a stranger has something done that would send a worker's secret to him."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, suppress
from dataclasses import replace

from temporalio.client import WorkflowFailureError
from temporalio.service import RPCError

from edgeshift.messages import ResolveTargets
from edgeshift.runtime.queues import Queue
from tests.forgeries.running.stranger import listening as a_service
from tests.harness.aimed.scene import PATIENCE, judged, quiet, waits
from tests.harness.aimed.waf import PRO
from tests.harness.campaigns.stages import signed_stage
from tests.harness.cases import World
from tests.harness.verdict import Verdict
from tests.kit.faults import zone
from tests.kit.foreign import scheduled
from tests.kit.secrets import AWAY, SECRET, listening, message
from tests.kit.stored import put_json

PROBED_WITHIN = 8.0
"""Seconds in which a service that is held is probed."""

SECONDS = 60.0

SENT = "rule 10 (secrets are nowhere): a stranger was sent one of the worker's"


async def secrets_for_a_stranger(world: World) -> Verdict:
    """Specifications in the archive name a stranger as the proxy of tickets, or of the service that is waited
    for; a workflow of his has the activities done.
    """
    secret = world.folder / "secret"
    secret.write_text(SECRET)
    reference = f"file:{secret}"
    async with signed_stage(world.client, world.folder, zone("a")) as stage, listening() as stranger:
        play, proxy = stage.play, stranger.at(AWAY)
        hook = {"webhook": "http://127.0.0.1:9/hook", "secret": reference, "proxy": proxy}
        asked = {
            "open_ticket": {"service": {"base_url": play.simulator.base_url}, "tickets": hook},
            "await_service": {"service": {"base_url": "http://127.0.0.1:9/client/v4", "proxy": proxy}},
        }
        async with AsyncExitStack() as stack:
            handles = [
                await stack.enter_async_context(
                    scheduled(
                        world.client,
                        activity,
                        await message(play.archive, activity, reference, said),
                        f"faults-{stage.tag}-{Queue.LONG.short}",
                        SECONDS,
                    )
                )
                for activity, said in asked.items()
            ]
            await quiet(PROBED_WITHIN)
            for handle in handles:
                with suppress(RPCError):
                    await handle.terminate()
        told = [SENT] if stranger.has(SECRET) else []
        return await judged(stage, PRO, told=told)


async def service_of_a_stranger(world: World) -> Verdict:
    """The roots know one service; somebody has targets listed by a specification whose service is his own,
    and which names the campaign's credential.
    """
    async with a_service() as stranger, signed_stage(world.client, world.folder, zone("a")) as stage:
        play = stage.play
        assert play.keys is not None
        service = play.spec.service
        play.keys.write(replace(play.keys.roster, service=service.base_url))
        await waits(stage, "a")
        theirs = play.spec.model_copy(
            update={"service": service.model_copy(update={"base_url": stranger.service})}
        )
        digest = await put_json(play.archive, theirs.model_dump(mode="json"))
        listed = play.client.execute_workflow(
            "TargetList",
            ResolveTargets(spec=digest),
            id=f"targets/{play.spec.name}/stranger",
            task_queue=Queue.CONTROL,
        )
        with suppress(WorkflowFailureError, TimeoutError):
            await asyncio.wait_for(listed, PATIENCE)
        secret = os.environ[service.credentials[0].reference.removeprefix("env:")]
        learnt = stranger.learnt([secret])
        told = [f"rule 10 (secrets): a stranger was told the credential, {learnt} times"] if learnt else []
        return await judged(stage, PRO, told=told)

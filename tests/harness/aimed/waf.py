"""Scenes of waf that each go for one rule: the answer is lost, wrong or late, the archive lies, the zone is
over a limit, reset, terminated, or wanted by another campaign.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.service import RPCError

from edgeshift.messages import Answer, Person, ZonePhase
from edgeshift.model.fleet import campaign_id
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.queues import Queue
from tests.harness.aimed.scene import LATE, PATIENCE, Stalled, comes_to, ends, judged, quiet, waits
from tests.harness.campaigns.stages import signed_stage
from tests.harness.cases import World
from tests.harness.kills.scene import order_of
from tests.harness.verdict import Verdict
from tests.kit import SCALE, TOO_MANY_RULES, Scene
from tests.kit.faults import Stage, zone
from tests.kit.faults_worker import Kill, supervised
from worker.wiring import workers

PRO = frozenset({3, 4, 7})
"""Rules that a scene of Professional zones, which nobody stops, has no case of."""

STOPPED = frozenset({3, 4})
"""Rules that a scene of Professional zones, which somebody stops, has no case of."""

A_RULE = {"expression": 'http.request.uri.path eq "/x"', "products": ["waf"]}
DONE = '{"success":true,"errors":[],"messages":[],"result":{"id":"%s","name":"default","rules":[]}}' % (
    "0" * 32
)
NOT_DONE = '{"success":false,"errors":[{"code":1000,"message":"not now"}],"messages":[],"result":[]}'


async def plain(world: World) -> Verdict:
    """A Professional and an Enterprise zone, and nothing goes wrong."""
    async with signed_stage(world.client, world.folder, zone("shop"), zone("big", "enterprise")) as stage:
        return await judged(stage, {4, 7})


async def answer_lost(world: World) -> Verdict:
    """A commit takes effect, its answer gets lost, and nothing shows for seconds."""
    async with signed_stage(
        world.client,
        world.folder,
        zone("gateway"),
        zone("cut"),
        begin=False,
        simulator=LATE,
        commit={"migration_limit": "64h"},
    ) as stage:
        await stage.fault("server_error", "entrypoint.put", "gateway", effect="after")
        await stage.fault("reset", "entrypoint.put", "cut", effect="after")
        await stage.play.begin()
        return await judged(stage, PRO)


async def killed_after_commit(world: World) -> Verdict:
    """The worker dies when the commit was answered, before anybody was told; the migration takes a while."""
    async with signed_stage(
        world.client,
        world.folder,
        zone("shop"),
        serve=False,
        simulator={"migration_seconds": 25 * SCALE},
        request_limit="1s",
        commit={"migration_limit": "160h"},
    ) as stage:
        order = order_of(stage, world.address, world.folder, [Kill("change_zone", 1, "after")])
        async with supervised(order):
            await stage.play.begin()
            return await judged(stage, PRO)


async def reset_while_verified(world: World) -> Verdict:
    """An operator resets the zone to before its commit, which is under way."""
    return await _reset_while_verified(world)


async def reset_and_unread(world: World) -> Verdict:
    """The same, and the first reading of its new run fails before it comes to the record of the commit."""
    return await _reset_while_verified(world, unread=True)


async def _reset_while_verified(world: World, *, unread: bool = False) -> Verdict:
    async with signed_stage(
        world.client,
        world.folder,
        zone("a"),
        simulator={"migration_seconds": 8 * SCALE},
        commit={"migration_limit": "80h", "lease": "2m"},
    ) as stage:
        await waits(stage, "a")
        await stage.play.sign_zone(stage.name("a"))
        await comes_to(stage, "a", ZonePhase.VERIFYING)
        if unread:
            await stage.fault("server_error", "waf.config", "a", effect="before", status=500)
        await reset(stage.play, stage.name("a"))
        return await judged(stage, PRO)


async def reset(play: Scene, name: str) -> None:
    """What an operator's ``temporal workflow reset`` does, to the workflow task before the last change."""
    handle = play.zone(name)
    at, event_id = 0, 0
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            at = event.event_id
        if event.activity_task_scheduled_event_attributes.activity_type.name == "change_zone":
            event_id = at
    await play.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=play.client.namespace,
            workflow_execution=WorkflowExecution(
                workflow_id=handle.id, run_id=(await handle.describe()).run_id
            ),
            reason="by hand",
            workflow_task_finish_event_id=event_id,
            request_id=uuid.uuid4().hex,
        )
    )


async def answered_without_effect(world: World) -> Verdict:
    """The service says that the zone is migrated, and did nothing."""
    async with signed_stage(world.client, world.folder, zone("a"), begin=False) as stage:
        await stage.fault("server_error", "entrypoint.put", "a", effect="before", status=200, body=DONE)
        await stage.play.begin()
        return await judged(stage, PRO)


async def over_a_limit(world: World) -> Verdict:
    """201 rules that migrate; of one zone the list is answered by 200 and ``success: false`` first. The word
    that support has fixed it comes too early once.
    """
    names = ("many", "hidden")
    zones = [zone(name, firewall_rules=TOO_MANY_RULES) for name in names]
    async with signed_stage(world.client, world.folder, *zones, begin=False) as stage:
        await stage.fault(
            "server_error", "firewall.rules.list", "hidden", effect="before", status=200, body=NOT_DONE
        )
        await stage.play.begin()
        for name in names:
            before = await comes_to(stage, name, ZonePhase.NEEDS_SUPPORT)
            if before is None:
                continue
            await stage.play.resolve_support(stage.name(name))
            await _again(stage, name, before.since)
        for name in names:
            if await comes_to(stage, name, ZonePhase.NEEDS_SUPPORT) is not None:
                await stage.change(name, firewall_rules=[])
                await stage.play.resolve_support(stage.name(name))
        return await judged(stage, {3, 7})


async def _again(stage: Stage, name: str, since: Any) -> None:
    await stage.play.zone_until(
        stage.name(name),
        lambda seen: seen.phase is ZonePhase.NEEDS_SUPPORT and seen.since > since,
        PATIENCE,
    )


async def drifted(world: World) -> Verdict:
    """A rule is added to the zone between its sign-off and its commit: what was signed is old by then."""
    async with signed_stage(world.client, world.folder, zone("a")) as stage:
        state = await waits(stage, "a")
        await stage.change("a", add_firewall_rules=[A_RULE])
        await stage.play.sign_zone(stage.name("a"))
        await quiet()

        async def stale() -> list[str]:
            sent = await stage.play.commits(stage.name("a"))
            return [
                f"request {entry['seq']} committed a configuration that the service had replaced before"
                for entry in sent
                if entry["body_digest"] == state.digest
            ]

        return await judged(stage, PRO, beside=stale)


async def archive_lies(world: World) -> Verdict:
    """Somebody alters the archived proposal between its sign-off and its commit."""
    async with signed_stage(world.client, world.folder, zone("a")) as stage:
        state = await waits(stage, "a")
        archived = world.folder / "state" / "archive" / "objects" / state.proposal[:2] / state.proposal
        document = json.loads(archived.read_bytes())
        document["body"]["rules"][0]["description"] = "altered"
        archived.write_text(json.dumps(document))
        await stage.play.sign_zone(stage.name("a"))
        return await judged(stage, PRO)


async def rival_campaign(world: World) -> Verdict:
    """A second campaign over the same zones begins while they wait: it leaves them to the first."""
    async with signed_stage(world.client, world.folder, zone("a"), zone("b")) as stage:
        play = stage.play
        await waits(stage, "a")
        await waits(stage, "b")
        assert play.start is not None
        rival = await play.client.start_workflow(
            "Campaign",
            args=play.start.model_copy(update={"name": f"{play.spec.name}-two"}).arguments(),
            id=campaign_id(f"{play.spec.name}-two"),
            task_queue=Queue.CONTROL,
        )
        # It leaves every zone to the first, and closes; or it is to let go of them.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(rival.result(), 15)
        with contextlib.suppress(RPCError, WorkflowUpdateFailedError):
            await rival.execute_update("abort", Person(by="olga"), result_type=Answer)
        return await judged(stage, PRO)


async def terminated(world: World) -> Verdict:
    """An operator terminates a zone that waits: the campaign finds it, and it can be begun again."""
    async with signed_stage(world.client, world.folder, zone("gone"), zone("open")) as stage:
        await waits(stage, "gone")
        await waits(stage, "open")
        await stage.play.zone(stage.name("gone")).terminate("by hand")
        try:
            await stage.play.until(lambda seen: seen.places.get("failed") == 1, 60)
            await stage.play.again("retry", stage.name("gone"))
        except AssertionError as never:
            return await judged(stage, PRO, told=[f"a terminated zone is not found: {never}"[:300]], within=5)
        return await judged(stage, PRO)


async def aborted_in_a_later_attempt(world: World) -> Verdict:
    """A zone is terminated while its commit is under way, begun again, and aborted while it waits."""
    async with cut_off(world) as stage:
        await stage.play.again("retry", stage.name("a"))
        await waits(stage, "a")
        return await _aborted(stage)


async def aborted_before_a_later_attempt(world: World) -> Verdict:
    """The same, and it is aborted before the later attempt could begin."""
    async with cut_off(world) as stage:
        await stage.play.ask("pause", "lunch")
        await stage.play.again("retry", stage.name("a"))
        return await _aborted(stage, {"aborted": 1, "unknown": 1})


async def _aborted(stage: Stage, wanted: dict[str, int] | None = None) -> Verdict:
    """The campaign is aborted, and ends; ``wanted``: with which outcomes, where the scene knows them."""
    await stage.play.ask("abort", "enough")
    told = []
    try:
        found = (await asyncio.wait_for(stage.play.result(), PATIENCE)).outcomes
        if wanted not in (None, found):
            told = [f"what the zone's last attempt came to is forgotten: {found}"]
    except TimeoutError:
        told = ["the aborted campaign does not end"]
    return await judged(stage, STOPPED, told=told)


@asynccontextmanager
async def cut_off(world: World, seconds: float = 25, **more: Any) -> AsyncIterator[Stage]:
    """A zone whose workflow was terminated while its commit was under way, found by its campaign, which
    another zone keeps open. ``seconds``: how long a migration takes.
    """
    async with signed_stage(
        world.client,
        world.folder,
        zone("a"),
        zone("open", firewall_rules=[A_RULE]),
        simulator={"migration_seconds": seconds * SCALE},
        commit={"migration_limit": "160h"},
        **more,
    ) as stage:
        await stage.cut_off("a", ZonePhase.VERIFYING)
        yield stage


async def orderly_restart(world: World) -> Verdict:
    """A worker is told to stop while a commit is on the wire, which the service then turns away by 429."""
    stalls = Stalled("change_zone")
    async with signed_stage(
        world.client, world.folder, zone("a"), serve=False, commit={"resend_unchanged": 0}
    ) as stage:
        await stage.fault("latency", "entrypoint.put", "a", seconds=4.0)
        await stage.fault("rate_limit", "entrypoint.put", "a")
        stalls.go.set()
        async with serving(stage, stalls):
            await stage.play.begin()
            await waits(stage, "a")
            await stage.play.sign_zone(stage.name("a"))
            await asyncio.wait_for(stalls.begun.wait(), PATIENCE)
            await asyncio.sleep(1)
        async with serving(stage):

            async def left_to_people() -> list[str]:
                outcome = await ends(stage, "a")
                return (
                    [] if outcome == "migrated" else [f"an orderly stop has cost the zone: it is {outcome}"]
                )

            return await judged(stage, PRO, beside=left_to_people)


def serving(stage: Stage, *interceptors: Any) -> Any:
    """The workers of a stage, in this process, until they are told to stop."""
    return workers(
        stage.play.client,
        stage.play.settings,
        pacer=lambda credential, campaign: Unpaced(),
        quota=False,
        interceptors=interceptors,
    )


def word(digest: str, by: str = "ann") -> Decision:
    """A person's approval, as anybody may send it."""
    return Decision(choice=Choice.APPROVE, digest=digest, by=by)

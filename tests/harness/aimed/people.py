"""Scenes that each go for one rule about people: stops, permits, sign-offs, the window, the pace."""

from __future__ import annotations

import asyncio
import contextlib

from temporalio.client import WorkflowQueryFailedError, WorkflowUpdateFailedError
from temporalio.service import RPCError

from edgeshift.messages import ZonePhase
from edgeshift.model.sign_off import Choice
from tests.harness.aimed.scene import PATIENCE, Stalled, ends, judged, quiet, resumed, waits
from tests.harness.aimed.waf import A_RULE, NOT_DONE, PRO, STOPPED, word
from tests.harness.campaigns.stages import PATIENCE as READ_FOR
from tests.harness.campaigns.stages import signed_stage
from tests.harness.cases import World
from tests.harness.disturbances.operators import start_again
from tests.harness.verdict import Verdict
from tests.kit import SCALE
from tests.kit.faults import Stage, zone


async def signed_in_a_pause(world: World) -> Verdict:
    """Zones are signed off while the campaign is paused: one by its own digest, one by its fingerprint."""
    zones = (zone("own"), zone("book", firewall_rules=[A_RULE]))
    async with signed_stage(world.client, world.folder, *zones) as stage:
        await waits(stage, "own")
        book = await waits(stage, "book")
        await stage.play.ask("pause", "lunch")
        await stage.play.sign_zone(stage.name("own"))
        await stage.play.sign([book.fingerprint])
        await quiet(2.5)
        await resumed(stage)
        return await judged(stage, STOPPED)


async def permit_overtaken(world: World) -> Verdict:
    """A permit is on its way to its zone while a pause takes it back, and arrives after its answer."""
    stalls = Stalled("tell_zones")
    async with signed_stage(
        world.client, world.folder, zone("a"), silence="2m", interceptors=[stalls]
    ) as stage:
        state = await waits(stage, "a")
        await stage.play.sign([state.fingerprint])
        await asyncio.wait_for(stalls.begun.wait(), PATIENCE)
        await stage.play.ask("pause", "wait")
        stalls.go.set()
        await quiet(2)
        await resumed(stage)
        return await judged(stage, STOPPED)


async def stalled_in_a_pause(world: World) -> Verdict:
    """A worker gets no processor before a commit; a pause is asked and answers meanwhile; then it goes on."""
    return await _stalled(world, lease="20s", send_window="20s")


async def stalled_past_its_permit(world: World) -> Verdict:
    """The same, and the permit runs out before the time to send has."""
    return await _stalled(world, lease="3s", send_window="120s")


async def _stalled(world: World, lease: str, send_window: str) -> Verdict:
    stalls = Stalled("change_zone")
    async with signed_stage(
        world.client,
        world.folder,
        zone("a"),
        request_limit="1s",
        commit={"lease": lease, "send_window": send_window},
        interceptors=[stalls],
    ) as stage:
        await waits(stage, "a")
        await stage.play.sign_zone(stage.name("a"))
        await asyncio.wait_for(stalls.begun.wait(), PATIENCE)
        await stage.play.ask("pause", "wait")
        stalls.go.set()
        await quiet(2)
        await resumed(stage)
        return await judged(stage, STOPPED)


async def words_that_do_not_count(world: World) -> Verdict:
    """An approver's word about another digest, a stranger's about this one, and the starter's own."""
    policy = {"approvers": ["ann", "olga"], "four_eyes": True}
    async with signed_stage(world.client, world.folder, zone("a"), sign_off=policy) as stage:
        state = await waits(stage, "a")
        handle = stage.play.zone(stage.name("a"))
        for decision in (word("0" * 64), word(state.digest, by="mallory"), word(state.digest, by="olga")):
            await handle.signal("sign_off", decision)
        await quiet(2)
        return await judged(stage, PRO)


async def signed_by_one_of_two(world: World) -> Verdict:
    """Two have to sign. One signs three times, by the fingerprint and by the zone's own digest; then the
    other does.
    """
    policy = {"approvers": ["ann", "bob"], "required": 2}
    async with signed_stage(world.client, world.folder, zone("a"), sign_off=policy) as stage:
        state = await waits(stage, "a")
        await stage.play.sign([state.fingerprint])
        # A zone that believed one person has ended by now, and takes no word more.
        with contextlib.suppress(RPCError):
            for by in ("ann", "ann", "bob"):
                await stage.play.sign_zone(stage.name("a"), by=by)
                await quiet(2)
        return await judged(stage, PRO)


async def signed_for_another(world: World) -> Verdict:
    """One zone's fingerprint is signed; another proposes something else, and waits on."""
    zones = (zone("plain"), zone("ruled", firewall_rules=[A_RULE]))
    async with signed_stage(world.client, world.folder, *zones) as stage:
        state = await waits(stage, "plain")
        await waits(stage, "ruled")
        await stage.play.sign([state.fingerprint])
        await ends(stage, "plain")
        await quiet(2)
        return await judged(stage, PRO)


async def signed_too_long_ago(world: World) -> Verdict:
    """A sign-off runs out while the campaign is paused: it has to be given again."""
    policy = {"valid_for": "32h"}
    async with signed_stage(world.client, world.folder, zone("a"), sign_off=policy) as stage:
        await waits(stage, "a")
        await stage.play.ask("pause", "a long lunch")
        await stage.play.sign_zone(stage.name("a"))
        scaled = stage.play.spec.scaled()
        # What was agreed to in time may be sent a little later.
        sending = scaled.commit.waits_for_turn + scaled.commit.send_window
        late = scaled.sign_off.valid_for + sending + scaled.service.request_limit
        await quiet(late.total_seconds() + 1)
        await resumed(stage)
        for _ in range(60):
            if await stage.play.is_closed():
                break
            if (await stage.play.state(stage.name("a"))).phase is ZonePhase.AWAITING_SIGN_OFF:
                await stage.play.sign_zone(stage.name("a"))
            await quiet(1)
        return await judged(stage, STOPPED)


async def rejected_and_started_anew(world: World) -> Verdict:
    """A zone is rejected by name while its campaign is gone; when it has been started anew, another zone's
    fingerprint is approved, which is the same.
    """
    async with signed_stage(world.client, world.folder, zone("a"), zone("b")) as stage:
        state = await waits(stage, "a")
        await waits(stage, "b")
        await stage.play.campaign.terminate("by mistake")
        await stage.play.sign_zone(stage.name("a"), Choice.REJECT)
        await ends(stage, "a")
        await start_again(stage)
        await stage.play.until(
            lambda seen: seen.places.get("awaiting", 0) + seen.places.get("rejected", 0) == 2, PATIENCE
        )
        await stage.play.sign([state.fingerprint])
        return await judged(stage, PRO)


async def window_of_one(world: World) -> Verdict:
    """Four zones are signed at once, and one may be in flight; a migration takes a while."""
    names = [f"z{number}" for number in range(4)]
    async with signed_stage(
        world.client, world.folder, *map(zone, names), window=1, simulator={"migration_seconds": SCALE / 2}
    ) as stage:
        await stage.play.until(lambda seen: seen.places.get("awaiting") == 4, PATIENCE)
        await stage.play.sign([item.fingerprint for item in (await stage.play.summary()).waiting])
        return await judged(stage, PRO)


async def halted_by_failures(world: World) -> Verdict:
    """The service refuses every commit; one zone may be in flight, and none may fail before a person says
    that the campaign is to go on.
    """
    names = [f"z{number}" for number in range(3)]
    async with signed_stage(
        world.client, world.folder, *map(zone, names), window=1, advance={"percent": 1, "failures": 0}
    ) as stage:
        await stage.fault(
            "server_error", "entrypoint.put", times=None, effect="before", status=400, body=NOT_DONE
        )
        await stage.play.until(lambda seen: seen.places.get("awaiting") == len(names), PATIENCE)
        await stage.play.sign([item.fingerprint for item in (await stage.play.summary()).waiting])
        for failed in range(1, len(names)):
            await _have_failed(stage, failed)
            await quiet(2)
            await resumed(stage)
        return await judged(stage, PRO)


async def a_failure_keeps_its_place(world: World) -> Verdict:
    """Two may be in flight, and one may fail: once one has, the others go one after the other, though they
    are signed at once and a migration takes a while.
    """
    names = [f"z{number}" for number in range(3)]
    async with signed_stage(
        world.client,
        world.folder,
        *map(zone, names),
        window=2,
        advance={"percent": 1, "failures": 1},
        simulator={"migration_seconds": SCALE / 2},
    ) as stage:
        await stage.fault("server_error", "entrypoint.put", "z0", effect="before", status=400, body=NOT_DONE)
        await stage.play.until(lambda seen: seen.places.get("awaiting") == len(names), PATIENCE)
        await stage.play.sign_zone(stage.name("z0"))
        await _have_failed(stage, 1)
        for name in names[1:]:
            await stage.play.sign_zone(stage.name(name))
        return await judged(stage, PRO)


async def _have_failed(stage: Stage, zones: int) -> None:
    """Wait until so many zones have failed. A wrong version may have ended the campaign by then."""
    with contextlib.suppress(RPCError, WorkflowUpdateFailedError, WorkflowQueryFailedError):
        await stage.play.until(lambda seen: seen.places.get("failed", 0) >= zones, PATIENCE)


async def paced(world: World) -> Verdict:
    """The service allows ten calls in five seconds, and two zones begin with more than that at once."""
    limit = {"requests": 10, "window_seconds": 5 * SCALE, "block_seconds": SCALE / 2}
    names = [f"z{number}" for number in range(2)]
    async with signed_stage(
        world.client,
        world.folder,
        *map(zone, names),
        begin=False,
        paced=True,
        patience=READ_FOR,
        simulator={"rate_limit": limit},
    ) as stage:
        spec = stage.play.spec.model_dump()
        spec["service"]["rate"] = {"requests": 10, "per": 5 * SCALE, "people": 0.0}
        stage.play.spec = type(stage.play.spec).model_validate(spec)
        await stage.play.begin()
        return await judged(stage, PRO, within=2 * PATIENCE)

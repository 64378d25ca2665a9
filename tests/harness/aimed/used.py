"""Scenes in which what people signed once is to send the same once more, or is taken back: by a stranger's
workflow, by a retry that nobody has signed, and under a start of before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.messages import Again, Answer, Step
from edgeshift.stores.documents import put_document
from tests.forgeries.running.attack import Attack
from tests.forgeries.running.foreign import forged_change, scheduled
from tests.harness.aimed.areas import esc_as_said
from tests.harness.aimed.door import OTHER, approved, begun, begun_again, claimed
from tests.harness.aimed.scene import ends, judged, quiet, waits
from tests.harness.aimed.waf import PRO
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import esc_stage, esc_zone, signed_stage
from tests.harness.cases import World
from tests.harness.verdict import Verdict
from tests.kit import APPROVER, OPERATOR
from tests.kit.faults import zone

TURNED_OFF = ("esc.set", "always")


async def approval_that_was_used(world: World) -> Verdict:
    """A scope gets worse and is turned on again; a stranger's workflow has the same change made once more."""
    zones = (esc_zone("worse", own=True, worse=True),)
    async with esc_stage(world.client, world.folder, *zones, authority=ONE) as stage:
        state = await waits(stage, "worse")
        await stage.play.sign([state.fingerprint])
        await ends(stage, "worse")
        attack = Attack(stage, world.client, "worse", FileSigner(PrivateKey.made()), state, set())
        await scheduled(attack, "change_zone", await forged_change(attack))
        times = (await stage.changes("worse")).count(TURNED_OFF)

        async def as_said() -> list[str]:
            return await esc_as_said(stage, own={"worse"})

        told = [f"one approval turned it off {times} times"] if times > 1 else []
        return await judged(stage, {3, 4, 7}, told=told, beside=as_said)


async def taken_back_by_nobody(world: World) -> Verdict:
    """A scope is settled; a stranger's workflow has the rollback of its change sent."""
    zones = (esc_zone("settled"), esc_zone("other"))
    async with esc_stage(world.client, world.folder, *zones, authority=ONE) as stage:
        state = await waits(stage, "settled")
        await stage.play.sign_zone(stage.name("settled"), digest=state.digest)
        await ends(stage, "settled")
        attack = Attack(stage, world.client, "settled", FileSigner(PrivateKey.made()), state, set())
        forged = (await forged_change(attack)).model_copy(update={"step": Step.ROLL_BACK})
        await scheduled(attack, "change_zone", forged)
        await stage.finish()

        async def as_said() -> list[str]:
            return await esc_as_said(stage, own=set())

        return await judged(stage, {3, 4, 7}, beside=as_said)


async def begun_again_by_nobody(world: World) -> Verdict:
    """A zone's workflow is terminated before its commit; somebody without a key has Temporal begin it again,
    and what it proposes is approved.
    """
    return await _begun_again(world)


async def begun_again_for_another_start(world: World) -> Verdict:
    """The same, and an operator has signed a retry of the zone for another start of the campaign."""
    return await _begun_again(world, start="f" * 64)


async def _begun_again(world: World, **signed: Any) -> Verdict:
    """``signed``: what the operator's retry says; nobody has signed any where it is empty."""
    async with signed_stage(world.client, world.folder, zone("a"), OTHER) as stage:
        play, name = stage.play, stage.name("a")
        await waits(stage, "a")
        await waits(stage, "other")
        await play.zone(name).terminate("by hand")
        await play.until(lambda seen: seen.places.get("failed") == 1)
        if signed:
            await begun_again(stage, "a", "retry", **signed)
        forged = Again(by=OPERATOR, indexes=(play.index(name),))
        await play.campaign.execute_update("retry", forged, result_type=Answer)
        await play.sign([(await waits(stage, "a")).fingerprint])
        await ends(stage, "a")
        sent = await stage.changes("a")
        told = [f"an attempt that nobody began has sent {len(sent)} changes"] if sent else []
        return await judged(stage, PRO, told=told)


async def started_again_by_a_key_revoked_since(world: World) -> Verdict:
    """What was approved is to be sent once the campaign was started again by a file that asks for two people.
    Whoever did that has left: their key is revoked.
    """
    async with signed_stage(world.client, world.folder, zone("a")) as stage:
        play, two = stage.play, {"required": 2}
        await approved(stage, await waits(stage, "a"))
        # People's words are told to the second.
        await quiet()
        other = play.spec.model_copy(update={"sign_off": play.spec.sign_off.model_copy(update=two)})
        await begun(stage, "rita", spec=await put_document(play.archive, other))
        assert play.keys is not None
        play.keys.write(replace(play.keys.roster, revoked=(("rita", 1),)))
        await claimed(stage, "a", APPROVER)
        sent = await stage.changes("a")
        await play.sign_start()
        told = [f"{len(sent)} changes were sent under the start of before"] if sent else []
        return await judged(stage, PRO, told=told)

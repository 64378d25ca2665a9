"""Scenes in which an approver signs what the campaign's file does not ask for, and a stranger has it sent."""

from __future__ import annotations

from typing import Any

from activities.waf.proposing import deletion_body
from edgeshift.areas import waf
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.messages import Change, Step
from edgeshift.model.digests import digest, fingerprint
from edgeshift.stores.documents import Proposal, Snapshot, get_document, put_document
from tests.forgeries.running.attack import Attack
from tests.forgeries.running.foreign import forged_change, scheduled
from tests.harness.aimed.scene import ends, judged, waits
from tests.harness.aimed.waf import PRO
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.fleet_zones import OVERRIDE
from tests.harness.campaigns.stages import log_stage, log_zone, signed_stage
from tests.harness.cases import World
from tests.harness.verdict import Verdict
from tests.kit import APPROVER
from tests.kit.faults import zone

VISITORS = "authorization"
"""A header that the file does not ask for."""


async def _signed(attack: Attack, body: dict[str, Any], step: Step) -> Change:
    """The change that sends this body, which the approver has signed."""
    of = attack.state.zone
    about = {"digest": digest(body), "fingerprint": fingerprint(body, of)}
    stored = await put_document(attack.archive, Proposal(body=body))
    words = (attack.word(APPROVER, digest=about["digest"]),)
    await attack.sign(await attack.decision(APPROVER, step=step, subjects=(about["digest"],), evidence=""))
    update = {**about, "step": step, "proposal": stored, "decisions": words, "permit": attack.permit(step)}
    attack.state = attack.state.model_copy(update={**about, "proposal": stored})
    return (await forged_change(attack)).model_copy(update=update)


async def fields_that_nobody_asked_for(world: World) -> Verdict:
    """More of what visitors send is to be logged than the file says."""
    async with log_stage(world.client, world.folder, log_zone("a"), authority=ONE) as stage:
        state = await waits(stage, "a")
        attack = Attack(stage, world.client, "a", FileSigner(PrivateKey.made()), state, set())
        body = (await get_document(attack.archive, Proposal, state.proposal)).body
        fields = body["fields"]
        more = {**fields, "request_headers": [*fields["request_headers"], VISITORS]}
        await scheduled(attack, "change_zone", await _signed(attack, {**body, "fields": more}, Step.COMMIT))
        there = str((await stage.play.control.get(f"zones/{stage.id('a')}"))["rulesets"])
        told = ["what visitors send is logged, and the file does not ask for it"] if VISITORS in there else []
        return await judged(stage, {3, 4, 7}, told=told)


async def overrides_deleted_without_consent(world: World) -> Verdict:
    """A zone is blocked by its URI overrides, and the file lets nobody delete them."""
    zones = (zone("legacy", uri_overrides=[OVERRIDE]), zone("shop"))
    async with signed_stage(world.client, world.folder, *zones) as stage:
        await waits(stage, "shop")
        await ends(stage, "legacy")
        state = await stage.play.state(stage.name("legacy"))
        attack = Attack(stage, world.client, "legacy", FileSigner(PrivateKey.made()), state, set())
        seen = (await get_document(attack.archive, Snapshot[waf.Reading], state.snapshot)).reading
        body = deletion_body(seen.overrides)
        await scheduled(attack, "change_zone", await _signed(attack, body, Step.DELETE_OVERRIDES))
        sent = await stage.play.journal("waf.overrides.delete", stage.name("legacy"))
        told = [f"{len(sent)} overrides deleted, and nobody had consented"] if sent else []
        return await judged(stage, PRO, told=told)

"""A scene of a validation window, which nobody signs: the rules act in none that may not begin."""

from __future__ import annotations

from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import Step, ZonePhase
from tests.forgeries.running.attack import Attack
from tests.forgeries.running.foreign import forged_change, scheduled
from tests.harness.aimed.door import FALSE_POSITIVE
from tests.harness.aimed.scene import PATIENCE, judged
from tests.harness.campaigns.stages import signed_stage
from tests.harness.cases import World
from tests.harness.verdict import Verdict
from tests.kit.faults import zone

BUSY = {"requests_per_minute": 600, "false_positives": [FALSE_POSITIVE]}


async def rules_let_act_by_nobody(world: World) -> Verdict:
    """A zone's rules did not pass while they only logged; a stranger's workflow has them act."""
    terms = {
        "consents": {"enforce_validation": True},
        "validation": {"window": "12h", "modes": ["shadow", "enforce"]},
    }
    zones = [zone("a", "enterprise", traffic=BUSY)]
    async with signed_stage(world.client, world.folder, *zones, **terms) as stage:
        state = await stage.play.zone_until(
            stage.name("a"),
            lambda seen: seen.phase is ZonePhase.AWAITING_SIGN_OFF and bool(seen.evidence),
            PATIENCE,
        )
        attack = Attack(stage, world.client, "a", FileSigner(PrivateKey.made()), state, set())
        forged = await forged_change(attack)
        more = {"step": Step.VALIDATE, "mode": ValidationMode.ENFORCE, "evidence": state.evidence}
        await scheduled(attack, "change_zone", forged.model_copy(update=more))
        sent = await stage.play.journal("entrypoint.put", stage.name("a"))
        acting = [one for one in sent if "validation" in one["query"] and not one["log_only"]]
        told = [f"rules that did not pass were let act {len(acting)} times"] if acting else []
        return await judged(stage, {4, 7}, told=told)

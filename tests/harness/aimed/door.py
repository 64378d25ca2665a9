"""Scenes that each go for one thing that the door asks of keys: whatever Temporal was told, in whoever's
name, nothing is sent that people's signatures do not cover. Afterwards people sign rightly, and the campaign
goes on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from edgeshift.authority.records import SignedRecords, statement_at
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.statements import AgainStatement, DecisionStatement, StartStatement, WaveSaid
from edgeshift.messages import Answer, Person, Step, ZonePhase, ZoneState
from edgeshift.model.sign_off import Choice
from edgeshift.stores.documents import FrozenTargets, put_document
from edgeshift.testbed.invariants.seen import Signature, StopRecord
from tests.harness.aimed.scene import PATIENCE, ends, judged, quiet, resumed, waits
from tests.harness.aimed.waf import A_RULE, PRO, STOPPED, word
from tests.harness.campaigns.authority import FOUR_EYES, ONE, TWO
from tests.harness.campaigns.stages import esc_stage, esc_zone, signed_stage
from tests.harness.cases import World
from tests.harness.disturbances.archives import Damage
from tests.harness.verdict import Verdict
from tests.kit import APPROVER, OPERATOR, eventually
from tests.kit.faults import Stage, zone
from tests.kit.signing import Roster, about, key_of, recorded

TRIES_AGAIN = 2 * PATIENCE
"""Seconds for a campaign in which a zone waits for a minute, because the door held it back for now."""

EARLIER = timedelta(hours=1)
A_MOMENT = timedelta(seconds=10)

MOST_AN_HOUR = 1

FALSE_POSITIVE = {"kind": "rich_text", "path": "/save", "per_hour": 60}

OTHER = zone("other", firewall_rules=[A_RULE])
"""A zone that proposes something else."""


async def begun(stage: Stage, by: str = OPERATOR, **more: Any) -> str:
    """Sign a start of the campaign; its digest."""
    play = stage.play
    start = play.start
    assert start is not None
    said = {
        **about(play.spec.service.base_url, play.spec.name, play.spec.area, by),
        "spec": start.spec,
        "targets": start.targets,
        "count": start.count,
        "waves": tuple(WaveSaid(name=one.name, first=one.first, end=one.end) for one in start.waves),
    }
    return await recorded(play.archive, StartStatement(**{**said, **more}))


async def approved(
    stage: Stage, state: ZoneState, by: str = APPROVER, signer: FileSigner | None = None, **more: Any
) -> None:
    """Record a signed approval of what a zone proposes, or of something else, and tell nobody."""
    play = stage.play
    starts = await SignedRecords(play.archive).starts(play.spec.name)
    said = {
        **about(play.spec.service.base_url, play.spec.name, play.spec.area, by),
        "start": starts[0].digest,
        "step": state.step or Step.COMMIT,
        "choice": Choice.APPROVE,
        "about": "proposal",
        "subjects": (state.digest,),
        "zone": state.zone.id,
        "attempt": state.attempt,
        "evidence": state.evidence,
    }
    await recorded(play.archive, DecisionStatement(**{**said, **more}), signer)


async def begun_again(
    stage: Stage, short: str, verb: Literal["retry", "reopen"], service: str = "", **more: Any
) -> None:
    """Record a signed word that a zone begins again, and tell nobody."""
    play = stage.play
    said = {
        **about(service or play.spec.service.base_url, play.spec.name, play.spec.area, OPERATOR),
        "start": (await SignedRecords(play.archive).starts(play.spec.name))[0].digest,
        "verb": verb,
        "zones": (stage.id(short),),
    }
    await recorded(play.archive, AgainStatement(**{**said, **more}))


async def claimed(stage: Stage, short: str, *names: str) -> str:
    """Tell a zone in these names that they approve what it proposes; how it ends."""
    handle = stage.play.zone(stage.name(short))
    state = await stage.play.state(stage.name(short))
    for name in names:
        await handle.signal("sign_off", word(state.digest, by=name))
    return await ends(stage, short)


async def nothing_signed(world: World) -> Verdict:
    """An approval in an approver's name, with nobody's signature."""
    async with signed_stage(world.client, world.folder, zone("a")) as stage:
        await waits(stage, "a")
        await claimed(stage, "a", APPROVER)
        return await judged(stage, PRO)


async def started_by_nobody(world: World) -> Verdict:
    """The start is signed, by somebody who may start nothing."""
    async with signed_stage(world.client, world.folder, zone("a"), begin=False) as stage:
        await stage.play.begin(signs=False)
        digest = await begun(stage, "opal", issued=datetime.now(UTC) - EARLIER)
        await approved(stage, await waits(stage, "a"), start=digest)
        await claimed(stage, "a", APPROVER)
        await stage.play.sign_start()
        return await judged(stage, PRO)


async def weaker_policy_in_the_message(world: World) -> Verdict:
    """The campaign's file asks for two; whoever started its workflow said that one is enough."""
    roster = replace(ONE, approvers=TWO.approvers)
    async with signed_stage(
        world.client, world.folder, zone("a"), begin=False, authority=roster, sign_off={"required": 2}
    ) as stage:
        play = stage.play

        async def weaken() -> None:
            assert play.start is not None
            policy = play.start.policy
            one = policy.sign_off.model_copy(update={"required": 1})
            play.start = play.start.model_copy(update={"policy": policy.model_copy(update={"sign_off": one})})

        await play.begin(meanwhile=weaken)
        await approved(stage, await waits(stage, "a"))
        await claimed(stage, "a", APPROVER)
        return await judged(stage, PRO)


async def evidence_that_did_not_pass(world: World) -> Verdict:
    """An Enterprise zone whose window showed false positives: its fingerprint is signed, as for others, and
    it has to be signed for itself.
    """
    traffic = {"requests_per_minute": 600, "false_positives": [FALSE_POSITIVE]}
    zones = [zone("a", "enterprise", traffic=traffic)]
    async with signed_stage(world.client, world.folder, *zones) as stage:
        state = await stage.play.zone_until(stage.name("a"), _was_judged, PATIENCE)
        await stage.play.sign_by_key((state.fingerprint,), Choice.APPROVE, [APPROVER])
        await claimed(stage, "a", APPROVER)
        return await judged(stage, {4, 7})


async def probe_with_doubts(world: World) -> Verdict:
    """A scope whose account has esc off already, so that its probe compared off with off: its fingerprint is
    signed, as for others, and it has to be signed for itself.
    """
    off: dict[str, Any] = {"esc": {"always": True}}
    zones = (esc_zone("a", own=True),)
    async with esc_stage(world.client, world.folder, *zones, authority=ONE, account=off) as stage:
        state = await stage.play.zone_until(stage.name("a"), _was_judged, PATIENCE)
        await stage.play.sign_by_key((state.fingerprint,), Choice.APPROVE, [APPROVER])
        await claimed(stage, "a", APPROVER)
        return await judged(stage, {3, 4, 7})


def _was_judged(state: ZoneState) -> bool:
    return state.phase is ZonePhase.AWAITING_SIGN_OFF and bool(state.evidence)


async def approver_without_the_role(world: World) -> Verdict:
    """Somebody signs with their own key, who has another role."""
    async with signed_stage(world.client, world.folder, zone("a")) as stage:
        await approved(stage, await waits(stage, "a"), "opal")
        await claimed(stage, "a", "opal")
        return await judged(stage, PRO)


async def approval_that_has_expired(world: World) -> Verdict:
    """What was signed counted until a moment ago."""
    async with signed_stage(world.client, world.folder, zone("a")) as stage:
        state = await waits(stage, "a")
        now = datetime.now(UTC)
        await approved(stage, state, issued=now - 2 * A_MOMENT, expires=now - A_MOMENT)
        await claimed(stage, "a", APPROVER)
        return await judged(stage, PRO)


async def approval_of_an_earlier_start(world: World) -> Verdict:
    """An approval that was signed before the campaign was started anew is used once more."""
    async with signed_stage(world.client, world.folder, zone("a")) as stage:
        earlier = await begun(stage, issued=datetime.now(UTC) - EARLIER)
        await approved(stage, await waits(stage, "a"), start=earlier)
        await claimed(stage, "a", APPROVER)
        return await judged(stage, PRO)


async def approval_of_another_attempt(world: World) -> Verdict:
    """An approval of what the zone is to propose in a later attempt."""
    async with signed_stage(world.client, world.folder, zone("a")) as stage:
        await approved(stage, await waits(stage, "a"), attempt=7)
        await claimed(stage, "a", APPROVER)
        return await judged(stage, PRO)


async def resumed_by_nobody(world: World) -> Verdict:
    """The campaign is paused, and somebody without a key has Temporal resume it."""
    async with signed_stage(world.client, world.folder, zone("a")) as stage:
        await waits(stage, "a")
        await stage.play.ask("pause", "lunch")
        await stage.play.sign_zone(stage.name("a"))
        await stage.phase("a", ZonePhase.AWAITING_PERMIT, within=PATIENCE)
        forged = Person(by=OPERATOR, reason="lunch is over")
        await stage.play.campaign.execute_update("resume", forged, result_type=Answer)
        await quiet(4)
        await resumed(stage)
        return await judged(stage, STOPPED, within=TRIES_AGAIN)


async def rejected_by_key_alone(world: World) -> Verdict:
    """A rejection is signed, and its message never comes to the zone; another person approves. The other zone
    goes its way.
    """
    return await _rejected_by_key(world)


async def reopened_in_a_rehearsal(world: World) -> Verdict:
    """The same, and somebody copies a reopening of the zone into the archive that an operator has signed in a
    rehearsal of the same name, between the rejection and the approval.
    """
    return await _rejected_by_key(world, "https://rehearsal.example/client/v4")


async def rejected_by_a_key_revoked_since(world: World) -> Verdict:
    """The same, and whoever rejected it has left: their key is revoked."""
    return await _rejected_by_key(world, revoked=True)


async def _rejected_by_key(world: World, reopened_at: str = "", *, revoked: bool = False) -> Verdict:
    async with signed_stage(world.client, world.folder, zone("a"), OTHER) as stage:
        play, name = stage.play, stage.name("a")
        state = await waits(stage, "a")
        await play.sign_zone_by_key(name, state.digest, Choice.REJECT, ["bob"])
        play.signatures.append(
            Signature(by="bob", choice="reject", digest=state.digest, at=play.now(), zone=state.zone.id)
        )
        if revoked:
            assert play.keys is not None
            play.keys.write(replace(play.keys.roster, revoked=(("bob", 1),)))
        if reopened_at:
            # People's words are told to the second.
            await quiet()
            await begun_again(stage, "a", "reopen", service=reopened_at)
        await play.sign_zone(name)
        await ends(stage, "a")
        return await judged(stage, PRO)


async def aborted_by_key_alone(world: World) -> Verdict:
    """An abort is signed when one zone is done, and its message never comes to the campaign."""
    return await _aborted_by_key(world)


async def aborted_by_a_damaged_word(world: World) -> Verdict:
    """The same, and nobody can read what was signed until whoever looks after the archive puts it back."""
    return await _aborted_by_key(world, damaged=True)


async def aborted_by_a_key_revoked_since(world: World) -> Verdict:
    """The same by another operator, who has left then: their key is revoked."""
    return await _aborted_by_key(world, by="sam")


async def _aborted_by_key(world: World, *, damaged: bool = False, by: str = OPERATOR) -> Verdict:
    # No sweep finds the word before the door does: the campaign would take no sign-off any more.
    async with signed_stage(world.client, world.folder, zone("a"), OTHER, sweep="240h") as stage:
        play = stage.play
        await waits(stage, "a")
        await waits(stage, "other")
        await play.sign_zone(stage.name("other"))
        await ends(stage, "other")
        asked = play.now()
        await play.sign_word("abort", "enough", by)
        if by != OPERATOR:
            assert play.keys is not None
            play.keys.write(replace(play.keys.roster, revoked=((by, 1),)))
        damage = Damage(await _word_of(stage)) if damaged else None
        play.stops.append(
            StopRecord(campaign=play.spec.name, kind="abort", by=by, asked_at=asked, answered_at=play.now())
        )
        await play.sign_zone(stage.name("a"))
        if damage is not None:
            await quiet(6)
            damage.fix()
        await ends(stage, "a")
        return await judged(stage, STOPPED)


async def _word_of(stage: Stage) -> Path:
    """Where the statement of the one word lies that somebody has signed."""
    archive, name = stage.play.archive, stage.play.spec.name
    (key,) = [key async for key in archive.list(f"signed/{name}/word")]
    assert archive.folder is not None
    return archive.folder / statement_at(name, key.rpartition("/")[2])


async def approved_by_the_starter(world: World) -> Verdict:
    """Four eyes are asked for; whoever started the campaign may approve others, and signs for this one."""
    roster = FOUR_EYES.with_role(OPERATOR, "approver")
    async with signed_stage(world.client, world.folder, zone("a"), authority=roster) as stage:
        await approved(stage, await waits(stage, "a"), OPERATOR)
        await claimed(stage, "a", APPROVER)
        return await judged(stage, PRO)


async def two_keys_of_one_person(world: World) -> Verdict:
    """Two have to sign; one does, with either of their keys, and Temporal is told the other one's name."""
    roster: Roster = replace(TWO, keys={APPROVER: 2})
    async with signed_stage(world.client, world.folder, zone("a"), authority=roster) as stage:
        state = await waits(stage, "a")
        for number in (1, 2):
            await approved(stage, state, signer=key_of(APPROVER, number))
        await claimed(stage, "a", *TWO.approvers)
        return await judged(stage, PRO)


async def more_than_an_hour_takes(world: World) -> Verdict:
    """Two zones are signed, and one commit an hour is the most by the roots, until they are changed."""
    roster = replace(ONE, most_commits_an_hour=MOST_AN_HOUR)
    async with signed_stage(world.client, world.folder, zone("a"), zone("b"), authority=roster) as stage:
        play = stage.play
        state = await waits(stage, "a")
        await waits(stage, "b")
        await play.sign([state.fingerprint])

        async def one() -> bool:
            return bool(await play.commits())

        await eventually(one, PATIENCE, "a commit is sent")
        await quiet(4)
        hours = Counter(str(entry["time"])[:13] for entry in await play.commits())
        told = [f"{sent} commits in one hour" for sent in hours.values() if sent > MOST_AN_HOUR]
        assert play.keys is not None
        play.keys.write(ONE)
        return await judged(stage, PRO, told=told, within=TRIES_AGAIN)


async def target_that_nobody_signed(world: World) -> Verdict:
    """The signed list has one zone; the campaign was started with a list of two."""
    async with signed_stage(world.client, world.folder, zone("a"), zone("b"), begin=False) as stage:
        play = stage.play
        await play.begin(signs=False)
        assert play.start is not None
        listed, other = play.targets
        short = other.zone.name.removesuffix(f".{stage.tag}.example")
        wave = play.start.waves[0]
        await begun(
            stage,
            issued=datetime.now(UTC) - EARLIER,
            targets=await put_document(play.archive, FrozenTargets((listed,))),
            count=1,
            waves=(WaveSaid(name=wave.name, first=0, end=1),),
        )
        state = await waits(stage, "a")
        await waits(stage, "b")
        await play.sign([state.fingerprint])
        await ends(stage, short)
        # Both are signed now, and people agree to the second one too; not so soon that it might be in time.
        await quiet(4)
        await play.sign_start()
        await play.sign_by_key((state.fingerprint,), Choice.APPROVE, play.approvers)
        return await judged(stage, PRO)


async def body_that_nobody_signed(world: World) -> Verdict:
    """One zone's fingerprint is signed; of another, which proposes something else, Temporal is told so."""
    zones = (zone("plain"), zone("ruled", firewall_rules=[A_RULE]))
    async with signed_stage(world.client, world.folder, *zones) as stage:
        state = await waits(stage, "plain")
        await waits(stage, "ruled")
        await stage.play.sign([state.fingerprint])
        await ends(stage, "plain")
        await claimed(stage, "ruled", APPROVER)
        return await judged(stage, PRO)

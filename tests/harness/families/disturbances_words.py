"""What people, operators and strangers say beside a campaign: signals, starts, stops, and changes at the
service.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from temporalio.service import RPCError

from edgeshift.fleet import Target
from edgeshift.messages import ZonePhase
from edgeshift.sign_off import Choice
from tests.faults_kit import Stage
from tests.harness.cases import Case, World
from tests.harness.disturbances import Acting, drifts, signals, starts, stops
from tests.harness.disturbances.freezing import freeze_at
from tests.harness.disturbances.phases import come
from tests.harness.disturbances.scenes import Beside, play_beside
from tests.harness.disturbances.ways import WAYS, Way
from tests.harness.switches import place_of
from tests.harness.verdict import Verdict

MAIN = ("professional", "enterprise", "support", "secret", "worse", "shared")
STOPPED = frozenset({"aborted", "rolled_back"})
FLOOD = 2_000


def cases() -> list[Case]:
    """Of every family here."""
    found = []
    for way in (WAYS[name] for name in MAIN):
        for phase in way.phases:
            at = f"{way.area}/{way.name}/{phase.value}"
            found += [
                _case(f"forged-signals/{at}", way, phase, _forged, "signal zone_report"),
                _case(f"late-signals/{at}", way, phase, _late, "signal sign_off"),
            ]
            if phase is not ZonePhase.CLOSED:
                found += [
                    _case(f"flood/{at}", way, phase, _flooded, "flood"),
                    _case(f"pause-resume/{at}", way, phase, _paused, "pause"),
                    _case(f"abort/{at}", way, phase, _aborted, "abort"),
                ]
    for way in (WAYS["professional"], WAYS["enterprise"]):
        found += [
            Case(f"drift/{way.area}/{way.name}/{moment}", "drift", 3, partial(_drift, moment, way))
            for moment in DRIFTS
        ]
    for way in (WAYS["professional"], WAYS["secret"], WAYS["shared"]):
        found += [
            Case(f"starts-100/{way.area}/{way.name}", "starts-100", 2, partial(_starts, way)),
            Case(f"rivals/{way.area}/{way.name}", "rivals", 2, partial(_rivals, way)),
        ]
    return found


def _case(identifier: str, way: Way, phase: ZonePhase, act: Any, happens: str) -> Case:
    family = identifier.partition("/")[0]
    return Case(identifier, family, 3, partial(_at_phase, identifier, way, phase, act, happens))


async def _at_phase(
    identifier: str, way: Way, phase: ZonePhase, do: Any, happens: str, world: World
) -> Verdict:
    async def act(acting: Acting) -> None:
        await do(acting, await come(acting.stage, way, phase, *acting.stage.names[:2]))

    family = identifier.partition("/")[0]
    beside = Beside(
        act,
        (happens,),
        3,
        first=True,
        faults=way.phases[phase],
        terms={"sign_off": signals.APPROVERS} if family in ("forged-signals", "flood") else {},
        outcomes=STOPPED if family == "abort" else frozenset(),
    )
    return await play_beside(identifier, way, beside, world)


async def _forged(acting: Acting, shorts: list[str]) -> None:
    for short in shorts:
        await signals.forge(acting, short)
        await signals.garble(acting, short)


async def _late(acting: Acting, shorts: list[str]) -> None:
    """Words that people have said already, or that are about what was proposed before."""
    stage = acting.stage
    for short in shorts:
        state = await signals.looked_at(stage, short)
        digest = (state.digest if state else "") or signals.NOWHERE
        handle = stage.play.zone(stage.name(short))
        for _ in range(3):
            with suppress(RPCError):
                await stage.play.sign_zone(stage.name(short), digest=digest)
                acting.told("signal sign_off")
            await signals.say(acting, handle, "support_resolved", {"by": "sam"})
        rejection = signals.approval(signals.NOWHERE, "ann", Choice.REJECT)
        await signals.say(acting, stage.play.zone(stage.name(stage.names[-1])), "sign_off", rejection)
    acting.told("signal sign_off")


async def _flooded(acting: Acting, shorts: list[str]) -> None:
    await signals.flood(acting, shorts[0], FLOOD)


async def _paused(acting: Acting, shorts: list[str]) -> None:
    await stops.pause_a_while(acting, 4.0)


async def _aborted(acting: Acting, shorts: list[str]) -> None:
    await stops.abort(acting)


# --- drift


async def _while_it_waits(acting: Acting, way: Way) -> None:
    await drifts.drift(acting, "z0")
    await acting.stage.play.sign_zone(acting.stage.name("z0"))


async def _after_the_sign_off(acting: Acting, way: Way) -> None:
    play = acting.stage.play
    await play.ask("pause", "a look")
    await play.sign_zone(acting.stage.name("z0"))
    await come(acting.stage, way, ZonePhase.AWAITING_PERMIT, "z0")
    await drifts.drift(acting, "z0")
    await play.ask("resume")


async def _under_the_permit(acting: Acting, way: Way) -> None:
    """The process that is to send it stops before it reads the zone afresh."""
    stopping = asyncio.ensure_future(freeze_at(acting, place_of("change_zone", "before"), 2.0))
    await asyncio.sleep(0.2)
    await acting.stage.play.sign_zone(acting.stage.name("z0"))
    await drifts.drift(acting, "z0")
    await stopping


DRIFTS: dict[str, Any] = {
    "while-it-waits": _while_it_waits,
    "after-the-sign-off": _after_the_sign_off,
    "under-the-permit": _under_the_permit,
}


async def _drift(moment: str, way: Way, world: World) -> Verdict:
    before: dict[str, str] = {}

    async def act(acting: Acting) -> None:
        stage = acting.stage
        await come(stage, way, ZonePhase.AWAITING_SIGN_OFF, "z0")
        before["z0"] = (await stage.play.state(stage.name("z0"))).digest
        await DRIFTS[moment](acting, way)

    async def asked_again(stage: Stage) -> Sequence[str]:
        sent = [entry for entry in await stage.play.commits(stage.name("z0"))]
        if len(sent) != 1 or sent[0]["body_digest"] == before["z0"]:
            return [f"z0 was committed {len(sent)} times, or by the sign-off of before it changed"]
        return []

    beside = Beside(act, ("drift",), 3, first=True, oracle=asked_again)
    return await play_beside(f"drift/{way.area}/{way.name}/{moment}", way, beside, world)


# --- starts


async def _starts(way: Way, world: World) -> Verdict:
    """A hundred at once, and a hundred more while it runs: one campaign; everybody else is told why not."""

    async def act(acting: Acting) -> None:
        play = acting.stage.play
        refusals = await starts.start_many(acting)
        assert play.start is not None, f"none of the starts was told that it was it: {refusals[0]}"
        listed = await play.archive.get_json(play.start.targets)
        play.targets = [Target.model_validate(item) for item in listed]
        await come(acting.stage, way, ZonePhase.AWAITING_SIGN_OFF, *acting.stage.names)
        again = await starts.start_many(acting)
        assert len(again) == starts.MANY, "a campaign that runs was started again"
        acting.told("refused")

    beside = Beside(act, ("started at once", "refused"), first=True, begins=False)
    return await play_beside(f"starts-100/{way.area}/{way.name}", way, beside, world)


async def _rivals(way: Way, world: World) -> Verdict:
    """Another campaign over the same zones leaves every one of them alone, and says whose they are."""

    async def act(acting: Acting) -> None:
        play = acting.stage.play
        await come(acting.stage, way, ZonePhase.AWAITING_SIGN_OFF, *acting.stage.names)
        excluded = await starts.rival(acting)
        expected = {index: f"already in campaign/{play.spec.name}" for index in range(len(play.targets))}
        assert excluded == expected, excluded

    return await play_beside(f"rivals/{way.area}/{way.name}", way, Beside(act, ("rival",), first=True), world)

"""What people, operators and strangers say beside a campaign: signals, starts, stops, and changes at the
service.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

from temporalio.service import RPCError

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import Target
from edgeshift.model.sign_off import Choice
from tests.harness.aimed.scene import quiet
from tests.harness.cases import Case, World
from tests.harness.disturbances import Acting, signals, starts, stops
from tests.harness.disturbances.phases import WITHIN, come
from tests.harness.disturbances.scenes import WIDE, Beside, play_beside
from tests.harness.disturbances.ways import WAYS, Way
from tests.harness.verdict import Verdict
from tests.kit import eventually
from tests.kit.faults import Stage

MAIN = ("professional", "enterprise", "support", "secret", "worse", "shared")
STOPPED = frozenset({"aborted", "rolled_back"})

FLOOD = 2_000

PAST_SIGN_OFF = frozenset(
    {ZonePhase.COMMITTING, ZonePhase.VERIFYING, ZonePhase.WATCHING, ZonePhase.ROLLING_BACK}
)

COMES_TO_WAIT = 60.0
"""Seconds in which a zone comes to its sign-off that has all it needs, on a busy machine."""

QUIET = 4.0
"""Seconds in which whoever ignores a pause sends something: a permit, a fresh reading, and the request."""


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
                    _case(f"pause-resume/{at}", way, phase, partial(_paused, way), "signed in a pause"),
                    _case(f"abort/{at}", way, phase, _aborted, "abort"),
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
    # Where two zones are past their sign-off, the third has to wait for its own: that is given in the pause.
    roomy = family == "pause-resume" and phase in PAST_SIGN_OFF
    beside = Beside(
        act,
        (happens,),
        3,
        first=True,
        faults=way.phases[phase],
        terms={"sign_off": signals.APPROVERS} if family in ("forged-signals", "flood") else {},
        outcomes=STOPPED if family == "abort" else frozenset(),
        window=WIDE if roomy else 0,
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


async def _paused(way: Way, acting: Acting, shorts: list[str]) -> None:
    """People sign once the pause has answered, and nothing is sent before it ends."""

    async def sign() -> None:
        # A pause may take back the permits with which zones were to come to their sign-off: none waits then.
        with suppress(TimeoutError):
            await _sign_what_waits(acting.stage, way)
            acting.told("signed in a pause")
            signed.append(True)
        await quiet(QUIET)

    signed: list[bool] = []
    await stops.pause_while(acting, sign)
    if not signed:
        await eventually(lambda: _any_waits(acting.stage), WITHIN, "a zone waits for its sign-off")
        await stops.pause_while(acting, sign)


async def _any_waits(stage: Stage) -> bool:
    return bool(await _waiting(stage))


async def _sign_what_waits(stage: Stage, way: Way) -> None:
    """As soon as anything waits: one zone by its own digest, and all by what they propose. Raises
    TimeoutError where nothing does.
    """
    support = asyncio.create_task(way.people(stage))
    try:
        # Not asyncio.timeout: a query of Temporal's that is cancelled may say so as an error of its own.
        limit = asyncio.get_running_loop().time() + COMES_TO_WAIT
        while not (waiting := await _waiting(stage)):
            if asyncio.get_running_loop().time() > limit:
                raise TimeoutError("no zone waits for its sign-off")
            await asyncio.sleep(0.3)
        await stage.play.sign_zone(stage.name(waiting[0]))
        if fingerprints := [item.fingerprint for item in (await stage.play.summary()).waiting]:
            await stage.play.sign(fingerprints)
    finally:
        support.cancel()
        await asyncio.gather(support, return_exceptions=True)


async def _waiting(stage: Stage) -> list[str]:
    """The zones that wait for a sign-off."""
    states = {short: await signals.looked_at(stage, short) for short in stage.names}
    return [short for short, state in states.items() if state and state.phase is ZonePhase.AWAITING_SIGN_OFF]


async def _aborted(acting: Acting, shorts: list[str]) -> None:
    await stops.abort(acting)


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

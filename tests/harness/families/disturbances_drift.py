"""Somebody changes a zone at the service between its proposal and its change: what was signed is not sent
where it is not so any more, and nothing of somebody else's is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from edgeshift.messages import ZonePhase
from tests.harness.cases import Case, World
from tests.harness.disturbances import Acting, drifts
from tests.harness.disturbances.freezing import freeze_at
from tests.harness.disturbances.phases import come
from tests.harness.disturbances.scenes import Beside, play_beside
from tests.harness.disturbances.ways import WAYS
from tests.harness.oracles.judging import ending_of
from tests.harness.switches import Switches, place_of
from tests.harness.verdict import Verdict
from tests.kit import eventually
from tests.kit.faults import Stage

FAMILY = "drift"
ZONES = 3
CHANGED = "z0"
"""The zone that somebody changes."""

BEFORE = place_of("change_zone", "before")

Holds = Callable[[Acting, str], Awaitable[list[str]]]
"""Complaints about the changed zone; takes the digest that it had proposed before."""


def cases() -> list[Case]:
    """Each change, at each moment."""
    return [
        Case(identifier, FAMILY, ZONES, partial(_played, identifier, drift, moment))
        for drift in DRIFTS
        for moment in MOMENTS
        for identifier in [drift.case(moment)]
    ]


# --- when it is changed


Change = Callable[[], Awaitable[None]]


async def _while_it_waits(acting: Acting, change: Change) -> None:
    await change()
    await acting.stage.play.sign_zone(acting.stage.name(CHANGED))


async def _after_the_sign_off(acting: Acting, change: Change) -> None:
    play = acting.stage.play
    await play.ask("pause", "a look")
    await play.sign_zone(acting.stage.name(CHANGED))
    await acting.stage.phase(CHANGED, ZonePhase.AWAITING_PERMIT)
    await change()
    await play.ask("resume")


async def _under_the_permit(acting: Acting, change: Change) -> None:
    """The process that is to send it stops before it reads the zone afresh."""
    switches = Switches(acting.order.folder)
    known = len(switches.frozen())

    async def stopped() -> bool:
        return len(switches.frozen()) > known

    stopping = asyncio.ensure_future(freeze_at(acting, BEFORE, 2.0))
    await asyncio.sleep(0.2)
    await acting.stage.play.sign_zone(acting.stage.name(CHANGED))
    await eventually(stopped, what="a process comes to change the zone")
    await change()
    await stopping


MOMENTS: dict[str, Callable[[Acting, Change], Awaitable[None]]] = {
    "while-it-waits": _while_it_waits,
    "after-the-sign-off": _after_the_sign_off,
    "under-the-permit": _under_the_permit,
}


# --- what comes of it


async def _signed_anew(acting: Acting, digest: str) -> list[str]:
    sent = await acting.stage.play.commits(acting.stage.name(CHANGED))
    if len(sent) != 1 or sent[0]["body_digest"] == digest:
        return [f"{CHANGED} was committed {len(sent)} times, or by the sign-off of before it changed"]
    return []


async def _probed_anew(acting: Acting, digest: str) -> list[str]:
    """The probe is about the secret that it was made with. The customer's is the oracles' to look for."""
    lines = await asyncio.to_thread(acting.order.trace.read_text)
    probes = sum(line.startswith("probe_esc_scope") for line in lines.splitlines())
    found = [] if probes > ZONES else [f"{CHANGED} was not probed with its new secret: {probes} probes"]
    return found + await _sent(acting, "always", times=1)


async def _not_turned_off(acting: Acting, digest: str) -> list[str]:
    return await _sent(acting, "always", times=0)


async def _sent(acting: Acting, step: str, times: int) -> list[str]:
    sent = sum(one == ("esc.set", step) for one in await acting.stage.changes(CHANGED))
    return [] if sent == times else [f"{CHANGED}: {step} was sent {sent} times, not {times}"]


async def _merged(acting: Acting, digest: str) -> list[str]:
    """The fields that are proposed are the same, and need no other sign-off. The others' are the oracles' to
    look for.
    """
    state = await acting.stage.play.zone(acting.stage.name(CHANGED)).result()
    return [] if state.digest == digest else [f"{CHANGED} was signed anew for what somebody else wrote"]


async def _left_alone(acting: Acting, digest: str) -> list[str]:
    sent = await acting.stage.changes(CHANGED)
    return [f"{CHANGED} was sent {sent}"] if sent else []


@dataclass(frozen=True)
class Drift:
    """What somebody does to a zone of a way, the outcome that it comes to, and what else is to hold."""

    way: str
    what: str
    change: Callable[[Acting, str], Awaitable[None]]
    outcome: str
    holds: Holds

    def case(self, moment: str) -> str:
        """The id of the case in which it is done then."""
        return "/".join(filter(None, (FAMILY, WAYS[self.way].area, self.way, moment, self.what)))


DRIFTS = (
    Drift("professional", "", drifts.other_rules, "migrated", _signed_anew),
    Drift("enterprise", "", drifts.other_rules, "migrated", _signed_anew),
    Drift("secret", "own-secret", drifts.other_secret, "settled", _probed_anew),
    Drift("secret", "off", drifts.turned_off, "already_settled", _not_turned_off),
    Drift("shared", "fields", drifts.other_fields, "settled", _merged),
    Drift("shared", "full", drifts.no_room, "blocked", _left_alone),
)


async def _played(identifier: str, drift: Drift, moment: str, world: World) -> Verdict:
    way = WAYS[drift.way]
    proposed: list[tuple[Acting, str]] = []

    async def act(acting: Acting) -> None:
        stage = acting.stage
        # All of them: no other zone is changed while this one is.
        await come(stage, way, ZonePhase.AWAITING_SIGN_OFF, *stage.names)
        proposed.append((acting, (await stage.play.state(stage.name(CHANGED))).digest))

        async def change() -> None:
            await drift.change(acting, CHANGED)
            acting.told(FAMILY)

        await MOMENTS[moment](acting, change)

    async def holds(stage: Stage) -> list[str]:
        ending = await ending_of(stage, CHANGED)
        found = [] if ending.outcome == drift.outcome else [ending.complaint(f"not {drift.outcome}")]
        return found + await drift.holds(*proposed[0])

    outcomes = frozenset({drift.outcome})
    beside = Beside(act, (FAMILY,), ZONES, first=True, outcomes=outcomes, oracle=holds)
    return await play_beside(identifier, way, beside, world)

"""Everything beside a campaign that can fail: workers, the Temporal server, the archive, the ticket system,
the credential, the service as a whole; at each phase of each way.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from temporalio.client import WorkflowQueryFailedError
from temporalio.service import RPCError

from edgeshift.messages import ZonePhase
from edgeshift.operations.again import begin_again
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect, is_missing
from tests.harness.campaigns.own_server import OwnServer, own_server
from tests.harness.cases import Case, World
from tests.harness.disturbances import Acting, archives, deaths, servers, services, ticketing
from tests.harness.disturbances.phases import come
from tests.harness.disturbances.scenes import Act, Beside, play_beside
from tests.harness.disturbances.ways import IN_PART, PAST_EVERY_TIMEOUT, WAYS, Way
from tests.harness.verdict import Verdict
from tests.kit import OPERATOR, eventually
from tests.kit.faults import Stage

SHORT, LONG = 4.0, 15.0

MAIN = ("professional", "enterprise", "secret", "shared")
"""The ways on which everything beside fails in turn."""


def cases() -> list[Case]:
    """Of every family here."""
    found = []
    for way in (WAYS[name] for name in MAIN):
        for phase in way.phases:
            if phase is ZonePhase.CLOSED:
                continue
            at = f"{way.area}/{way.name}/{phase.value}"
            found += [
                _case(f"dead-workers/{at}", way, phase, _dead),
                _case(f"stopped-workers/{at}", way, phase, _stopped),
                _case(f"archive-gone/{at}", way, phase, _archive_gone),
                _case(f"archive-slow/{at}", way, phase, _archive_slow),
                _case(f"token-revoked/{at}", way, phase, _revoked),
                _case(f"outage/{at}", way, phase, _out),
                _case(f"blocked/{at}", way, phase, _blocked),
                Case(
                    f"server-restart/{at}",
                    "server-restart",
                    2,
                    partial(_restarted, f"server-restart/{at}", way, phase),
                ),
            ]
        found += [
            Case(
                f"archive-corrupt/{way.area}/{way.name}/{what}",
                "archive-corrupt",
                3,
                partial(play, f"archive-corrupt/{way.area}/{way.name}/{what}", way),
            )
            for what, play in (
                ("proposal", _damaged_proposal),
                ("snapshot", _damaged_snapshot),
                ("targets", _damaged_targets),
                ("specification", _damaged_specification),
            )
        ]
    found += [
        Case(f"tickets-down/folder/{seconds:g}", "tickets-down", 3, partial(_no_folder, seconds))
        for seconds in (SHORT, LONG)
    ]
    found += [
        Case(f"tickets-down/webhook/{mode}", "tickets-down", 3, partial(_webhook, mode))
        for mode in ("500", "hang", "lost")
    ]
    return found


async def _dead(acting: Acting) -> None:
    await deaths.all_dead(acting, PAST_EVERY_TIMEOUT)


async def _stopped(acting: Acting) -> None:
    await deaths.stop_in_order(acting)


async def _archive_gone(acting: Acting) -> None:
    await archives.gone(acting, LONG)


async def _archive_slow(acting: Acting) -> None:
    await archives.slow(acting, 2.0, LONG, most=60)


async def _revoked(acting: Acting) -> None:
    await services.revoked(acting, LONG)


async def _out(acting: Acting) -> None:
    await services.out(acting, LONG)


async def _blocked(acting: Acting) -> None:
    await services.blocked(acting, SHORT)


async def signed(stage: Stage, short: str, digest: str) -> None:
    """Sign a zone, as soon as the server takes it."""
    for _ in range(100):
        try:
            await stage.play.sign_zone(stage.name(short), digest=digest)
            return
        except RPCError:
            await asyncio.sleep(0.3)


async def _sign_if_it_waits(stage: Stage, short: str) -> None:
    """So that something is to be done meanwhile, where the others have no more to do."""
    with suppress(RPCError, WorkflowQueryFailedError):
        state = await stage.play.state(stage.name(short))
        if state.phase is ZonePhase.AWAITING_SIGN_OFF:
            await asyncio.sleep(0.5)
            await signed(stage, short, state.digest)


CALLED = frozenset({"token-revoked", "outage", "blocked"})
"""What is met by calls alone, so that somebody has to make some."""

HAPPENS = {
    "dead-workers": "all workers dead",
    "stopped-workers": "worker told to stop",
    "archive-gone": "archive gone",
    "archive-slow": "archive-slow",
    "token-revoked": "token revoked",
    "outage": "outage",
    "blocked": "user blocked",
    "server-restart": "server killed",
}


def _case(identifier: str, way: Way, phase: ZonePhase, do: Act) -> Case:
    return Case(identifier, identifier.partition("/")[0], 3, partial(_at_phase, identifier, way, phase, do))


async def _at_phase(
    identifier: str, way: Way, phase: ZonePhase, do: Act, world: World, server: OwnServer | None = None
) -> Verdict:
    async def act(acting: Acting) -> None:
        stage = acting.stage
        seen = await come(stage, way, phase, *stage.names[:2])
        waits = phase is ZonePhase.AWAITING_SIGN_OFF
        state = await stage.waits(seen[0]) if waits else None
        family, doing = identifier.partition("/")[0], asyncio.ensure_future(do(acting))
        if state is not None:
            # Signed in the middle of it, so that something is to be done meanwhile.
            await asyncio.sleep(0.5)
            await signed(stage, seen[0], state.digest)
        elif family in CALLED and stage.names[-1] not in seen:
            await _sign_if_it_waits(stage, stage.names[-1])
        await doing

    happens = (HAPPENS[identifier.partition("/")[0]],)
    outcomes = IN_PART.get(way.name, frozenset())
    beside = Beside(act, happens, 3, first=True, faults=way.phases[phase], outcomes=outcomes)
    return await play_beside(identifier, way, beside, world, server)


async def _restarted(identifier: str, way: Way, phase: ZonePhase, world: World) -> Verdict:
    async def act(acting: Acting) -> None:
        await servers.kill_server(acting, acting.chance.choice([0.0, SHORT]))

    async with own_server(world.folder / "temporal") as server:
        client = await connect(TemporalSettings(address=server.address), identity="harness")
        own = World(client, server.address, world.folder)
        return await _at_phase(identifier, way, phase, act, own, server)


# --- damaged objects


async def _damaged_proposal(identifier: str, way: Way, world: World) -> Verdict:
    return await _damaged_of_zone("proposal", identifier, way, world)


async def _damaged_snapshot(identifier: str, way: Way, world: World) -> Verdict:
    return await _damaged_of_zone("snapshot", identifier, way, world)


async def _damaged_of_zone(what: str, identifier: str, way: Way, world: World) -> Verdict:
    """What one zone's people are about to sign is damaged: nothing is sent by it, and others go on."""

    async def act(acting: Acting) -> None:
        stage = acting.stage
        await come(stage, way, ZonePhase.AWAITING_SIGN_OFF, "z0")
        state = await stage.play.state(stage.name("z0"))
        damage = archives.Damage(archives.object_path(acting, getattr(state, what)))
        acting.told("object damaged")
        await signed(stage, "z0", state.digest)
        await asyncio.sleep(LONG)
        damage.fix()

    return await play_beside(
        identifier,
        way,
        Beside(act, ("object damaged",), 3, first=True, outcomes=frozenset({"failed"})),
        world,
    )


async def _damaged_targets(identifier: str, way: Way, world: World) -> Verdict:
    """The frozen list is damaged under a running campaign, and put back later: nothing is lost. A zone that
    asks it meanwhile fails, since what is damaged stays so until a person sees to it.
    """

    async def act(acting: Acting) -> None:
        stage = acting.stage
        await come(stage, way, ZonePhase.AWAITING_SIGN_OFF, "z0")
        assert stage.play.start is not None
        damage = archives.Damage(archives.object_path(acting, stage.play.start.targets))
        acting.told("object damaged")
        # Whoever begins to work now has nothing in memory.
        await deaths.all_dead(acting, 0.0)
        await stage.play.sign_zone(stage.name("z0"))
        await asyncio.sleep(LONG)
        damage.fix()

    beside = Beside(act, ("object damaged",), 3, first=True, outcomes=frozenset({"failed"}))
    return await play_beside(identifier, way, beside, world)


async def _has_begun(stage: Stage, short: str) -> bool:
    """Whether a zone's workflow was started."""
    try:
        await stage.play.zone(stage.name(short)).describe()
    except RPCError as why:
        if not is_missing(why):
            raise
        return False
    return True


async def _damaged_specification(identifier: str, way: Way, world: World) -> Verdict:
    """The specification is damaged before anything is read: every zone that has begun ends, and is told why.
    The campaign, which cannot look at any, says so, and gives no place in its window to another one; once it
    is put back it closes, and they are begun again.
    """

    async def act(acting: Acting) -> None:
        stage = acting.stage
        play = stage.play
        await asyncio.sleep(0)
        assert play.start is not None
        damage = archives.Damage(archives.object_path(acting, play.start.spec))
        await deaths.all_dead(acting, 0.0)
        acting.told("object damaged")
        for short in stage.names:
            if short != stage.names[0] and not await _has_begun(stage, short):
                continue
            await stage.phase(short, ZonePhase.CLOSED, within=120)
            ended = await play.zone(stage.name(short)).result()
            if ended.outcome.value == "failed":
                assert "damaged" in ended.reason, ended.reason
                acting.told("zone told why")
        await play.until(lambda seen: any("ArchiveCorrupt: " in note for note in seen.notes), 120)
        whole = all([await _has_begun(stage, short) for short in stage.names])
        damage.fix()
        if whole:
            result = await asyncio.wait_for(play.campaign.result(), 120)
            assert set(result.outcomes) <= {"failed", "settled", "migrated"}, result.outcomes
        else:
            # Those that had no place go on, and wait for people.
            await play.until(lambda seen: seen.places.get("failed", 0) > 0, 120)
        pen = play.pen(OPERATOR)
        await begin_again(play.client, play.spec.name, "retry", by=OPERATOR, places=["failed"], pen=pen)

    return await play_beside(
        identifier, way, Beside(act, ("object damaged", "zone told why"), 3, first=True), world
    )


# --- tickets


async def _no_folder(seconds: float, world: World) -> Verdict:
    async def act(acting: Acting) -> None:
        await ticketing.folder_gone(acting, seconds)

    beside = Beside(act, ("tickets down",), 3, whole=True)
    return await play_beside(f"tickets-down/folder/{seconds:g}", WAYS["support"], beside, world)


async def _webhook(mode: str, world: World) -> Verdict:
    """A ticket system by HTTP that fails for a while: one ticket for each zone at the end."""
    with ticketing.receiving() as receiver:

        async def act(acting: Acting) -> None:
            receiver.folder = acting.stage.play.folder / "state" / "tickets"
            receiver.mode = mode
            await eventually(_failed, 120, "a ticket is refused")
            acting.told("tickets down")
            await asyncio.sleep(SHORT)
            receiver.mode = "ok"

        async def _failed() -> bool:
            return receiver.failed > 0

        terms = {"tickets": {"webhook": receiver.url}}
        beside = Beside(act, ("tickets down",), 3, whole=True, terms=terms)
        return await play_beside(f"tickets-down/webhook/{mode}", WAYS["support"], beside, world)

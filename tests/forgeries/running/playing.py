"""A campaign of an area that is attacked while it runs, in every way there is, and goes on to its end."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.service import RPCError

from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.messages import (
    CampaignSignOff,
    Person,
    ZonePhase,
    ZoneState,
)
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.operations.again import VERBS, begin_again, zones_at
from edgeshift.operations.errors import OperationError
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect, is_missing
from edgeshift.testbed.invariants import check_rules
from edgeshift.testbed.invariants.seen import Signature, Word
from tests.faults_kit import Stage, staged, zone
from tests.foreign_kit import foreign_worker
from tests.forgeries.running import activities, activities_of_areas, archived, foreign, starts, words
from tests.forgeries.running.attack import (
    BOTH,
    ENEMY,
    FINDS_OUT_WITHIN,
    REVOKED_KEY,
    Attack,
    Trace,
    on_record,
    requests,
    sent,
    told_as_ended,
    told_wrong,
)
from tests.forgeries.running.judging import Judge
from tests.forgeries.running.kinds import KINDS
from tests.forgeries.running.listed import AREAS, PHASES, Phase, Try
from tests.forgeries.running.stranger import Stranger, listening
from tests.harness.campaigns.authority import BOTH as TWO_WITH_FOUR_EYES
from tests.harness.campaigns.stages import ESC, LOG_FIELDS, TURNS, esc_zone, log_zone, over
from tests.harness.disturbances.operators import start_again
from tests.kit import APPROVER, OPERATOR
from tests.queue_kit import on_queue

__all__ = [
    "AREAS",
    "KINDS",
    "Attacked",
    "Tried",
    "activities",
    "activities_of_areas",
    "archived",
    "attacked",
    "foreign",
    "starts",
    "words",
]

ABSENT = frozenset({3, 4, 7})
"""Rules that these campaigns have no case of."""

ROSTER = replace(
    TWO_WITH_FOUR_EYES.with_role(OPERATOR, "approver"),
    keys={APPROVER: REVOKED_KEY},
    revoked=((APPROVER, REVOKED_KEY),),
)
"""Two have to approve, and whoever has started it is none of them, though approver of others; one of them has
several keys, of which one was revoked.
"""

LONG = {"expires_after": "3650d", "valid_for": "3650d"}
"""Nothing expires while one attack follows the other."""

AT_ONCE = 3
"""Zones that are attacked at the same time; one more is left alone, and keeps the campaign open."""

PROPOSED = ("digest", "fingerprint", "proposal", "snapshot")
"""What a zone's state says of its proposal."""

BESIDE = 6
"""Attacks at the same time that need no zone which waits."""

BEGINS_AGAIN = 60.0
LEFT_ALONE = 150.0
"""Seconds for zones that begin anew all at once."""

SLOW = 2.5
"""Seconds that a request takes which changes a zone, while others attack."""

CHANGES = {"waf": "entrypoint.put", "esc": "esc.set", "log-fields": "rulesets.put"}
"""The first request of a change."""

WAITS, CHANGED, VALIDATED, BACK = "a", "b", "v", "w"
"""Zones of a campaign that is aborted."""

ENDS_EARLY = (Phase.VALIDATING, Phase.CHANGED, Phase.ABORTED)

LEAST_WINDOW, A_TRY = 10.0, 1.0
"""Seconds of a validation window, and what is added for each attack."""

MOST_AGAIN = 3
"""How often people begin zones again at the end that were ended in between."""

DONE = {"waf": "migrated", "esc": "settled", "log-fields": "settled"}

FAILED = (ZoneOutcome.FAILED, ZoneOutcome.UNKNOWN)
"""Outcomes that people retry; others they reopen."""


@dataclass
class Tried:
    """What was tried against running campaigns. ``counted``: led to a step forward, or to a secret that was
    told; ``told_wrong``: to an outcome that the service does not show; ``unrecorded``: left no trace;
    ``held_up``: kept a zone or the campaign from going on; ``records``: where each left one; ``phases``:
    how many in each; ``asked``: requests that the enemy's server was sent.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    counted: list[str] = field(default_factory=list)
    told_wrong: list[str] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    held_up: list[str] = field(default_factory=list)
    records: Counter[str] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)
    asked: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether every campaign went on."""
        return not self.held_up


@dataclass
class Attacked:
    """A running campaign, and the enemy beside it."""

    stage: Stage
    enemy: Client
    stranger: FileSigner
    tried: Tried
    area: str
    own: str
    listening: AsyncExitStack
    judge: Judge
    theirs: set[str] = field(default_factory=set)
    proposed: dict[str, ZoneState] = field(default_factory=dict)
    servers: dict[str, list[Stranger]] = field(default_factory=lambda: defaultdict(list))

    async def _attack(self, said: str, short: str, state: ZoneState) -> Attack:
        """With a server of its own, which listens to the end: somebody may still ask it when all is over.
        Where a zone proposes nothing now, the enemy's messages have what it proposed last.
        """
        if state.digest:
            self.proposed[short] = state
        elif short in self.proposed:
            state = self.proposed[short]
        else:
            state = state.model_copy(update=dict.fromkeys(PROPOSED, "0" * 64))
        server = await self.listening.enter_async_context(listening())
        self.servers[said].append(server)
        return Attack(self.stage, self.enemy, short, self.stranger, state, self.theirs, self.own, server)

    async def one(self, name: str, short: str) -> None:
        """One attack on a zone that waits for its sign-off, which waits for it again afterwards."""
        said = f"{self.area}: {name}"
        state = await self.stage.waits(short, LEFT_ALONE)
        attack = await self._attack(said, short, state)
        try:
            trace = await KINDS[name].work(attack)
            await attack.rests()
            attack.put_right()
            zone_id = self.stage.id(short)
            if any(request.zone == zone_id for request in await sent(self.stage)):
                self.tried.counted.append(said)
            await self._judged(said, Phase.WAITING, attack, trace)
            await self.begun_again(short)
            await self.stage.waits(short, BEGINS_AGAIN)
        except (AssertionError, RPCError) as why:
            self.tried.held_up.append(f"{said}: {why}"[:300])
            await self._put_right(short)

    async def beside(self, name: str, short: str, phase: Phase) -> None:
        """One attack that needs no zone which waits. Nothing is sent meanwhile, but while people have changes
        made.
        """
        said = f"{self.area}, {phase.value}: {name}"
        play, zone_name = self.stage.play, self.stage.name(short)
        try:
            state = await play.state(zone_name)
        except (RPCError, WorkflowQueryFailedError):
            # Somebody else's workflow has taken its id, now that it is free.
            state = play.looked[zone_name]
        if phase is Phase.COMMITTING and state.phase is ZonePhase.CLOSED:
            phase = Phase.CLOSED
        attack = await self._attack(said, short, state)
        try:
            trace = await KINDS[name].work(attack)
        except RPCError:
            # What has ended takes no message.
            trace = "refused"
        await self._judged(said, phase, attack, trace)

    async def _judged(self, said: str, phase: Phase, attack: Attack, trace: Trace) -> None:
        tried, judge = self.tried, self.judge
        tried.kinds[said.partition(": ")[2]] += 1
        tried.phases[phase.value] += 1
        if record := await on_record(trace):
            tried.records[record] += 1
        else:
            tried.unrecorded.append(said)
        found = await judge.counted(attack.permits, signed=phase is Phase.COMMITTING)
        found += await judge.leaked(attack.server)
        tried.counted += [f"{said}: {text}" for text in found]
        wrong = await judge.untrue(attack.touched)
        if phase not in (Phase.COMMITTING, Phase.CLOSED):
            # The last words of zones come before their ends; at its own end a campaign is judged as a whole.
            wrong += judge.new(await told_wrong(self.stage))
        tried.told_wrong += [f"{said}: {text}" for text in wrong]

    async def all_beside(self, tries: Sequence[Try], shorts: Sequence[str], *, quiet: bool = True) -> None:
        """Attacks side by side. ``quiet``: nothing at all is changed meanwhile."""
        before = await self._changes()
        at_once = asyncio.Semaphore(BESIDE)

        async def one(place: int, asked: Try) -> None:
            async with at_once:
                await self.beside(asked.kind, shorts[place % len(shorts)], asked.phase)

        await asyncio.gather(*(one(place, asked) for place, asked in enumerate(tries)))
        if quiet and (more := await self._changes() - before):
            phase = tries[0].phase.value if tries else ""
            self.tried.counted.append(f"{self.area}, {phase}: {more} requests that change something")

    async def _changes(self) -> int:
        return sum(request.mutates for request in await requests(self.stage))

    async def _put_right(self, short: str) -> None:
        """A zone that does not go on by itself is ended by hand, and begun again."""
        with suppress(RPCError):
            await self.stage.play.zone(self.stage.name(short)).terminate("by hand")
        await asyncio.sleep(1)
        await self.begun_again(short)

    async def begun_again(self, short: str) -> None:
        """People begin a zone again that has come to an end, as they would who are told of it."""
        play, name = self.stage.play, self.stage.name(short)
        limit = asyncio.get_running_loop().time() + BEGINS_AGAIN
        while not await self._is_open(name) or await self._given_up(name):
            # The campaign may not have heard of it yet, and of one that was ended by hand it has to find out.
            if await play.is_closed():
                await self._all_begun_again()
                continue
            for verb in await self._verbs(name):
                with suppress(WorkflowUpdateFailedError, RPCError):
                    await play.again(verb, name)
            if asyncio.get_running_loop().time() > limit:
                raise AssertionError(f"{short} is not begun again")
            await asyncio.sleep(0.5)

    async def _verbs(self, name: str) -> tuple[Literal["retry", "reopen"], ...]:
        """With which word people begin a zone again, by how it has ended; any, where nobody knows that."""
        with suppress(RPCError, WorkflowQueryFailedError):
            if (outcome := (await self.stage.play.state(name)).outcome) is not None:
                return ("retry",) if outcome in FAILED else ("reopen",)
        return "retry", "reopen"

    async def _given_up(self, name: str) -> bool:
        """Whether the campaign tells a zone as ended that is open, and goes on saying so: whoever looks after
        Temporal ends its workflow.
        """
        index = self.stage.play.index(name)
        for _ in range(FINDS_OUT_WITHIN):
            if index not in await told_as_ended(self.stage):
                return False
            await asyncio.sleep(1)
        with suppress(RPCError):
            await self.stage.play.zone(name).terminate("by hand")
        return True

    async def _is_open(self, name: str) -> bool:
        try:
            described = await self.stage.play.zone(name).describe()
        except RPCError as why:
            # It was not begun yet.
            return is_missing(why)
        if described.status is not WorkflowExecutionStatus.RUNNING:
            return False
        with suppress(RPCError, WorkflowQueryFailedError):
            return (await self.stage.play.state(name)).phase is not ZonePhase.CLOSED
        return False

    async def all_of(self, names: Sequence[str]) -> None:
        """Attacks of these kinds, on some zones side by side, each after the other."""
        shorts = self.stage.names[:-1]

        async def on(place: int) -> None:
            for name in names[place :: len(shorts)]:
                await self.one(name, shorts[place])

        await asyncio.gather(*map(on, range(len(shorts))))

    # --- what a campaign does not come back from by itself

    async def aborted_by_nobody(self) -> None:
        """Whoever holds Temporal can end a campaign there. Its people start it again, signed anew."""
        await self.enemy.get_workflow_handle(self.stage.play.campaign.id).execute_update(
            "abort", Person(by=ENEMY)
        )
        await asyncio.wait_for(self.stage.play.result(), BEGINS_AGAIN)
        await self._whole("an_abort_by_nobody")
        await start_again(self.stage)
        for short in self.stage.names:
            await self.begun_again(short)
            await self.stage.waits(short, LEFT_ALONE)

    async def book_of_nobodys(self) -> None:
        """Sign-offs of what all zones propose, by update, in the approvers' names: every zone comes to the
        door, and none goes by it. People sign then, and begin them again.
        """
        play = self.stage.play
        fingerprints = tuple(dict.fromkeys(group.fingerprint for group in (await play.summary()).waiting))
        campaign = self.enemy.get_workflow_handle(play.campaign.id)
        for name in BOTH:
            said = CampaignSignOff(choice=Choice.APPROVE, fingerprints=fingerprints, by=name, reason=ENEMY)
            await campaign.execute_update("sign_off", said)
        for short in self.stage.names:
            await self.stage.phase(short, ZonePhase.CLOSED, within=BEGINS_AGAIN)
        await self._whole("sign_offs_in_the_approvers_names")
        await play.sign_by_key(fingerprints, Choice.APPROVE, BOTH)
        now = play.now()
        play.signatures += [
            Signature(by=by, choice="approve", digest=one, at=now) for by in BOTH for one in fingerprints
        ]

    async def _whole(self, name: str) -> None:
        """What came of an attack on the whole campaign."""
        self.tried.kinds[name] += 1
        self.tried.records[await on_record(self.stage.play.campaign) or "none"] += 1
        if await sent(self.stage):
            self.tried.counted.append(f"{self.area}: {name}")
        wrong = await told_wrong(self.stage)
        self.tried.told_wrong += [f"{self.area}: {name}: {text}" for text in wrong]

    async def paused(self, tries: Sequence[Try]) -> None:
        """The campaign is paused by a signed word, and of one zone everything is signed that it takes; people
        have it go on.
        """
        play, short = self.stage.play, self.stage.names[0]
        await self._all_wait()
        await play.ask("pause", "lunch")
        attack = await self._attack("", short, await self.stage.waits(short, LEFT_ALONE))
        for name in BOTH:
            await attack.genuine(name)
        at = play.now()
        play.signatures += [
            Signature(by=by, choice="approve", digest=attack.state.digest, at=at, zone=attack.state.zone.id)
            for by in BOTH
        ]
        await self.all_beside(tries, self.stage.names)
        await play.ask("resume")

    async def ends(self, tries: Sequence[Try] = ()) -> None:
        """The campaign goes on: people sign, every zone is changed, and every rule holds. ``tries``: what the
        enemy does meanwhile.
        """
        stage, play = self.stage, self.stage.play
        await self._all_wait()
        if tries:
            for short in stage.names:
                await stage.fault("latency", CHANGES[self.area], short, seconds=SLOW)
            finished = asyncio.create_task(stage.finish(LEFT_ALONE))
            await stage.phase(stage.names[0], ZonePhase.COMMITTING, ZonePhase.CLOSED, within=LEFT_ALONE)
            await self.all_beside(tries, stage.names, quiet=False)
            result = await finished
        else:
            result = await stage.finish(180)
        for _ in range(MOST_AGAIN):
            if result.outcomes == {DONE[self.area]: len(stage.names)}:
                break
            await self._all_begun_again()
            result = await stage.finish(LEFT_ALONE)
        else:
            self.tried.held_up.append(f"{self.area}: at the end: {result.outcomes}")
        seen = await play.checkers()
        # What the enemy has started is no migration of the campaign's; what it sent is in the journal.
        ours = tuple(one for one in seen.executions if one.run not in self.theirs)
        checks = check_rules(seen.model_copy(update={"executions": ours}), absent=ABSENT)
        self.tried.told_wrong += [
            f"{self.area}: at the end: rule {check.rule}: {text}"
            for check in checks
            for text in check.violations
        ]

    async def _all_wait(self) -> None:
        """Every zone waits for its sign-off: people begin those again that the enemy has ended, also where
        the campaign has closed by that.
        """
        for short in self.stage.names:
            await self.begun_again(short)
            await self.stage.waits(short, LEFT_ALONE)

    async def _all_begun_again(self) -> None:
        """People begin those zones again that have ended otherwise than they were to, as a closed campaign
        tells of them.
        """
        play = self.stage.play
        for verb, outcomes in VERBS.items():
            places = sorted(one.value for one in outcomes)
            found = await zones_at(play.client, play.spec.name, places)
            if not (indexes := [target.index for target in found.targets]):
                continue
            zones = [play.targets[index].zone.id for index in indexes]
            play.words += [
                Word(by=OPERATOR, at=play.now(), zone=one, reopens=verb == "reopen") for one in zones
            ]
            with suppress(OperationError):
                await begin_again(
                    play.client,
                    play.spec.name,
                    verb,
                    by=OPERATOR,
                    reason="again",
                    indexes=indexes,
                    places=places,
                    pen=play.pen(OPERATOR),
                    zones=zones,
                )
        self.stage.forget_signed()

    async def told_later(self) -> None:
        """What the enemy's servers were told once their attacks were over."""
        for said, servers in self.servers.items():
            self.tried.asked += sum(len(server.heard) for server in servers)
            for server in servers:
                self.tried.counted += [f"{said}: {text}" for text in await self.judge.leaked(server)]


def _fleet(area: str, names: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Zones of an area that propose the same, and the campaign's terms."""
    if area == "esc":
        return [esc_zone(name, worse=name == BACK) for name in names], ESC
    if area == "log-fields":
        return [log_zone(name, foreign=True) for name in names], LOG_FIELDS
    return [zone(name, "enterprise" if name == VALIDATED else "pro") for name in names], {}


@asynccontextmanager
async def _beside_a_campaign(
    client: Client, folder: Path, area: str, names: Sequence[str], tried: Tried, **more: Any
) -> AsyncIterator[Attacked]:
    """A running campaign of these zones whose workers know one service alone, and the enemy beside it."""
    zones, terms = _fleet(area, names)
    address = client.service_client.config.target_host
    async with (
        AsyncExitStack() as servers,
        staged(
            client,
            folder,
            *zones,
            authority=ROSTER,
            sign_off={**ROSTER.policy, **LONG},
            paced=True,
            **over(terms, commit=TURNS, **more),
        ) as stage,
    ):
        assert stage.play.keys is not None
        stage.play.keys.write(replace(ROSTER, service=stage.play.spec.service.base_url))
        connected = await connect(TemporalSettings(address=address), identity=ENEMY)
        enemy = on_queue(connected, f"faults-{stage.tag}")
        async with foreign_worker(enemy) as own, _visited(stage, area):
            key = FileSigner(PrivateKey.made())
            play = Attacked(stage, enemy, key, tried, area, own, servers, Judge(stage))
            yield play
            await play.told_later()


async def attacked(
    client: Client,
    folder: Path,
    area: str,
    tries: Sequence[Try],
    tried: Tried,
    *,
    whole: bool = True,
    at_once: int = AT_ONCE,
) -> None:
    """Attack campaigns of an area in these ways, and have them go on. ``whole``: whether one is ended and
    signed in others' names as well. ``at_once``: zones that are attacked at the same time.
    """
    by_phase = {phase: [one for one in tries if one.phase is phase] for phase in PHASES[area]}
    names = [f"z{number}" for number in range(at_once + 1)]
    async with _named(tried, area), _beside_a_campaign(client, folder / "long", area, names, tried) as play:
        await play.all_of([one.kind for one in by_phase[Phase.WAITING]])
        if whole:
            await play.aborted_by_nobody()
            await play.book_of_nobodys()
        if by_phase[Phase.PAUSED]:
            await play.paused(by_phase[Phase.PAUSED])
        await play.ends(by_phase[Phase.COMMITTING])
        await play.all_beside(by_phase[Phase.CLOSED], names)
    if any(by_phase.get(phase) for phase in ENDS_EARLY):
        async with _named(tried, area):
            await _ended_early(client, folder / "short", area, by_phase, tried)


@asynccontextmanager
async def _named(tried: Tried, area: str) -> AsyncIterator[None]:
    """A campaign that does not go on is named; the others are attacked all the same."""
    try:
        yield
    except Exception as why:
        tried.held_up.append(f"{area}: {type(why).__name__}: {why}"[:500])


async def _ended_early(
    client: Client,
    folder: Path,
    area: str,
    by_phase: Mapping[Phase, Sequence[Try]],
    tried: Tried,
) -> None:
    """A campaign of which one zone is validated, where its area validates; one is changed, and one of esc
    taken back; and which people then abort.
    """
    validating = by_phase.get(Phase.VALIDATING, ())
    names = [*([VALIDATED] if area == "waf" else ()), WAITS, CHANGED, *([BACK] if area == "esc" else ())]
    window = f"{4 * round(LEAST_WINDOW + A_TRY * len(validating))}h"
    more = {"validation": {"window": window}} if area == "waf" else {}
    async with _beside_a_campaign(client, folder, area, names, tried, **more) as play:
        stage = play.stage
        if validating:
            await stage.phase(VALIDATED, ZonePhase.VALIDATING)
            await play.all_beside(validating, [VALIDATED])
        for short in names[names.index(CHANGED) :]:
            await stage.waits(short, LEFT_ALONE)
            await stage.play.sign_zone(stage.name(short))
            await stage.outcome(short, LEFT_ALONE)
        await stage.waits(WAITS, LEFT_ALONE)
        await play.all_beside(by_phase[Phase.CHANGED], names)
        # The enemy may have ended the one that waits, and with it the campaign.
        await play.begun_again(WAITS)
        await stage.play.ask("abort", "enough")
        await stage.play.result()
        await play.all_beside(by_phase[Phase.ABORTED], names)


def _visited(stage: Stage, area: str) -> AbstractAsyncContextManager[None]:
    """Visitors come, whose entries are to show the fields."""
    if area == "log-fields":
        return stage.play.visited(*map(stage.name, stage.names), count=4, every=1)
    return nullcontext()

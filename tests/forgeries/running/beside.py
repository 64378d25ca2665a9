"""What an enemy does beside a running campaign, and what came of it."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from temporalio.client import Client, WorkflowQueryFailedError
from temporalio.service import RPCError

from edgeshift.authority.signing import FileSigner
from edgeshift.messages import CampaignSignOff, Person, ZonePhase, ZoneState
from edgeshift.model.sign_off import Choice
from edgeshift.testbed.invariants import check_rules
from edgeshift.testbed.invariants.seen import Signature
from tests.forgeries.running.attack import BOTH, ENEMY, Attack, Trace, on_record, requests, sent
from tests.forgeries.running.begun_again import (
    BEGINS_AGAIN,
    LEFT_ALONE,
    all_begun_again,
    all_wait,
    begun_again,
    put_right,
)
from tests.forgeries.running.judging import Judge
from tests.forgeries.running.kinds import KINDS
from tests.forgeries.running.listed import Phase, Try
from tests.forgeries.running.stranger import Stranger, listening
from tests.forgeries.running.told import told_as_nothing, told_wrong
from tests.harness.disturbances.operators import start_again
from tests.kit.faults import Stage

ABSENT = frozenset({3, 4, 7})
"""Rules that these campaigns have no case of."""

PROPOSED = ("digest", "fingerprint", "proposal", "snapshot")
"""What a zone's state says of its proposal."""

BESIDE = 6
"""Attacks at the same time that need no zone which waits."""

SLOW = 2.5
"""Seconds that a request takes which changes a zone, while others attack."""

CHANGES = {"waf": "entrypoint.put", "esc": "esc.set", "log-fields": "rulesets.put"}
"""The first request of a change."""

MOST_AGAIN = 3
"""How often people begin zones again at the end that were ended in between."""

DONE = {"waf": "migrated", "esc": "settled", "log-fields": "settled"}


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
            await begun_again(self.stage, short)
            await self.stage.waits(short, BEGINS_AGAIN)
        except (AssertionError, RPCError) as why:
            self.tried.held_up.append(f"{said}: {why}"[:300])
            await put_right(self.stage, short)

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
            wrong += judge.new(await told_wrong(self.stage, self.theirs))
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
            await begun_again(self.stage, short)
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
        wrong = await told_wrong(self.stage, self.theirs)
        self.tried.told_wrong += [f"{self.area}: {name}: {text}" for text in wrong]

    async def paused(self, tries: Sequence[Try]) -> None:
        """The campaign is paused by a signed word, and of one zone everything is signed that it takes; people
        have it go on.
        """
        play, short = self.stage.play, self.stage.names[0]
        await all_wait(self.stage)
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
        await all_wait(self.stage)
        if tries:
            for short in stage.names:
                await stage.fault("latency", CHANGES[self.area], short, seconds=SLOW)
            finished = asyncio.create_task(stage.finish(LEFT_ALONE))
            await stage.phase(stage.names[0], ZonePhase.COMMITTING, ZonePhase.CLOSED, within=LEFT_ALONE)
            await self.all_beside(tries, stage.names, quiet=False)
            result = await finished
        else:
            result = await stage.finish(180)
        # Before people begin again what was ended in between.
        self.tried.told_wrong += [f"{self.area}: at the end: {text}" for text in await told_as_nothing(stage)]
        for _ in range(MOST_AGAIN):
            if result.outcomes == {DONE[self.area]: len(stage.names)}:
                break
            await all_begun_again(self.stage)
            result = await stage.finish(LEFT_ALONE)
        else:
            self.tried.held_up.append(f"{self.area}: at the end: {result.outcomes}")
        seen = await play.checkers()
        # What the enemy has started is no migration of the campaign's; what it sent is in the journal.
        ours = tuple(one for one in seen.executions if one.run not in self.theirs)
        # So it is with a hold: none of these campaigns has an account whose zones are held with it.
        seen = seen.model_copy(update={"executions": ours, "holds": ()})
        checks = check_rules(seen, absent=ABSENT)
        self.tried.told_wrong += [
            f"{self.area}: at the end: rule {check.rule}: {text}"
            for check in checks
            for text in check.violations
        ]

    async def told_later(self) -> None:
        """What the enemy's servers were told once their attacks were over."""
        for said, servers in self.servers.items():
            self.tried.asked += sum(len(server.heard) for server in servers)
            for server in servers:
                self.tried.counted += [f"{said}: {text}" for text in await self.judge.leaked(server)]

"""A campaign of an area that is attacked while it runs, in every way there is, and goes on to its end."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.service import RPCError

from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.messages import CampaignSignOff, Person, ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.invariants import check_rules
from edgeshift.testbed.invariants.seen import Signature
from tests.faults_kit import Stage, staged, zone
from tests.forgeries.running import archived, foreign, words
from tests.forgeries.running.attack import (
    BOTH,
    ENEMY,
    REVOKED_KEY,
    Attack,
    on_record,
    sent,
    told_wrong,
)
from tests.forgeries.running.kinds import KINDS
from tests.harness.campaigns.authority import BOTH as TWO_WITH_FOUR_EYES
from tests.harness.campaigns.stages import ESC, LOG_FIELDS, esc_zone, log_zone
from tests.harness.disturbances.operators import start_again
from tests.kit import APPROVER, OPERATOR
from tests.queue_kit import on_queue

__all__ = [
    "AREAS",
    "KINDS",
    "Attacked",
    "Tried",
    "archived",
    "attacked",
    "foreign",
    "mixed",
    "words",
]

AREAS = ("waf", "esc", "log-fields")
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

BEGINS_AGAIN = 150.0


@dataclass
class Tried:
    """What was tried against running campaigns. ``counted``: led to a step forward; ``told_wrong``: to an
    outcome that the service does not show; ``unrecorded``: left no trace; ``records``: where each left one.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    counted: list[str] = field(default_factory=list)
    told_wrong: list[str] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    records: Counter[str] = field(default_factory=Counter)
    goes_on: bool = True


@dataclass
class Attacked:
    """A running campaign, and the enemy beside it."""

    stage: Stage
    enemy: Client
    stranger: FileSigner
    tried: Tried
    area: str
    theirs: set[str] = field(default_factory=set)

    async def one(self, name: str, short: str) -> None:
        """One attack on a zone that waits for its sign-off, which waits for it again afterwards."""
        state = await self.stage.waits(short, BEGINS_AGAIN)
        attack = Attack(self.stage, self.enemy, short, self.stranger, state, self.theirs)
        trace = await KINDS[name].work(attack)
        await attack.rests()
        attack.put_right()
        said = f"{self.area}: {name}"
        self.tried.kinds[name] += 1
        record = await on_record(trace)
        if record:
            self.tried.records[record] += 1
        else:
            self.tried.unrecorded.append(said)
        zone_id = self.stage.id(short)
        if any(request.zone == zone_id for request in await sent(self.stage)):
            self.tried.counted.append(said)
        self.tried.told_wrong += [f"{said}: {text}" for text in await told_wrong(self.stage)]
        await self.begun_again(short)

    async def begun_again(self, short: str) -> None:
        """People begin a zone again that has come to an end, as they would who are told of it."""
        play, name = self.stage.play, self.stage.name(short)
        limit = asyncio.get_running_loop().time() + BEGINS_AGAIN
        while (state := await play.state(name)).phase is ZonePhase.CLOSED:
            failed = state.outcome in (ZoneOutcome.FAILED, ZoneOutcome.UNKNOWN)
            # The campaign may not have heard of it yet.
            with suppress(WorkflowUpdateFailedError, RPCError):
                await play.again("retry" if failed else "reopen", name)
            if asyncio.get_running_loop().time() > limit:
                raise AssertionError(f"{short} is not begun again: {state.outcome} {state.why}")
            await asyncio.sleep(0.5)

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
            await self.stage.waits(short, BEGINS_AGAIN)

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

    async def ends(self) -> None:
        """The campaign goes on: people sign, every zone is changed, and every rule holds."""
        result = await self.stage.finish(180)
        done = {"waf": "migrated", "esc": "settled", "log-fields": "settled"}[self.area]
        if result.outcomes != {done: len(self.stage.names)}:
            self.tried.goes_on = False
            self.tried.told_wrong.append(f"{self.area}: at the end: {result.outcomes}")
        seen = await self.stage.play.checkers()
        # What the enemy has started is no migration of the campaign's; what it sent is in the journal.
        ours = tuple(one for one in seen.executions if one.run not in self.theirs)
        checks = check_rules(seen.model_copy(update={"executions": ours}), absent=ABSENT)
        broken = [f"rule {check.rule}: {text}" for check in checks for text in check.violations]
        assert not broken, "\n".join(broken)


def _fleet(area: str, zones: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Zones of an area that propose the same, and the campaign's terms."""
    names = [f"z{number}" for number in range(zones)]
    if area == "esc":
        return [esc_zone(name) for name in names], ESC
    if area == "log-fields":
        return [log_zone(name, foreign=True) for name in names], LOG_FIELDS
    return [zone(name) for name in names], {}


async def attacked(
    client: Client, folder: Path, area: str, kinds: Sequence[str], tried: Tried, *, whole: bool = True
) -> None:
    """Attack a campaign of an area with these kinds, as far as they are for it, and have it go on. ``whole``:
    whether it is ended and signed in others' names as well.
    """
    zones, terms = _fleet(area, AT_ONCE + 1)
    address = client.service_client.config.target_host
    async with staged(
        client, folder, *zones, authority=ROSTER, sign_off={**ROSTER.policy, **LONG}, **terms
    ) as stage:
        connected = await connect(TemporalSettings(address=address), identity=ENEMY)
        enemy = on_queue(connected, f"faults-{stage.tag}")
        play = Attacked(stage, enemy, FileSigner(PrivateKey.made()), tried, area)
        async with _visited(stage, area):
            await play.all_of([name for name in kinds if area in KINDS[name].areas])
            if whole:
                await play.aborted_by_nobody()
                await play.book_of_nobodys()
            await play.ends()


def _visited(stage: Stage, area: str) -> AbstractAsyncContextManager[None]:
    """Visitors come, whose entries are to show the fields."""
    if area == "log-fields":
        return stage.play.visited(*map(stage.name, stage.names), count=4, every=1)
    return nullcontext()


def mixed(kinds: Sequence[str], count: int, chance: random.Random) -> list[str]:
    """So many kinds: each at least once where there is room, in an order by chance."""
    some = list(kinds) * (count // len(kinds)) + chance.sample(list(kinds), count % len(kinds))
    chance.shuffle(some)
    return some

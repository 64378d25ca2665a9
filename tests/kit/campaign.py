"""A scene's campaign and its zones: beginning it, looking at it, steering it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.start import campaign_start
from edgeshift.campaign.target_states import TargetState
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import (
    Answer,
    CampaignResult,
    CampaignStart,
    CampaignSummary,
    Person,
    ReportKind,
    ResolvedTargets,
    ResolveTargets,
    ZoneReport,
    ZoneResult,
    ZoneState,
)
from edgeshift.model.fleet import Target, ZoneOutcome, campaign_id
from edgeshift.operations.pen import Pen, SteeringWord
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import Settings
from edgeshift.stores.archive import Archive
from edgeshift.stores.identity import identity_of
from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.invariants.executions import load_executions
from edgeshift.testbed.invariants.seen import Execution, Signature, StopRecord, Word
from edgeshift.testbed.simulator.fleet_file import Fleet
from edgeshift.testbed.simulator.server import RunningSimulator
from tests.kit.clock import Looks, SkippedClock
from tests.kit.names import APPROVER, OPERATOR
from tests.kit.signing import Keys, insisted
from tests.kit.stored import put_json

Result = TypeVar("Result")


@dataclass
class CampaignScene:
    """A simulator and a campaign, with a record of what its people did."""

    client: Client
    simulator: RunningSimulator
    folder: Path
    fleet: Fleet
    settings: Settings
    spec: CampaignSpec
    archive: Archive
    start: CampaignStart | None = None
    targets: list[Target] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    stops: list[StopRecord] = field(default_factory=list)
    accepted: list[datetime] = field(default_factory=list)
    """When somebody resumed what nobody had paused, and so accepted the zones that had failed."""
    strangers: frozenset[str] = frozenset()
    lists: bool = True
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When the scene was set: what began earlier on a server that several share is another scene's."""
    clock: SkippedClock | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    keys: Keys | None = None
    """Of the people, where they sign with keys."""
    looked: dict[str, ZoneState] = field(default_factory=dict)
    """The last state that was seen of each zone, by its name: what people sign who get no answer now."""

    # --- the campaign

    @property
    def control(self) -> Control:
        """The simulator's control API."""
        return Control(self.simulator.control_url)

    @property
    def campaign(self) -> WorkflowHandle[Any, CampaignResult]:
        """The campaign's workflow."""
        return self.client.get_workflow_handle(campaign_id(self.spec.name), result_type=CampaignResult)

    @property
    def approvers(self) -> tuple[str, ...]:
        """Who signs where nobody is named: as many as it takes."""
        return self.keys.roster.approvers if self.keys else (APPROVER,)

    def pen(self, by: str) -> Pen | None:
        """Whoever signs with a person's key; None in a rehearsal without keys."""
        return self.keys.pen(self.archive, by) if self.keys else None

    async def begin(
        self,
        *,
        most_events: int | None = None,
        meanwhile: Callable[[], Awaitable[object]] | None = None,
        signs: bool = True,
    ) -> None:
        """List the targets and start the campaign. ``most_events``: of one run, if not as many as usual;
        ``meanwhile``: what is done once the targets are listed and signed. ``signs``: whether its operator
        signs the start.
        """
        digest = await put_json(self.archive, self.spec.model_dump(mode="json"))
        frozen = await self.client.execute_workflow(
            "TargetList",
            ResolveTargets(spec=digest),
            id=f"targets/{self.spec.name}",
            task_queue=Queue.CONTROL,
            result_type=ResolvedTargets,
        )
        self.start = campaign_start(
            self.spec,
            digest,
            targets=frozen.targets,
            count=frozen.count,
            waves=frozen.waves,
            enterprise=frozen.enterprise,
            covers=frozen.covers,
            callers=frozen.callers,
            started_by=OPERATOR,
            archive=await identity_of(self.archive),
        )
        if signs:
            await self.sign_start()
        if meanwhile is not None:
            await meanwhile()
        if most_events is not None:
            self.start = self.start.model_copy(update={"most_events": most_events})
        self.targets = [Target.model_validate(item) for item in await self.archive.get_json(frozen.targets)]
        await self.client.start_workflow(
            "Campaign",
            args=self.start.arguments(),
            id=campaign_id(self.spec.name),
            task_queue=Queue.CONTROL,
        )

    async def sign_start(self) -> None:
        """Sign that the campaign begins, as it was listed, where people have keys."""
        if (pen := self.pen(OPERATOR)) is not None:
            start, spec = self.start, self.spec
            assert start is not None
            await insisted(lambda: pen.start(start, spec))

    async def sign_word(self, word: SteeringWord, reason: str = "", by: str = OPERATOR) -> None:
        """Record an operator's signed word, and tell nobody, where people have keys."""
        if (pen := self.pen(by)) is not None:
            assert self.start is not None
            name, spec = self.spec.name, self.start.spec
            await insisted(lambda: pen.word(name, spec, word, reason))

    async def summary(self) -> CampaignSummary:
        """The campaign as it stands."""
        found: CampaignSummary = await self.campaign.query("summary", result_type=CampaignSummary)
        return found

    async def is_closed(self) -> bool:
        """Whether the campaign's workflow has ended by itself, as the server says."""
        described = await self.campaign.describe()
        ended_by_hand = described.status is WorkflowExecutionStatus.TERMINATED
        return described.close_time is not None and not ended_by_hand

    async def excluded(self) -> set[int]:
        """The targets that the campaign left to others; of a closed one, out of its result."""
        if not await self.is_closed():
            return set((await self.summary()).excluded)
        return set((await self._ledger()).indexes(TargetState.EXCLUDED))

    async def _ledger(self) -> Ledger:
        """What the closed campaign has of its targets."""
        result = await self.result()
        ledger = Ledger(len(self.targets), self.now(), timedelta(seconds=1))
        assert result.carried is not None
        ledger.unpack(result.carried.ledger)
        return ledger

    async def named(self) -> dict[str, str]:
        """The outcomes that the closed campaign gives its targets, by their identifiers: its only word of
        those whose workflows somebody ended by hand.
        """
        if not await self.is_closed():
            return {}
        places, outcomes = (await self._ledger()).places, {one.value for one in ZoneOutcome}
        found = {}
        for index, target in enumerate(self.targets):
            if (name := TargetState(places[index]).name.lower()) in outcomes:
                found[target.zone.id] = name
        return found

    async def _executions(self) -> tuple[Execution, ...]:
        """Every execution. One that was ended by hand, after which none was begun, has the outcome under
        which the campaign names it.
        """
        found, named = await load_executions(self.client, self.since), await self.named()
        last = {one.zone: one.run for one in sorted(found, key=lambda one: one.started_at)}
        return tuple(
            one.model_copy(update={"outcome": named.get(one.zone)})
            if one.closed_at and one.outcome is None and last[one.zone] == one.run
            else one
            for one in found
        )

    async def result(self) -> CampaignResult:
        """The campaign's end."""
        return await self._ended(self.campaign)

    async def until(self, holds: Callable[[CampaignSummary], bool], within: float = 60.0) -> CampaignSummary:
        """The summary once ``holds`` says yes. Fails after ``within`` real seconds."""
        limit, looks = asyncio.get_running_loop().time() + within, Looks()
        while True:
            found = await self.summary()
            if holds(found):
                return found
            if asyncio.get_running_loop().time() > limit:
                raise AssertionError(f"not within {within:g} s; places {found.places}, notes {found.notes}")
            await looks.pause()

    async def ask(
        self, update: Literal["pause", "resume", "abort"], reason: str = "", key: str | None = None
    ) -> Answer:
        """Pause, resume or abort, and keep a record of when it was asked and answered. What is asked again
        with the same ``key`` is done once.
        """
        asked = self.now()
        await self.sign_word(update, reason)
        try:
            answer: Answer = await self.campaign.execute_update(
                update, Person(by=OPERATOR, reason=reason), id=key, result_type=Answer
            )
        except BaseException:
            if update == "pause":
                # Nobody knows that it is paused, so that nobody will resume it: no signed word is to say so.
                await self.sign_word("resume", "it is not known to be paused")
            raise
        if update == "resume":
            last = self.stops[-1] if self.stops else None
            if last is not None and last.kind == "pause" and last.resumed_at is None:
                self.stops[-1] = last.model_copy(update={"resumed_at": asked})
            else:
                self.accepted.append(asked)
        else:
            self.stops.append(
                StopRecord(
                    campaign=self.spec.name, kind=update, by=OPERATOR, asked_at=asked, answered_at=self.now()
                )
            )
        return answer

    async def _ended(self, handle: WorkflowHandle[Any, Result]) -> Result:
        """A workflow's result. On skipped time the end is looked for, since the long poll of that server
        may come back empty on a busy machine.
        """
        if self.clock is not None:
            for _ in range(5_000):
                if (await handle.describe()).close_time is not None:
                    break
                await self.clock.skip(timedelta(minutes=2))
        return await handle.result()

    # --- zones

    def index(self, name: str) -> int:
        """A zone's index by its name."""
        return next(index for index, target in enumerate(self.targets) if target.zone.name == name)

    def zone_id(self, name: str) -> str:
        """A zone's identifier by its name, or an account's."""
        accounts = {account.name: account.id for account in self.fleet.accounts}
        return accounts.get(name) or next(zone.id for zone in self.fleet.zones if zone.name == name)

    def zone(self, name: str) -> WorkflowHandle[Any, ZoneResult]:
        """The workflow of a zone or an account by its name."""
        kind = "account" if any(account.name == name for account in self.fleet.accounts) else "zone"
        identifier = f"{kind}/{self.zone_id(name)}/{self.spec.area.value}"
        return self.client.get_workflow_handle(identifier, result_type=ZoneResult)

    async def state(self, name: str) -> ZoneState:
        """A zone's state."""
        found: ZoneState = await self.zone(name).query("state", result_type=ZoneState)
        self.looked[name] = found
        return found

    async def zone_until(
        self, name: str, holds: Callable[[ZoneState], bool], within: float = 60.0
    ) -> ZoneState:
        """A zone's state once ``holds`` says yes."""
        limit, looks = asyncio.get_running_loop().time() + within, Looks()
        while True:
            try:
                found = await self.state(name)
                if holds(found):
                    return found
            except Exception as why:
                found = why  # type: ignore[assignment]
            if asyncio.get_running_loop().time() > limit:
                raise AssertionError(f"{name} not within {within:g} s: {found}")
            await looks.pause()

    async def outcome(self, name: str) -> ZoneOutcome:
        """A zone's outcome, once it has one."""
        return (await self._ended(self.zone(name))).outcome

    async def say_ended(self, name: str, outcome: ZoneOutcome) -> None:
        """Tell the campaign, as anybody can who reaches Temporal, that a zone has ended."""
        word = ZoneReport(
            campaign_run=(await self.campaign.describe()).run_id or "",
            index=self.index(name),
            attempt=1,
            sequence=60_000,
            kind=ReportKind.FINISHED,
            outcome=outcome,
            reason="forged",
        )
        await self.campaign.signal("zone_report", word)

"""A campaign: waves of zones, an in-flight window, permits, the book of decisions, pause, abort and retry.

The campaign starts zones and tells them things by activities; zones tell it by signals. What it remembers of
each zone is a few bytes (edgeshift/ledger.py), so that continue-as-new carries 100,000 zones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pydantic import BaseModel

    from activities.zones import ZoneActivities
    from edgeshift.fleet import REOPENABLE, RETRYABLE, Area, ZoneOutcome
    from edgeshift.ledger import FAILURES, IN_FLIGHT, Bits, Ledger, Packed, Place, WaveIndex
    from edgeshift.messages import (
        Again,
        Answer,
        Book,
        CampaignResult,
        CampaignSignOff,
        CampaignStart,
        CampaignSummary,
        DescribedZones,
        DescribeZones,
        Expire,
        Message,
        Permit,
        PermitGrant,
        Person,
        PlacesAsked,
        Revoke,
        Ruling,
        StartedZones,
        StartZones,
        Step,
        Stop,
        TargetAt,
        TargetsAt,
        TellZones,
        ToldZones,
        Waiting,
        WaveSummary,
        ZoneReport,
    )
    from edgeshift.rollout import may_advance
    from edgeshift.sign_off import Choice, Decision, refusal
    from workflows import options
    from workflows.signals import one_message

BATCH = 25
"""Zones that are started or told in one activity."""

SLICE = 100
"""Waiting zones that each sweep looks at beside the silent ones."""

MOST_NOTES = 20

AGAIN_IN = timedelta(seconds=30)
"""After which a batch that failed for good is tried again."""

FEW = 20
SHORT = 80
"""Characters of a reason that are kept of a decision on more than a FEW fingerprints, and that are shown."""

MOST_SHOWN = 500
"""Entries of the book that a summary shows, the latest."""


class Carried(BaseModel):
    """The state that continue-as-new carries, or that a closed campaign leaves."""

    ledger: Packed
    started_at: datetime
    wave: int
    failures_accepted: int = 0
    paused: Person | None = None
    aborted: Person | None = None
    notes: list[str] = []
    cursor: int = 0
    sweep_at: datetime | None = None


@workflow.defn(name="Campaign")
class Campaign:
    """One campaign. Its id is ``campaign/<name>``."""

    @workflow.init
    def __init__(self, start: CampaignStart) -> None:
        self._start = start
        self._waves = WaveIndex(start.waves)
        self._enterprise = Bits(start.enterprise)
        carried = Carried.model_validate_json(start.carried) if start.carried else None
        fresh = carried is None or start.again is not None
        self._started_at = carried.started_at if carried else workflow.now()
        # The same over every continue-as-new, and over a reset by an operator.
        self._first_run = workflow.info().first_execution_run_id
        tick = start.policy.sign_off.expires_after / 100
        self._ledger = Ledger(start.count, self._started_at, tick, start.covers)
        self._wave = carried.wave if carried else 0
        self._failures_accepted = carried.failures_accepted if carried else 0
        self._paused = carried.paused if carried else None
        self._aborted = carried.aborted if carried and start.again is None else None
        self._notes = list(carried.notes) if carried else []
        self._cursor = carried.cursor if carried else 0
        self._pausing = 0
        self._starting = False
        self._sweep_due = False
        # Runs may be shorter than the time between sweeps, so that the next one's moment is carried on.
        due = carried.sweep_at if carried and not fresh else None
        self._sweep_at = due or workflow.now() + start.sweep
        self._changed = True
        self._told: set[int] = set()
        self._unreached: dict[int, Place] = {}
        if carried:
            self._ledger.unpack(carried.ledger)
        if start.again is not None:
            self._ledger.permits.clear()
            self._begin_again(start.again, RETRYABLE | REOPENABLE)

    @workflow.run
    async def run(self, start: CampaignStart) -> CampaignResult:
        """Take every target to an outcome."""
        workflow.set_current_details(
            f"campaign **{start.name}**: {start.count} zones in {len(start.waves)} wave(s)"
        )
        sweeper = asyncio.create_task(self._sweep_regularly())
        while not self._closed:
            try:
                await self._take_a_turn()
            except asyncio.CancelledError:
                # Somebody cancelled the workflow: its zones must not be left without a campaign.
                self._starting = False
                self._stand_down(Person(by="a cancellation of the workflow"))
            if self._too_long and not self._pausing:
                await workflow.wait_condition(workflow.all_handlers_finished)
                sweeper.cancel()
                workflow.continue_as_new(
                    start.model_copy(update={"carried": self._carried().model_dump_json(), "again": None})
                )
        sweeper.cancel()
        await workflow.wait_condition(workflow.all_handlers_finished)
        return CampaignResult(
            outcomes=self._ledger.tallies(),
            aborted=self._aborted is not None,
            carried=self._carried().model_dump_json(),
        )

    async def _take_a_turn(self) -> None:
        """Wait until something has changed, then do what follows from it."""
        await workflow.wait_condition(lambda: self._changed or self._sweep_due)
        self._changed = False
        self._advance()
        await asyncio.gather(self._start_zones(), self._grant_permits(), self._spread_word())
        if self._sweep_due:
            self._sweep_due = False
            await self._sweep()

    # --- what it does next

    @property
    def _closed(self) -> bool:
        return self._ledger.finished() == self._start.count and not self._pausing

    @property
    def _too_long(self) -> bool:
        info = workflow.info()
        return (
            info.get_current_history_length() > self._start.most_events or info.is_continue_as_new_suggested()
        )

    @property
    def _halted(self) -> str:
        """Why no further wave begins, or empty."""
        failures = self._ledger.zones(*FAILURES) - self._failures_accepted
        if failures > self._start.advance_failures and self._wave + 1 < len(self._start.waves):
            return (
                f"{failures} zone(s) failed, unknown or rolled back, {self._start.advance_failures} allowed:"
                " later waves wait for a person (resume)"
            )
        return ""

    def _advance(self) -> None:
        """Let later waves begin, as far as the waves so far have come."""
        while self._wave + 1 < len(self._start.waves) and not self._halted and not self._paused:
            end = self._start.waves[self._wave].end
            if not may_advance(self._ledger.finished(0, end), end, self._start.advance_percent):
                return
            self._wave += 1
            self._note(f"wave {self._start.waves[self._wave].name!r} begins")

    def _free_slots(self) -> int:
        return self._start.window - self._ledger.zones(*IN_FLIGHT)

    async def _start_zones(self) -> None:
        if self._paused or self._aborted:
            return
        # Zones that hold a sign-off come before new ones: what was agreed to must not wait behind them.
        free = self._free_slots() - self._ledger.zones(Place.READY, Place.READY_VALIDATE)
        end = self._start.waves[self._wave].end
        indexes = tuple(self._ledger.within(self._ledger.indexes(Place.PENDING, end=end), free, BATCH))
        if not indexes:
            return
        permits: list[Permit | None] = []
        for index in indexes:
            self._ledger.begin(index)
            permits.append(self._permit(index, Step.VALIDATE) if index in self._enterprise else None)
        self._starting = True
        started: StartedZones = await self._work(
            ZoneActivities.start,
            StartZones(
                campaign=workflow.info().workflow_id,
                campaign_run=self._first_run,
                start=self._start.model_copy(
                    update={"carried": None, "again": None, "enterprise": "", "covers": ""}
                ),
                indexes=indexes,
                attempts=tuple(self._ledger.attempts[index] for index in indexes),
                permits=tuple(permits),
            ),
            f"start {len(indexes)} zone(s) from {indexes[0]}",
        )
        self._starting = False
        for exclusion in started.excluded:
            self._ledger.exclude(exclusion.index, exclusion.reason)
        self._changed = True

    @property
    def _first_step(self) -> Step:
        """The step that targets of this area ask for before anybody has seen their proposal."""
        return Step.SET_SECRET if self._start.area is Area.ESC else Step.VALIDATE

    def _permit(self, index: int, step: Step) -> Permit:
        # Of this very run: after a reset, numbers are given out again.
        prefix = f"{self._start.name}-{workflow.info().run_id[-12:]}"
        return self._ledger.permit(index, step, prefix, workflow.now() + self._start.lease)

    async def _grant_permits(self) -> None:
        if self._paused or self._aborted:
            return
        ready = self._ledger.indexes(Place.READY, Place.READY_VALIDATE)
        indexes = self._ledger.within(ready, self._free_slots(), BATCH)
        if not indexes:
            return
        grants = []
        for index in indexes:
            shape = self._ledger.shape(index)
            validate = self._ledger.places[index] == Place.READY_VALIDATE
            step = self._first_step if validate else shape.step if shape else Step.COMMIT
            self._ledger.places[index] = Place.PERMITTED
            self._ledger.heard.add(index)
            decisions = self._ledger.decisions(index, self._waves.of(index)).decisions
            grants.append(PermitGrant(permit=self._permit(index, step), decisions=tuple(decisions)))
        await self._tell_zones("permit", indexes, grants=tuple(grants))

    async def _spread_word(self) -> None:
        """Tell zones of a rejection, of expiry, or that the campaign is aborted."""
        if self._aborted:
            still_open = self._ledger.indexes(*(place for place in Place if 0 < place < Place.EXCLUDED))
            indexes = list(islice((index for index in still_open if index not in self._told), 4 * BATCH))
            if indexes:
                self._told.update(indexes)
                await self._tell_zones(
                    "stop", indexes, stop=Stop(by=self._aborted.by, reason=self._aborted.reason)
                )
            return
        rejecting = list(islice(self._ledger.indexes(Place.REJECTING), 4 * BATCH))
        by_shape: dict[tuple[int, int], list[int]] = {}
        for index in rejecting:
            by_shape.setdefault((self._ledger.shapes[index], self._waves.of(index)), []).append(index)
        for (_, wave), indexes in by_shape.items():
            book = self._ledger.decisions(indexes[0], wave)
            ruling = next(
                (
                    decision
                    for decision in book.decisions
                    if decision.choice is Choice.REJECT and not self._refusal(decision)
                ),
                None,
            )
            if ruling is None:
                # Whoever rejected it has thought better of it before the zones were told.
                for index in indexes:
                    self._ledger.places[index] = Place.AWAITING
                self._apply_book(indexes)
                self._changed = True
                continue
            await self._tell_zones("ruling", indexes, ruling=Ruling(decision=ruling))
            for index in indexes:
                self._rest(index, Place.REJECTING)
        expiring = list(islice(self._ledger.indexes(Place.EXPIRING), 4 * BATCH))
        if expiring:
            await self._tell_zones(
                "expire", expiring, attempts=tuple(self._ledger.attempts[i] for i in expiring)
            )
            for index in expiring:
                self._rest(index, Place.EXPIRING)

    def _rest(self, index: int, place: Place) -> None:
        """A zone that has been told what ends it: it answers, or the sweep finds it."""
        if self._ledger.places[index] == place:
            self._ledger.places[index] = Place.STOPPING

    async def _tell_zones(
        self,
        signal: str,
        indexes: list[int],
        *,
        grants: tuple[PermitGrant, ...] = (),
        revokes: tuple[Revoke, ...] = (),
        ruling: Ruling | None = None,
        stop: Stop | None = None,
        attempts: tuple[int, ...] = (),
    ) -> None:
        told: ToldZones = await self._work(
            ZoneActivities.tell,
            TellZones(
                campaign=workflow.info().workflow_id,
                campaign_run=self._first_run,
                targets=self._start.targets,
                area=self._start.area,
                signal=signal,
                indexes=tuple(indexes),
                grants=grants,
                revokes=revokes,
                ruling=ruling,
                expire=Expire(attempt=0) if attempts else None,
                stop=stop,
                attempts=attempts,
            ),
            f"{signal}: {len(indexes)} zone(s)",
        )
        # A zone that takes no signal now is flooded; it goes on in a new run, and is told again at the sweep.
        self._unreached |= {index: Place(self._ledger.places[index]) for index in told.unreached}
        if told.gone:
            self._ledger.heard.difference_update(told.gone)
            await self._look_at(list(told.gone))
        self._changed = True

    async def _work(self, activity: Callable[..., Any], batch: Message, summary: str) -> Any:
        """Run an activity over a batch of zones. One that fails for good, such as by a corrupt archive,
        is named in
        the notes and tried again after a while: a campaign does not end by it.
        """
        while True:
            try:
                return await workflow.execute_activity_method(
                    activity, batch, summary=summary, **options.spreading(self._start.policy)
                )
            except ActivityError as failure:
                if is_cancelled_exception(failure):
                    raise
                self._note(f"{summary}: {failure.cause}; tried again in {AGAIN_IN.total_seconds():g} s")
                await workflow.sleep(AGAIN_IN, summary=f"before again: {summary}")

    # --- sweeping

    async def _sweep_regularly(self) -> None:
        while True:
            left = self._sweep_at - workflow.now()
            if left > timedelta(0):
                await workflow.sleep(left, summary="sweep")
            self._sweep_at = workflow.now() + self._start.sweep
            self._sweep_due = True

    async def _sweep(self) -> None:
        """Expire what has waited too long; look for zones that closed without a word."""
        now = workflow.now()
        for index in self._ledger.overdue(now, self._start.policy.sign_off.expires_after):
            self._ledger.places[index] = Place.EXPIRING
            self._changed = True
        for index, place in self._unreached.items():
            self._told.discard(index)
            if self._ledger.places[index] == Place.STOPPING:
                self._ledger.places[index] = place
            self._changed = True
        self._unreached.clear()
        for permit in list(self._ledger.permits.values()):
            if now > permit.expires_at + self._settling_time:
                self._ledger.settle(permit.number, permit.index)
        silent = [
            index
            for index in self._ledger.indexes(Place.WORKING, Place.PERMITTED, Place.STOPPING)
            if index not in self._ledger.heard
        ]
        self._ledger.heard.clear()
        waiting = self._ledger.indexes(
            Place.WAITING, Place.SUPPORT, Place.AWAITING, Place.AWAITING_SEPARATE, first=self._cursor
        )
        some = list(islice(waiting, SLICE))
        self._cursor = some[-1] + 1 if len(some) == SLICE else 0
        for first in range(0, len(found := silent + some), SLICE):
            await self._look_at(found[first : first + SLICE])

    async def _look_at(self, indexes: list[int]) -> None:
        described: DescribedZones = await self._work(
            ZoneActivities.describe,
            DescribeZones(
                campaign=workflow.info().workflow_id,
                campaign_run=self._first_run,
                targets=self._start.targets,
                spec=self._start.spec,
                area=self._start.area,
                indexes=tuple(indexes),
                attempts=tuple(self._ledger.attempts[index] for index in indexes),
                settles_in=self._start.policy.migration_limit,
            ),
            f"look at {len(indexes)} silent or waiting zone(s)",
        )
        for zone in described.closed:
            if self._ledger.is_open(zone.index):
                self._ledger.finish(zone.index, zone.outcome)
                self._note(f"zone {zone.index} closed without a word: {zone.outcome.value}, {zone.reason}")
                self._changed = True

    # --- messages

    @workflow.signal
    @one_message
    def zone_report(self, report: ZoneReport) -> None:
        """A zone's word."""
        if report.campaign_run == self._first_run and self._ledger.hear(report, workflow.now()):
            self._apply_book([report.index])
            self._changed = True

    def _apply_book(self, indexes: list[int]) -> None:
        policy, by = self._start.policy.sign_off, self._start.started_by
        self._ledger.apply_book(indexes, self._waves, policy, by, workflow.now())

    def _refusal(self, decision: Decision) -> str | None:
        return refusal(decision, self._start.policy.sign_off, self._start.started_by)

    @workflow.update
    def sign_off(self, message: CampaignSignOff) -> Answer:
        """A decision on fingerprints: checked once, it counts for each zone that waits and for each that
        comes later.
        """
        for fingerprint in message.fingerprints:
            decision = self._decision(message, fingerprint)
            entry = next(
                (
                    item
                    for item in self._ledger.book
                    if (item.fingerprint, item.wave) == (fingerprint, message.wave)
                ),
                None,
            )
            if entry is None:
                entry = Book(fingerprint=fingerprint, wave=message.wave)
                self._ledger.book.append(entry)
            entry.decisions = [*(item for item in entry.decisions if item.by != message.by), decision]
        before = self._ledger.number(Place.READY, Place.REJECTING)
        self._apply_book(list(range(self._start.count)))
        moved = self._ledger.number(Place.READY, Place.REJECTING) - before
        self._changed = True
        return Answer(
            text=f"{message.choice.value} by {message.by}: recorded; {moved} waiting zone(s) go on with it"
        )

    def _decision(self, message: CampaignSignOff, fingerprint: str) -> Decision:
        return Decision(
            choice=message.choice,
            digest=fingerprint,
            by=message.by,
            # The campaign carries every decision with it: of many at once, each keeps a short reason.
            reason=message.reason if len(message.fingerprints) <= FEW else message.reason[:SHORT],
            at=workflow.now(),
        )

    @sign_off.validator
    def _sign_off(self, message: CampaignSignOff) -> None:
        self._refuse_if_over()
        if self._start.policy.sign_off.per == "zone":
            raise _refused("SignOffRefused", "this campaign is signed off zone by zone (sign_off.per: zone)")
        if reason := self._refusal(self._decision(message, message.fingerprints[0])):
            raise _refused("SignOffRefused", reason)
        if message.wave is not None and not 0 <= message.wave < len(self._start.waves):
            raise _refused(
                "SignOffRefused",
                f"there is no wave {message.wave}; waves are 0 to {len(self._start.waves) - 1}",
            )
        known = {shape.fingerprint for shape in self._ledger.known}
        if unknown := [item for item in message.fingerprints if item not in known]:
            raise _refused(
                "SignOffRefused", f"no zone of this campaign has proposed the fingerprint {unknown[0]}"
            )

    @workflow.update
    async def pause(self, message: Person) -> Answer:
        """No new forward step begins once this has answered: permits are taken back or settled."""
        self._paused = message
        self._note(f"paused by {message.by}: {message.reason or 'no reason given'}")
        out = await self._take_back_permits()
        if self._paused is not message:
            return Answer(
                text="not paused: it was resumed, or paused by somebody else, before permits settled"
            )
        return Answer(text=f"paused; {out} permit(s) were out and are settled")

    @workflow.update
    def resume(self, message: Person) -> Answer:
        """Go on: ends a pause, and accepts the failures so far where they halted the campaign."""
        was = "paused" if self._paused else "halted" if self._halted else "running"
        self._paused = None
        self._failures_accepted = self._ledger.zones(*FAILURES)
        self._note(f"resumed by {message.by} (was {was}): {message.reason or 'no reason given'}")
        self._changed = True
        return Answer(text=f"running; it was {was}")

    @workflow.update
    async def abort(self, message: Person) -> Answer:
        """End the campaign: nothing new begins, zones that wait end as aborted, what was sent is seen
        through.
        """
        self._stand_down(message)
        await self._take_back_permits()
        sent = self._ledger.number(Place.PERMITTED)
        windows = self._ledger.number(Place.WAITING)
        return Answer(
            text=f"aborting; {sent} zone(s) may be past return and are seen through,"
            f" {windows} left in validation"
        )

    def _stand_down(self, message: Person) -> None:
        self._aborted = message
        self._note(f"aborted by {message.by}: {message.reason or 'no reason given'}")
        for index in list(self._ledger.indexes(Place.PENDING)):
            self._ledger.finish(index, ZoneOutcome.ABORTED)
        self._changed = True

    async def _take_back_permits(self) -> int:
        """Revoke what is out; come back when nothing can be sent under any of it."""
        self._pausing += 1
        try:
            # A zone that is just being started cannot be told yet: it would seem gone, and yet begin.
            await workflow.wait_condition(lambda: not self._starting)
            permits = self._ledger.outstanding(workflow.now(), self._settling_time)
            for place in range(0, len(permits), 4 * BATCH):
                some = permits[place : place + 4 * BATCH]
                await self._tell_zones(
                    "revoke",
                    [permit.index for permit in some],
                    revokes=tuple(Revoke(number=permit.number) for permit in some),
                )
            numbers = {permit.number for permit in permits}
            last = (
                max((permit.expires_at for permit in permits), default=workflow.now()) + self._settling_time
            )
            try:
                await workflow.wait_condition(
                    lambda: not numbers & self._ledger.permits.keys(),
                    timeout=max(timedelta(0), last - workflow.now()),
                    timeout_summary="until no permit can be used",
                )
            except TimeoutError:
                self._note("permits settled by their expiry")
            return len(permits)
        finally:
            self._pausing -= 1
            self._changed = True

    @property
    def _settling_time(self) -> timedelta:
        """How long after a permit's expiry something may still be under way."""
        return self._start.policy.request_limit + self._start.policy.lease_margin

    @pause.validator
    def _pause(self, message: Person) -> None:
        self._refuse_if_over()

    @resume.validator
    def _resume(self, message: Person) -> None:
        self._refuse_if_over()

    @abort.validator
    def _abort(self, message: Person) -> None:
        self._refuse_if_over()

    @workflow.update
    def retry(self, message: Again) -> Answer:
        """Begin failed, unknown, blocked or unsupported zones again."""
        return self._answer_again(message, RETRYABLE)

    @retry.validator
    def _retry(self, message: Again) -> None:
        self._refuse_again(message, RETRYABLE)

    @workflow.update
    def reopen(self, message: Again) -> Answer:
        """Begin zones again that are on hold, rejected or aborted."""
        return self._answer_again(message, REOPENABLE)

    @reopen.validator
    def _reopen(self, message: Again) -> None:
        self._refuse_again(message, REOPENABLE)

    def _answer_again(self, message: Again, outcomes: frozenset[ZoneOutcome]) -> Answer:
        number = self._begin_again(message, outcomes)
        return Answer(text=f"{number} zone(s) begin again")

    def _candidates(self, message: Again, outcomes: frozenset[ZoneOutcome]) -> list[int]:
        places = {Place[outcome.name] for outcome in outcomes} | {Place.EXCLUDED}
        if message.places:
            places &= {place for place in Place if place.name.lower() in message.places}
            return list(self._ledger.indexes(*places)) if places else []
        if message.indexes:
            return [
                i for i in message.indexes if 0 <= i < self._start.count and self._ledger.places[i] in places
            ]
        places -= {Place.BLOCKED, Place.NEEDS_SUPPORT, Place.REJECTED}
        return list(self._ledger.indexes(*places))

    def _begin_again(self, message: Again, outcomes: frozenset[ZoneOutcome]) -> int:
        indexes = self._candidates(message, outcomes)
        before = self._ledger.zones(*FAILURES)
        for index in indexes:
            self._ledger.again(index)
        failed = before - self._ledger.zones(*FAILURES)
        # What is begun again is no accepted failure any more.
        self._failures_accepted = max(0, self._failures_accepted - failed)
        self._note(
            f"{len(indexes)} zone(s) begun again by {message.by}: {message.reason or 'no reason given'}"
        )
        self._changed = True
        return len(indexes)

    def _refuse_again(self, message: Again, outcomes: frozenset[ZoneOutcome]) -> None:
        self._refuse_if_over()
        if not self._candidates(message, outcomes):
            names = ", ".join(sorted(outcome.value for outcome in outcomes))
            raise _refused(
                "NothingToDo", f"no such zone has an outcome that this begins again ({names}, excluded)"
            )

    def _refuse_if_over(self) -> None:
        if self._aborted is not None:
            raise _refused("CampaignOver", f"the campaign was aborted by {self._aborted.by}")
        if self._closed:
            raise _refused("CampaignOver", "the campaign is closed")

    # --- what it says

    @workflow.query
    def summary(self) -> CampaignSummary:
        """The campaign as it stands."""
        ledger = self._ledger
        return CampaignSummary(
            name=self._start.name,
            area=self._start.area,
            state=self._state(),
            why=self._why(),
            started_by=self._start.started_by,
            started_at=self._started_at,
            now=workflow.now(),
            time_scale=self._start.time_scale,
            count=self._start.count,
            wave=self._wave,
            waves=[
                WaveSummary(number=w.number, name=w.name, size=w.size, places=ledger.tallies(w.first, w.end))
                for w in self._start.waves
            ],
            places=ledger.tallies(),
            permits_out=len(ledger.permits),
            waiting=self._waiting(),
            book=[_shortened(entry) for entry in ledger.book[-MOST_SHOWN:]],
            excluded=ledger.excluded,
            notes=self._notes,
            targets=self._start.targets,
            spec=self._start.spec,
            open_runs=sum(1 for index in range(ledger.count) if ledger.is_open(index)),
        )

    @workflow.query
    def targets_at(self, message: PlacesAsked) -> TargetsAt:
        """Which targets are at these places, and what they proposed last."""
        places = [place for place in Place if place.name.lower() in message.places]
        found = []
        for index in islice(self._ledger.indexes(*places), message.most):
            shape = self._ledger.shape(index)
            place, wave = Place(self._ledger.places[index]), self._waves.of(index)
            fingerprint = shape.fingerprint if shape else ""
            found.append(TargetAt(index=index, place=place.name.lower(), wave=wave, fingerprint=fingerprint))
        return TargetsAt(total=self._ledger.number(*places), targets=found)

    def _state(self) -> str:
        if self._closed:
            return "closed"
        if self._aborted:
            return "aborting"
        if self._paused:
            return "pausing" if self._pausing else "paused"
        return "halted" if self._halted else "running"

    def _why(self) -> str:
        if person := self._aborted or self._paused:
            return f"by {person.by}: {person.reason or 'no reason given'}"
        return self._halted

    def _waiting(self) -> list[Waiting]:
        found: dict[int, Waiting] = {}
        ledger = self._ledger
        waiting = (Place.AWAITING, Place.AWAITING_SEPARATE)
        for index in chain(ledger.indexes(waiting[0]), ledger.indexes(waiting[1])):
            number, wave = ledger.shapes[index], self._waves.of(index)
            if not number:
                continue
            shape = ledger.known[number - 1]
            entry = found.setdefault(
                number,
                Waiting(fingerprint=shape.fingerprint, zones=0, waves=[], example=index, step=shape.step),
            )
            entry.zones += 1
            entry.separate += ledger.places[index] == waiting[1]
            if wave not in entry.waves:
                entry.waves.append(wave)
        return sorted(found.values(), key=lambda entry: -entry.zones)[:200]

    def _note(self, text: str) -> None:
        self._notes = [*self._notes[1 - MOST_NOTES :], f"{workflow.now():%Y-%m-%d %H:%M:%S} {text}"[:240]]

    def _carried(self) -> Carried:
        return Carried(
            ledger=self._ledger.packed(),
            started_at=self._started_at,
            wave=self._wave,
            failures_accepted=self._failures_accepted,
            paused=self._paused,
            aborted=self._aborted,
            notes=self._notes,
            cursor=self._cursor,
            sweep_at=workflow.now() if self._sweep_due else self._sweep_at,
        )


def _shortened(entry: Book) -> Book:
    decisions = [item.model_copy(update={"reason": item.reason[:SHORT]}) for item in entry.decisions]
    return entry.model_copy(update={"decisions": decisions})


def _refused(kind: str, text: str) -> ApplicationError:
    return ApplicationError(text, type=kind, non_retryable=True)

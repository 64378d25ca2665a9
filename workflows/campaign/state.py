"""What a campaign remembers, what follows from it, and what it says of itself."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import BaseModel

    from edgeshift.campaign.ledger import Bits, Ledger, Packed, WaveIndex
    from edgeshift.campaign.target_states import FAILURES, IN_FLIGHT, Place
    from edgeshift.messages import (
        Again,
        Book,
        CampaignStart,
        CampaignSummary,
        Permit,
        Person,
        PlacesAsked,
        Step,
        TargetAt,
        TargetsAt,
        Waiting,
        WaveSummary,
    )
    from edgeshift.model.fleet import REOPENABLE, RETRYABLE, Area, ZoneOutcome
    from edgeshift.model.sign_off import Decision, refusal
    from edgeshift.rate_limit.circuit import ServiceHold, to_mend

MOST_NOTES = 20

NUMBERS = (100_000, 1_000_000_000)
"""Between which the numbers of permits are drawn."""

SHORT = 80
"""Characters of a reason that are kept of a decision on more than a few fingerprints, and that are shown."""

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
    origin: str = ""
    holds: tuple[ServiceHold, ...] = ()


class CampaignState:
    """One campaign's memory."""

    def __init__(self, start: CampaignStart) -> None:
        self._start = start
        self._waves = WaveIndex(start.waves)
        self._enterprise = Bits(start.enterprise)
        carried = Carried.model_validate_json(start.carried) if start.carried else None
        fresh = carried is None or start.again is not None
        self._started_at = carried.started_at if carried else workflow.now()
        # The same over every continue-as-new, and over a reset by an operator.
        self._first_run = workflow.info().first_execution_run_id
        # The same also where a closed campaign goes on: what its zones have left in the archive is theirs.
        self._origin = (carried.origin if carried else "") or self._first_run
        tick = start.policy.sign_off.expires_after / 100
        self._ledger = Ledger(start.count, self._started_at, tick, start.covers)
        self._wave = carried.wave if carried else 0
        self._failures_accepted = carried.failures_accepted if carried else 0
        self._paused = carried.paused if carried else None
        self._aborted = carried.aborted if carried and start.again is None else None
        # Why it stands still by itself, which a person's pause does not end.
        self._holds = carried.holds if carried and start.again is None else ()
        self._mended_by_hand = False
        self._standing_by: asyncio.Task[None] | None = None
        self._taking_back: asyncio.Task[int] | None = None
        self._notes = list(carried.notes) if carried else []
        self._cursor = carried.cursor if carried else 0
        self._pausing = 0
        self._beginning: frozenset[int] = frozenset()
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

    @property
    def _closed(self) -> bool:
        ledger = self._ledger
        over = ledger.finished() == self._start.count and not ledger.overtaken and not ledger.revived
        return over and not self._pausing

    @property
    def _stands_still(self) -> bool:
        """Whether nothing new begins for now: a person has paused it, or the service is not to be called."""
        return self._paused is not None or bool(self._holds)

    @property
    def _too_long(self) -> bool:
        info = workflow.info()
        return (
            info.get_current_history_length() > self._start.most_events or info.is_continue_as_new_suggested()
        )

    @property
    def _settling_time(self) -> timedelta:
        """How long after a permit's expiry something may still be under way."""
        return self._start.policy.request_limit + self._start.policy.lease_margin

    @property
    def _halted(self) -> str:
        """Why no further permit is given, and no further wave begins, or empty. What is in flight by then is
        seen through.
        """
        failures = self._failures
        if failures > self._start.advance_failures and self._ledger.finished() < self._ledger.count:
            return (
                f"{failures} zone(s) failed, unknown or rolled back, {self._start.advance_failures} allowed:"
                " nothing more is sent until a person says so (resume)"
            )
        return ""

    @property
    def _failures(self) -> int:
        """Zones that failed, are unknown or were rolled back, and that nobody has accepted yet."""
        return max(0, self._ledger.zones(*FAILURES) - self._failures_accepted)

    @property
    def _first_step(self) -> Step:
        """The step that targets of this area ask for before anybody has seen their proposal."""
        return Step.SET_SECRET if self._start.area is Area.ESC else Step.VALIDATE

    def _free_slots(self) -> int:
        return self._most_in_flight() - self._ledger.zones(*IN_FLIGHT)

    def _most_in_flight(self) -> int:
        """How many zones may be in flight: the window. Where a change cannot be taken back, one that failed
        keeps its place, so that what failed and what is in flight never exceed the window, or the failures
        allowed and one where that is more (docs/rules.md, rule 8).
        """
        start = self._start
        if start.area is not Area.WAF:
            return start.window
        budget = max(start.window, start.advance_failures + 1)
        return min(start.window, max(1, budget - self._failures))

    def _permit(self, index: int, step: Step) -> Permit:
        # A zone does not believe a number again. After a reset, what is counted would come again; what is
        # drawn does not, for the engine seeds the run anew at that place.
        prefix = f"{self._start.name}-{workflow.info().run_id[-12:]}"
        expires_at = workflow.now() + self._start.lease
        draw = partial(workflow.random().randrange, *NUMBERS)
        return self._ledger.permit(index, step, prefix, expires_at, draw)

    def _apply_book(self, indexes: list[int]) -> None:
        policy, by = self._start.policy.sign_off, self._start.started_by
        self._ledger.apply_book(indexes, self._waves, policy, by, workflow.now())

    def _refusal(self, decision: Decision) -> str | None:
        return refusal(decision, self._start.policy.sign_off, self._start.started_by)

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
            self._ledger.again(index, named=bool(message.indexes))
        failed = before - self._ledger.zones(*FAILURES)
        # What is begun again is no accepted failure any more.
        self._failures_accepted = max(0, self._failures_accepted - failed)
        self._note(
            f"{len(indexes)} zone(s) begun again by {message.by}: {message.reason or 'no reason given'}"
        )
        self._changed = True
        return len(indexes)

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
            mend=to_mend(self._holds[0], self._start.name) if self._holds else "",
            holds=list(self._holds),
            held_zones=len(ledger.held),
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
        if self._stands_still:
            return "pausing" if self._pausing else "paused"
        return "halted" if self._halted else "running"

    def _why(self) -> str:
        said = []
        if person := self._aborted or self._paused:
            said.append(f"by {person.by}: {person.reason or 'no reason given'}")
        if self._holds:
            more = f" (and {len(self._holds) - 1} more)" if len(self._holds) > 1 else ""
            said.append(f"by itself: {self._holds[0]}{more}")
        most = self._most_in_flight()
        if not said and not self._halted and not self._closed and most < self._start.window:
            return f"{self._failures} zone(s) failed: {most} at a time until a person resumes"
        return "; ".join(said) or self._halted

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
            origin=self._origin,
            holds=self._holds,
            sweep_at=workflow.now() if self._sweep_due else self._sweep_at,
        )


def _shortened(entry: Book) -> Book:
    decisions = [item.model_copy(update={"reason": item.reason[:SHORT]}) for item in entry.decisions]
    return entry.model_copy(update={"decisions": decisions})

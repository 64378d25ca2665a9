"""What a campaign remembers, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from itertools import islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.areas import area_of
    from edgeshift.campaign.book import fingerprints_of
    from edgeshift.campaign.call_holds import CallHolds
    from edgeshift.campaign.callers import TargetCallers
    from edgeshift.campaign.ledger import Ledger
    from edgeshift.campaign.packing import Bits, of_text
    from edgeshift.campaign.target_states import TargetState
    from edgeshift.messages import (
        MOST_TOLD_WRONG,
        Book,
        CampaignCarried,
        CampaignStart,
        Comparison,
        Permit,
        Person,
        Retried,
        RulingNote,
        RulingVerb,
        SignedStop,
        Step,
        ToldWrong,
        wrong_text,
    )
    from edgeshift.model.counts import agreed, counted
    from edgeshift.model.sign_off import Decision, SignOffPolicy, refusal
    from edgeshift.model.window import Growth

MOST_NOTES = 20

MOST_ENDED = 200
"""Words that targets have ended which the next run takes over. The sweep finds the others."""

MOST_UNRECORDED_BYTES = 250_000
"""What rulings may take, as JSON, that wait for the archive, if another one is to be given."""

MOST_UNASKED = 50
"""Runs that ask the next ones to find out whether they came out of a reset. Each is of many events, and every
sweep asks.
"""

NUMBERS = (100_000, 1_000_000_000)
"""Between which the numbers of permits are drawn."""


class CampaignState:
    """One campaign's memory, which its parts are handed. Each part that changes it says so (``changed``), and
    whoever waits for something looks again.
    """

    def __init__(self, start: CampaignStart, ledger: bytes) -> None:
        carried = start.carried or CampaignCarried(started_at=workflow.now(), recalled=False)
        # One that had closed, and is taken up again, stands still for nothing that stopped it before.
        on = carried if start.again is None else CampaignCarried(started_at=carried.started_at)
        self.start = start
        self.area = area_of(start.area)
        self.enterprise = Bits(of_text(start.enterprise))
        self.started_at = carried.started_at
        self.first_run = workflow.info().first_execution_run_id
        """The same over every continue-as-new, and over a reset by an operator."""
        self.origin = carried.origin or self.first_run
        """The same also where a closed campaign goes on: what its zones left in the archive is theirs."""
        tick = start.policy.sign_off.expires_after / 100
        self.ledger = Ledger(start.count, self.started_at, tick, start.covers, start.waves)
        if start.carried is not None:
            self.ledger.unpack(ledger)
        self.ledger.proves_ends = workflow.patched("ends-are-proven")
        self.ledger.keeps_places = workflow.patched("permits-keep-their-places")
        self.keeps_going = workflow.patched("slow-ones-hold-up-nobody")
        """Whether each user has its share of the window, and a run that ends leaves the rest of its sweep to
        the next one.
        """
        self.told_wrong: list[ToldWrong] = list(carried.told_wrong)
        """Targets of which something was told that is not so, the first ones."""
        self.wrong = carried.wrong
        """How many these are."""
        self.compared: Comparison | None = None
        """How the outcomes were compared before it closes."""
        for word in on.ended:
            if self.ledger.is_open(word.index):
                self.ledger.ended_words[word.index] = word
        self.wave = carried.wave
        """The number of the last wave that has begun."""
        self.paused: Person | None = on.paused
        self.aborted: Person | None = on.aborted
        self.callers = TargetCallers(start.callers, start.count)
        self.calls = CallHolds(self.ledger, self.callers, on.holds)
        """Why it stands still by itself, or those of its targets do whose calls are held."""
        self.resumed_by_hand = on.resumed_by_hand
        """Whether a person has had the calls go on that are held."""
        self.steered = 0
        """How often this run was told to pause, to resume or to abort."""
        self.signed_stop: SignedStop | None = None
        """What the archive has that stops it, as it was seen last."""
        self.aborts_unheard = False
        """Whether a zone says that the campaign was aborted, of which it was told nothing itself."""
        self.stopped_at = carried.stopped_at
        """When a person paused or aborted it."""
        self.retrying: list[Retried] = list(carried.retrying)
        """What failed of its own work, the latest last."""
        self.notes: list[str] = list(carried.notes)
        self.growth = carried.growth or Growth()
        """How far the window has grown, where it sizes itself."""
        self.cursor = carried.cursor
        """The target from which the next sweep goes on."""
        self.pausing = 0
        """How many wait until nothing can be sent any more."""
        self.telling = 0
        """How many times zones are being told that their permits were taken back."""
        self.beginning: frozenset[int] = frozenset()
        """Targets that are being started at the moment, and cannot be told or found yet."""
        # Runs may be shorter than the time between sweeps, so that the next one's moment is carried on.
        self.sweep_at = on.sweep_at or workflow.now() + start.sweep
        self.sweeps_due = 0
        self.sweeps_begun = 0
        self.relearned = ""
        """The last run of it that came out of a reset and has had its zones say again what they wait for."""
        self.unasked: list[str] = list(carried.unasked)
        """Earlier runs of which nobody has asked whether they came out of a reset: they ended before they had
        looked at any zone.
        """
        self.asked_run = ""
        """The run that was asked about last."""
        self.go_on_due = bool(self.ledger.held)
        """Whether zones that wait for the service may be told to go on: of an earlier run, or since it
        answers again.
        """
        self.told: set[int] = set()
        """Targets that were told that the campaign is aborted."""
        self.told_below = 0
        """The index below which every open target was told so, until the next sweep looks again."""
        self.unreached: dict[int, TargetState] = {}
        """Targets that took no signal when they were told something, and where they were."""
        self.unrecorded: list[RulingNote] = list(carried.unrecorded)
        """Rulings that are not in the archive yet, in the order in which they were given."""
        self.recalled = carried.recalled
        """Whether the rejections of earlier runs are in the book."""
        self._ruled_at = self.started_at
        self.leaving = False
        """Whether the run is about to end, so that nothing is waited for that the next run can wait for."""
        self.changes = 0
        """How often something has changed."""

    def changed(self) -> None:
        """Something has changed that somebody may wait for."""
        self.changes += 1

    def sweep_now(self) -> None:
        """Have its zones looked at as soon as the sweep that is under way is over."""
        self.sweeps_due = max(self.sweeps_due, self.sweeps_begun + 1)
        self.changed()

    def retried(self, again_in: timedelta, said: str) -> None:
        """A piece of its own work has failed for good, and is tried again."""
        self.note(said)
        failed = Retried(at=workflow.now(), again_in=again_in, said=said)
        self.retrying = [*self.retrying[1 - MOST_NOTES :], failed]

    async def next_change(self, seen: int, *, unless: Callable[[], bool] = lambda: False) -> int:
        """Wait until there were more changes than ``seen``, or until ``unless`` is so; how many there are."""
        await workflow.wait_condition(lambda: self.changes > seen or unless())
        return self.changes

    def tell_wrong(self, one: ToldWrong) -> None:
        """Something was told of a target that is not so."""
        self.wrong += 1
        if len(self.told_wrong) < MOST_TOLD_WRONG:
            self.told_wrong.append(one)
        self.note(wrong_text(one))

    def looked_into(self, indexes: Iterable[int]) -> None:
        """People begin these targets again: what was told wrong of them is in the notes."""
        again = set(indexes)
        left = [one for one in self.told_wrong if one.index not in again]
        self.wrong -= len(self.told_wrong) - len(left)
        self.told_wrong = left

    def note(self, text: str) -> None:
        """Keep a line for people, with the time."""
        self.notes = [*self.notes[1 - MOST_NOTES :], f"{workflow.now():%Y-%m-%d %H:%M:%S} {text}"[:240]]

    def rule(
        self,
        verb: RulingVerb,
        by: str,
        reason: str,
        *,
        fingerprints: tuple[str, ...] = (),
        wave: int | None = None,
        indexes: tuple[int, ...] = (),
    ) -> None:
        """Have something recorded that is to be known when the campaign is started anew."""
        # What was given in one workflow task, as after a reset, keeps its order.
        self._ruled_at = max(workflow.now(), self._ruled_at + timedelta(microseconds=1))
        self.unrecorded.append(
            RulingNote(
                verb=verb,
                at=self._ruled_at,
                by=by,
                reason=reason,
                fingerprints=fingerprints,
                wave=wave,
                indexes=indexes,
            )
        )

    @property
    def has_room_for_rulings(self) -> bool:
        """Whether more may wait for the archive: a run that goes on in a new one takes all of it along."""
        waiting = self.unrecorded
        return sum(len(note.model_dump_json().encode()) for note in waiting) <= MOST_UNRECORDED_BYTES

    def recall(self, book: tuple[Book, ...]) -> None:
        """Take in the rejections of earlier runs, before those of this one."""
        for entry in book:
            self.ledger.book.take(entry)
        self.recalled = True
        if number := len({entry.fingerprint for entry in book}):
            what = f"{counted(number, 'fingerprint')} {agreed(number, 'was', 'were')}"
            self.note(f"{what} rejected before this run; that stands until a reopening")
        self.apply_to(fingerprints_of(book))
        self.changed()

    @property
    def closed(self) -> bool:
        """Whether every target has its outcome, and nobody is left to be told anything."""
        ledger = self.ledger
        over = (
            ledger.finished() == self.start.count and not ledger.newer_attempts and not ledger.woken_after_end
        )
        return over and not self.takes_back and not self.unrecorded

    @property
    def stands_still(self) -> bool:
        """Whether nothing new begins for now: a person has paused it, or the service is not to be called for
        any target that has no outcome yet.
        """
        return self.paused is not None or self.calls.stopped_for_all

    @property
    def shares_window(self) -> bool:
        """Whether several users of the service share the window."""
        return self.keeps_going and self.callers.users > 1

    @property
    def takes_back(self) -> bool:
        """Whether permits are being taken back, which this run sees to the end."""
        return self.pausing > 0 or self.telling > 0

    @property
    def too_long(self) -> bool:
        """Whether the run is to go on in a new one."""
        info = workflow.info()
        return (
            info.get_current_history_length() > self.start.most_events or info.is_continue_as_new_suggested()
        )

    @property
    def release_time(self) -> timedelta:
        """How long after a permit's expiry something may still be under way."""
        return self.start.policy.request_limit + self.start.policy.lease_margin

    @property
    def failures(self) -> int:
        """Zones that failed, are unknown or were rolled back, and that nobody has accepted yet."""
        return self.ledger.failures()

    @property
    def halted(self) -> str:
        """Why no further permit is given, and no further wave begins, or empty. What is in flight by then is
        seen through. It says what a resume leads to, which ends a person's pause alone.
        """
        failures, does = self.failures, ""
        if self.paused is not None:
            does = " ends the pause alone, and given once more accepts these failures"
        if failures > self.start.advance_failures and self.ledger.finished() < self.ledger.count:
            return (
                f"{counted(failures, 'zone')} failed, unknown or rolled back,"
                f" {self.start.advance_failures} allowed:"
                f" sending has stopped; edgeshift resume {self.start.name}{does}"
            )
        return ""

    @property
    def first_step(self) -> Step:
        """The step that targets of this area ask for before anybody has seen their proposal."""
        return self.area.asks_first

    def permit(self, index: int, step: Step) -> Permit:
        """A new permit for a target, which counts from now on."""
        # A zone does not believe a number again. After a reset, what is counted would come again; what is
        # drawn does not, for the engine seeds the run anew at that place.
        prefix = f"{self.start.name}-{workflow.info().run_id[-12:]}"
        expires_at = workflow.now() + self.start.lease
        draw = partial(workflow.random().randrange, *NUMBERS)
        return self.ledger.permit(index, step, prefix, expires_at, draw)

    def apply_book(self, indexes: list[int]) -> None:
        """Let the decisions count for those of these few targets that wait for them."""
        policy, by = self.start.policy.sign_off, self.start.started_by
        self.ledger.apply_book(indexes, policy, by, workflow.now())

    def apply_to(self, fingerprints: Iterable[str]) -> int:
        """Let the decisions on these fingerprints count for every target that waits for them; for how many
        they do.
        """
        policy, by = self.start.policy.sign_off, self.start.started_by
        return self.ledger.apply_to(fingerprints, policy, by, workflow.now())

    def hold_to(self, least: SignOffPolicy | None) -> None:
        """Ask for what the workers' roots ask for, where that is more: zones were started with it."""
        own = self.start.policy.sign_off
        if least is None or (least.required, least.four_eyes) == (own.required, own.four_eyes):
            return
        stricter = {"required": least.required, "four_eyes": least.four_eyes}
        sign_off = own.model_copy(update=stricter)
        policy = self.start.policy.model_copy(update={"sign_off": sign_off})
        self.start = self.start.model_copy(update={"policy": policy})
        eyes = ", not by whoever started it" if least.four_eyes else ""
        people = counted(least.required, "approval")
        self.note(f"the workers' roots ask for {people}{eyes}: more than the campaign's file")
        self.changed()

    def refusal(self, decision: Decision) -> str | None:
        """Why a decision cannot count in this campaign, or None."""
        return refusal(decision, self.start.policy.sign_off, self.start.started_by)

    def carried(self) -> CampaignCarried:
        """What the next run needs of it."""
        run = workflow.info().run_id
        return CampaignCarried(
            unasked=tuple(self.unasked if self.asked_run == run else [*self.unasked, run])[-MOST_UNASKED:],
            ledger=self.ledger.packed(),
            started_at=self.started_at,
            wave=self.wave,
            paused=self.paused,
            aborted=self.aborted,
            notes=tuple(self.notes),
            cursor=self.cursor,
            origin=self.origin,
            holds=self.calls.holds,
            resumed_by_hand=self.resumed_by_hand,
            stopped_at=self.stopped_at,
            retrying=tuple(self.retrying),
            unrecorded=tuple(self.unrecorded),
            recalled=self.recalled,
            ended=tuple(islice(self.ledger.ended_words.values(), MOST_ENDED)),
            told_wrong=tuple(self.told_wrong),
            wrong=self.wrong,
            growth=self.growth if self.start.grows_by is not None else None,
            sweep_at=workflow.now() if self.sweeps_due > self.sweeps_begun else self.sweep_at,
        )

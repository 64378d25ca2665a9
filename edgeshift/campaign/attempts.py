"""Attempts of a campaign's targets, from their start to an outcome, and the permits they hold. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from edgeshift.campaign.target_states import OUTCOME_PLACE, REOPENED, TargetState
from edgeshift.campaign.target_table import TargetTable
from edgeshift.messages import Permit, Step
from edgeshift.model.fleet import MOST_ATTEMPTS, ZoneOutcome
from edgeshift.model.reasons import ReasonCode

MOST_NAMED = 500
"""How many exclusions are kept by name; the rest are counted."""


class Attempts(TargetTable):
    """Starts and ends of targets, and the permits given out meanwhile."""

    def begin(self, index: int) -> None:
        """The target is being started: a new attempt."""
        self.places[index] = TargetState.WORKING
        self.ended_as.pop(index, None)
        for known in (self.held, self.newer_attempts, self.woken_after_end, self.accepted, self.uncounted):
            known.discard(index)
        self.asked.pop(index, None)
        self.attempts[index] = min(MOST_ATTEMPTS, self.attempts[index] + 1)
        self.sequences[index] = 0
        self.propose(index, 0)
        self.recently_reported.add(index)

    def again(self, index: int, *, named: bool = False) -> None:
        """The target is to be started again. Where its fingerprint was rejected, people decide on it anew:
        neither the rejection nor any approval of before counts. So too where what the book has of it did not
        count at the door: else nobody could sign it again. ``named``: somebody asked for this very one.
        """
        place = self.places[index]
        if self.decided_anew(index) and (group := self.fingerprint_group(index)):
            self.book.forget(group.fingerprint)
        self.uncounted.discard(index)
        if place == TargetState.REJECTED or (named and place in REOPENED):
            self.reopened.add(index)
        if self.places[index] != TargetState.EXCLUDED:
            self.ended_as[index] = TargetState(self.places[index])
        self.places[index] = TargetState.PENDING
        self.excluded.pop(index, None)

    def decided_anew(self, index: int) -> bool:
        """Whether people are to decide on the target's fingerprint anew, once it begins again."""
        return self.places[index] == TargetState.REJECTED or index in self.uncounted

    def stand_down(self, index: int) -> None:
        """The target, which has not begun, is not to begin any more. What an earlier attempt came to
        stands.
        """
        if (before := self.ended_as.pop(index, None)) is None:
            self.finish(index, ZoneOutcome.ABORTED)
        else:
            self.places[index] = before

    def miss(self, index: int) -> bool:
        """The target that was to be started is not to be found, and nothing was ever sent to it: it is to be
        started in the same attempt, once. False: it was before, or has an outcome. A permit that it was to
        be started with counts until it has run out, for whatever was about to start it may still do so.
        """
        if index in self.missed or not self.is_open(index) or not self.attempts[index]:
            return False
        self.missed.add(index)
        self.places[index] = TargetState.PENDING
        self.attempts[index] -= 1
        return True

    def exclude(self, index: int, reason: str, code: ReasonCode = ReasonCode.OTHER) -> None:
        """The target was not started, and why."""
        self.settle_all(index)
        self.places[index] = TargetState.EXCLUDED
        if len(self.excluded) < MOST_NAMED:
            self.excluded[index], self._excluded_for[index] = reason[:120], code

    def finish(
        self, index: int, outcome: ZoneOutcome, attempt: int = 0, codes: Collection[ReasonCode] = ()
    ) -> None:
        """The target has an outcome. ``attempt``: in which of its attempts, where that may be a later one
        than is known; ``codes``: of the reasons for it.
        """
        if ReasonCode.SIGN_OFF_NOT_COUNTED in codes:
            self.uncounted.add(index)
        self.attempts[index] = max(self.attempts[index], min(MOST_ATTEMPTS, attempt))
        self.settle_all(index)
        for known in (self.held, self.duplicate_sequences, self.accepted):
            known.discard(index)
        self.asked.pop(index, None)
        self.excluded.pop(index, None)
        self.places[index] = OUTCOME_PLACE[outcome]

    def permit(
        self, index: int, step: Step, prefix: str, expires_at: datetime, draw: Callable[[], int]
    ) -> Permit:
        """A new permit for a step of the target. ``draw``: gives a number at random, so that one which a run
        of the campaign gave out before it was reset does not come again.
        """
        while (number := draw()) in self.permits:
            pass
        permit = Permit(
            number=number, name=f"{prefix}-{number}", index=index, step=step, expires_at=expires_at
        )
        self.permits[number] = permit
        return permit

    def release(self, number: int, index: int) -> bool:
        """The permit is used up or given back. Only its holder's word counts."""
        found = self.permits.get(number)
        if found is None or found.index != index:
            return False
        del self.permits[number]
        return True

    def settle_all(self, index: int) -> None:
        """Whatever permits the target holds are settled. One that is not open holds none."""
        if not self.is_open(index):
            return
        for number in self.permits.of(index):
            del self.permits[number]

    def outstanding(self, now: datetime, after: timedelta) -> list[Permit]:
        """Permits under which something may still be sent: not settled, and not past their expiry by
        ``after``.
        """
        return [permit for permit in self.permits.values() if now < permit.expires_at + after]

"""What zones report, taken into a campaign's memory: each report counts once, for its own attempt. Pure; the
time is passed in.
"""

from __future__ import annotations

import re
from datetime import datetime

from edgeshift.campaign.attempts import Attempts
from edgeshift.campaign.target_states import (
    AWAITING,
    KNOWN,
    LAST_WORDS,
    OPEN,
    REPORTED,
    WAITS,
    TargetState,
    is_said,
)
from edgeshift.messages import BEFORE_SIGN_OFF, ReportKind, Step, ZoneReport
from edgeshift.model.fleet import MOST_ATTEMPTS, ZoneOutcome
from edgeshift.model.reasons import ReasonCode

MOST_GROUPS = 2_000
"""How many fingerprint groups are kept. A zone of another one waits for a sign-off of its own, by its own
signal.
"""

ANY = "?"
"""A fingerprint that the campaign does not keep."""

IS_DIGEST = re.compile("[0-9a-f]{64}")
"""What a fingerprint looks like. A target with anything else in its place is signed by itself."""

MOST_ASKED = 5_000
"""Targets of which is kept that they have said again what they wait for. Others are asked at each sweep."""

USED_CODES = frozenset({ReasonCode.SIGN_OFF_NOT_COUNTED})
"""Codes of an end by which more is kept of a target than its outcome."""

RUN = 12
"""Characters that are kept of a run's identifier, or of a fingerprint, where either is only compared."""

FIRST_WORD = 1
"""The least number of a target's word. One with a number below is nobody's."""

ROUND = 65_536
"""Ticks that waiting times are told in, before they begin again."""


class ZoneReports(Attempts):
    """Takes in what zones report, and what one that was looked at has said last."""

    def hear(self, report: ZoneReport, now: datetime) -> bool:
        """Take a zone's word in; whether it changed anything. Words of earlier attempts and duplicates do not
        count, but what they say of a permit does: a settled permit is settled.
        """
        index = report.index
        if not 0 <= index < self.count or report.sequence < FIRST_WORD:
            return False
        settled = report.releases is not None and self.release(report.releases, index)
        if report.attempt > self.attempts[index]:
            self.newer_attempts.add(index)
        if report.attempt != self.attempts[index]:
            return settled
        if not self.is_open(index):
            if self.places[index] >= TargetState.EXCLUDED and report.kind not in LAST_WORDS:
                self.woken_after_end.add(index)
            return settled
        if report.kind is ReportKind.FINISHED and self.proves_ends:
            # Whatever its number: it says no more than where to look.
            self.ended_words[index] = _as_kept(report)
            return True
        if report.sequence <= self.sequences[index]:
            self.duplicate_sequences.add(index)
            return settled
        self.sequences[index] = min(65535, report.sequence)
        self.recently_reported.add(index)
        if report.kind is ReportKind.SERVICE:
            # It keeps its place: it takes its slot of the window, unless its calls are stopped apart from
            # those of other targets (``set_down``), and goes on where it was.
            self.held.add(index)
            (self.idle.add if report.idle else self.idle.discard)(index)
            return True
        if report.kind is not ReportKind.RELEASED:
            self.held.discard(index)
        if report.kind is ReportKind.FINISHED:
            self.finish(index, report.outcome or ZoneOutcome.UNKNOWN, codes=report.codes)
        elif self.places[index] == TargetState.STOPPING:
            pass
        elif report.kind is ReportKind.AWAITING:
            self._propose(index, report, now)
            self.places[index] = TargetState.AWAITING if report.joins else TargetState.AWAITING_SEPARATE
        elif report.kind is ReportKind.READY:
            if report.fingerprint:
                self._propose(index, report, now)
            self.places[index] = (
                TargetState.READY_VALIDATE if report.step in BEFORE_SIGN_OFF else TargetState.READY
            )
        elif self.keeps_places and ReasonCode.EARLIER_CHANGE_AWAITED in report.codes:
            # It waits for no window and for no person: what was sent to it may come to show.
            self.places[index] = TargetState.WORKING
        elif report.kind in REPORTED:
            self.places[index] = REPORTED[report.kind]
        elif report.unused and self.places[index] == TargetState.PERMITTED and not self._is_permitted(index):
            self.places[index] = (
                TargetState.READY_VALIDATE if report.step in BEFORE_SIGN_OFF else TargetState.READY
            )
        return True

    def hear_start(self, report: ZoneReport, now: datetime) -> bool:
        """Take in what a target waits for from its start on, as whoever has started it says; whether it
        changed anything. Whatever the target has said itself by then is newer.
        """
        index = report.index
        if not 0 <= index < self.count or report.attempt != self.attempts[index]:
            return False
        if self.places[index] != TargetState.WORKING or self.sequences[index]:
            return False
        return self.hear(report, now)

    def may_wait(self, index: int) -> bool:
        """Whether the target may wait for something else than is known: it holds no permit, and what it has
        said may have been said to a run that was reset since, or by one.
        """
        place = self.places[index]
        return place in WAITS or (place == TargetState.PERMITTED and not self._is_permitted(index))

    def _is_permitted(self, index: int) -> bool:
        """Whether the target holds a permit, or one is on its way."""
        return bool(self.permits.of(index))

    def said_by(self, index: int) -> str:
        """What a word of the target would say that is no news: its kind and fingerprint, where that is known.
        Empty where any word is news. One that waits apart from others of its fingerprint, or with them, goes
        on so.
        """
        if index in self.held:
            return ReportKind.SERVICE.value
        kind = KNOWN.get(TargetState(self.places[index]))
        if kind is None:
            return ""
        group = self.fingerprint_group(index) if kind is ReportKind.AWAITING else None
        return f"{kind.value}:{group.fingerprint if group else ''}"

    def remember(self, report: ZoneReport, now: datetime) -> bool:
        """Take in what a target that ``may_wait`` has said last; whether it changed anything. A word of its
        own that came meanwhile is newer. Its words are counted from this one on.
        """
        index = report.index
        if (
            not self.may_wait(index)
            or index in self.recently_reported
            or report.attempt != self.attempts[index]
        ):
            return False
        if is_said(report, self.said_by(index)):
            # Never below 0: a number that the array does not take would fail the workflow task, for good.
            self.sequences[index] = max(0, min(self.sequences[index], report.sequence))
            return False
        if self.places[index] == TargetState.STOPPING:
            # It did not end by what it was told.
            self.places[index] = TargetState.WORKING
        self.sequences[index] = min(65534, max(0, report.sequence - 1))
        return self.hear(report.model_copy(update={"sequence": max(1, report.sequence)}), now)

    def hear_again(self, report: ZoneReport, now: datetime) -> bool:
        """Take in what a target says again, since it was asked to; whether it changed anything."""
        index = report.index
        if not 0 <= index < self.count or report.sequence < FIRST_WORD:
            return False
        settled = report.releases is not None and self.release(report.releases, index)
        if report.attempt > self.attempts[index]:
            self.newer_attempts.add(index)
        if report.attempt == self.attempts[index] and (index in self.asked or len(self.asked) < MOST_ASKED):
            self.asked[index] = report.again[:RUN]
        return self.remember(report.model_copy(update={"releases": None, "again": ""}), now) or settled

    def expected(self, index: int) -> str:
        """The beginning of the fingerprint that the target waits with for a sign-off; ``ANY`` where none is
        kept, empty where it does not wait for one.
        """
        if self.places[index] not in AWAITING:
            return ""
        group = self.fingerprint_group(index)
        return group.fingerprint[:RUN] if group else ANY

    def doubt_all(self) -> None:
        """The campaign was reset: what any target has said since may be unknown."""
        self.duplicate_sequences.update(filter(self.may_wait, self.indexes(*OPEN)))

    def take_up(self, index: int, attempt: int) -> bool:
        """The target is in this attempt, of which nothing has been heard; whether it is later than the one
        that is known, in which the target may have ended: the campaign began it before it was reset. It keeps
        a permit, which may have reached it.
        """
        if attempt <= self.attempts[index] or self.places[index] == TargetState.PENDING:
            return False
        if self.places[index] != TargetState.PERMITTED or self.may_wait(index):
            self.places[index] = TargetState.WORKING
        self.attempts[index] = min(MOST_ATTEMPTS, attempt)
        self.sequences[index] = 0
        for known in (
            self.recently_reported,
            self.held,
            self.duplicate_sequences,
            self.newer_attempts,
            self.woken_after_end,
            self.accepted,
        ):
            known.discard(index)
        self.excluded.pop(index, None)
        return True

    def _propose(self, index: int, report: ZoneReport, now: datetime) -> None:
        self.since[index] = self.ticks(now)
        step = report.step or Step.COMMIT
        number = self._numbers.get((report.fingerprint, step), 0)
        if not number and len(self.known) < MOST_GROUPS and IS_DIGEST.fullmatch(report.fingerprint):
            number = self.know(report.fingerprint, step)
        self.propose(index, number)

    def ticks(self, now: datetime) -> int:
        """The time in ticks, on a clock that begins again after 65,536 of them."""
        return max(0, (now - self.epoch) // self.tick) % ROUND


def _as_kept(report: ZoneReport) -> ZoneReport:
    """A word that a target has ended, without what nobody looks at again: a run hands many of them to the
    next one, and anybody may have sent them.
    """
    codes = USED_CODES.intersection(report.codes)
    return report.model_copy(
        update={"digest": "", "fingerprint": "", "reason": "", "hold": None, "codes": tuple(codes)}
    )

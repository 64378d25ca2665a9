"""A zone's words to its campaign."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.reports import ReportActivities
    from edgeshift.campaign.target_states import LAST_WORDS
    from edgeshift.messages import (
        LEFT_ALONE,
        UNTOLD,
        Announce,
        Prepared,
        ReportKind,
        Step,
        Stop,
        ZonePhase,
        ZoneReport,
    )
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.model.reason_texts import text_of
    from edgeshift.model.reasons import Reason, ReasonCode, codes_of
    from edgeshift.rate_limit.circuit import OpenCircuit
    from workflows import options
    from workflows.local import locally
    from workflows.zone.failures import LOCAL_FAILURES, is_gone, is_left_alone, said
    from workflows.zone.state import ZoneMemory


SAID = {
    ZonePhase.AWAITING_VALIDATION: ReportKind.READY,
    ZonePhase.AWAITING_FIRST_PERMIT: ReportKind.READY,
    ZonePhase.AWAITING_SIGN_OFF: ReportKind.AWAITING,
    ZonePhase.AWAITING_PERMIT: ReportKind.READY,
    ZonePhase.NEEDS_SUPPORT: ReportKind.SUPPORT,
    ZonePhase.VALIDATING: ReportKind.WAITING,
    ZonePhase.WATCHING: ReportKind.WAITING,
    ZonePhase.WAITING_FOR_SERVICE: ReportKind.SERVICE,
}
"""What a zone has said once it is in a phase in which it waits."""

FIRST = frozenset({ZonePhase.AWAITING_VALIDATION, ZonePhase.AWAITING_FIRST_PERMIT})
"""Phases in which it waits for a permit of its area's first step: it has proposed nothing to anybody yet."""

GIVES_UP_PLACE = frozenset({ReportKind.WAITING, ReportKind.SUPPORT, ReportKind.AWAITING, ReportKind.READY})
"""Words after which the campaign does not count the zone as one that is in flight."""

LONGEST_WORD = 120
"""Characters of a reason that the campaign is told."""


@dataclass(frozen=True)
class ZoneWord:
    """One word of a zone to its campaign, as in a ``ZoneReport``. ``releases``: None for the permit that the
    zone has still to release, if any; ``why``: the reasons, which the campaign is told in short.
    """

    kind: ReportKind
    releases: int | None = None
    unused: bool = False
    step: Step | None = None
    digest: str = ""
    fingerprint: str = ""
    joins: bool = True
    outcome: ZoneOutcome | None = None
    why: tuple[Reason, ...] = ()
    hold: OpenCircuit | None = None
    again: str = ""
    took: timedelta | None = None


class Reporter:
    """Tells the campaign, one word at a time, so that none overtakes another. ``turn``: whoever holds it may
    tell.
    """

    def __init__(self, zone: ZoneMemory) -> None:
        self._zone = zone
        self.turn = asyncio.Lock()
        self._asked_with_permit = 0
        """How often the run was asked what it waits for while it waited for support with a permit."""
        self._said_with_permit = False

    def count_word(self) -> int:
        """The number of the next word. A word that was told by a task which was then lost, and which the next
        one does not tell, for a message came in between, must not leave its number to another word: what the
        history has grown by counts too.
        """
        zone = self._zone
        zone.sequence = max(zone.sequence + 1, workflow.info().get_current_history_length())
        return zone.sequence

    def count_words(self, tries: int) -> int:
        """The number of the first of as many words as an activity has tries, each of which may tell one. The
        next word of the zone comes after all of them.
        """
        first = self.count_word()
        self._zone.sequence += tries - 1
        return first

    async def tell(self, word: ZoneWord) -> None:
        """Tell the campaign. One that is gone, or that cannot be told for a day, is no error; of one that has
        come to its end the zone waits for nothing. What an earlier run may have sent is seen through before
        a word that gives up the zone's place in the window.
        """
        if word.kind in GIVES_UP_PLACE:
            await self._zone.see_first()
        async with self.turn:
            await self._say(word)

    async def say_again(self) -> None:
        """Tell the campaign what the zone waits for, as it has asked. One that was asked before it has begun
        answers once it waits: it may say nothing else of the plan's reading.
        """
        zone = self._zone
        if zone.told:
            await workflow.wait_condition(lambda: not zone.told or zone.phase is ZonePhase.CLOSED)
        if not self._zone.looks:
            await self.say_so(again=workflow.info().run_id)

    async def say_so(self, again: str = "") -> None:
        """Tell the campaign what the zone waits for, if it waits and nothing is on its way to end that."""
        zone = self._zone
        async with self.turn:
            if zone.phase not in SAID or zone.using is not None:
                return
            if zone.usable_grant is not None and not self._waits_for_support():
                return
            first = zone.phase in FIRST
            prepared = None if first else zone.prepared
            await self._say(
                ZoneWord(
                    SAID[zone.phase],
                    step=zone.first_step if first else prepared.step if prepared else None,
                    digest=prepared.digest if prepared else "",
                    fingerprint=prepared.fingerprint if prepared else "",
                    joins=zone.joins,
                    hold=zone.service_hold,
                    again=again,
                )
            )

    def _waits_for_support(self) -> bool:
        """Whether it waits for support though it holds a permit: an Enterprise zone is started with one to
        validate, which ends nothing of that wait.
        """
        if self._zone.phase is not ZonePhase.NEEDS_SUPPORT:
            return False
        if not self._said_with_permit:
            # By markers of their own: one that the version before was asked in vain is to be heard next time.
            self._asked_with_permit += 1
            self._said_with_permit = workflow.patched(
                f"support-is-said-with-a-permit-{self._asked_with_permit}"
            )
        return self._said_with_permit

    async def _say(self, word: ZoneWord) -> None:
        zone, releases = self._zone, word.releases
        sequence = self.count_word()
        if releases is None:
            releases, zone.to_release = zone.to_release, None
        report = ZoneReport(
            campaign_run=zone.start.campaign_run,
            index=zone.start.index,
            attempt=zone.start.attempt,
            sequence=sequence,
            kind=word.kind,
            releases=releases,
            unused=word.unused,
            step=word.step,
            digest=word.digest,
            fingerprint=word.fingerprint,
            joins=word.joins,
            outcome=word.outcome,
            reason=text_of(*word.why)[:LONGEST_WORD],
            codes=codes_of(word.why),
            hold=word.hold,
            idle=word.hold is not None and zone.idle,
            again=word.again,
            took=word.took,
        )
        try:
            await locally(
                ReportActivities.tell,
                Announce(campaign=zone.start.campaign, report=report),
                summary=f"tell the campaign: {word.kind.value}",
                **options.telling(),
            )
            zone.heard = True
            self._note_untold(False)
        except asyncio.CancelledError:
            # Between two tries. What is seen through all the same says so with its next word.
            zone.to_release = zone.to_release or releases
            raise
        except LOCAL_FAILURES as failure:
            zone.ignored.append(f"the campaign could not be told: {said(failure)}"[:150])
            # Nobody knows that this permit is settled: the next word says so.
            zone.to_release = zone.to_release or releases
            if word.kind not in LAST_WORDS:
                self._note_untold(True)
                self.stops_if_left_alone(failure)

    def _note_untold(self, untold: bool) -> None:
        """Have it seen from outside whether the campaign knows the zone's last word: its sweep has the zone
        say it again.
        """
        if self._zone.untold != untold:
            self._zone.untold = untold
            workflow.upsert_memo({UNTOLD: True if untold else None})

    async def announce(self, prepared: Prepared) -> None:
        """Tell the campaign that the zone waits for a sign-off; for its own, where one of its fingerprint
        would not count.
        """
        await self.tell(
            ZoneWord(
                ReportKind.AWAITING,
                step=prepared.step,
                digest=prepared.digest,
                fingerprint=prepared.fingerprint,
                joins=self._zone.joins,
            )
        )

    async def announce_reading(self, prepared: Prepared) -> None:
        """As ``announce``, of what was read just now, unless whoever started the zone tells the campaign."""
        zone = self._zone
        if zone.told:
            zone.told, zone.heard = False, True
            return
        await self.announce(prepared)

    def stops_if_left_alone(self, failure: BaseException) -> bool:
        """Stop, where a word to the campaign has shown that it has come to its end: nobody would grant, rule
        or expire anything. So too where it was ended from outside before it had heard of this zone, which has
        sent nothing: a campaign that is started anew, or reset, begins it again. Returns whether that is so.
        """
        if not (is_left_alone(failure) or (self._is_unknown and is_gone(failure))):
            return False
        self._end_left_alone()
        return True

    def _end_left_alone(self) -> None:
        self._zone.stop = self._zone.stop or Stop(by=LEFT_ALONE, cause=ReasonCode.CAMPAIGN_OVER)

    @property
    def _is_unknown(self) -> bool:
        return not self._zone.heard and not self._zone.validates_itself and self._zone.sent is None

    def was_not_heard(self) -> None:
        """An activity that was to tell the campaign could not: it was ended from outside. One that is reset
        asks for the word again; what the activity found counts. Raises Ended where the zone stops for it.
        """
        self._note_untold(True)
        if self._is_unknown:
            self._end_left_alone()
            self._zone.check_stop()

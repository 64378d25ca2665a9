"""Targets of changes that can be undone: made, seen to show, watched, and settled or taken back.

What differs between such areas is in three activities (confirm, watch, the area's part of the fenced one).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import (
        ChangeResult,
        ChangeStatus,
        Confirm,
        Part,
        Permit,
        PermitGrant,
        Prepared,
        ReportKind,
        Shown,
        Step,
        Watch,
        Watched,
        ZonePhase,
        ZoneResult,
    )
    from edgeshift.model.fleet import DONE, ZoneOutcome
    from edgeshift.model.reason_texts import text_of
    from edgeshift.model.reasons import Reason, ReasonCode, Reasons
    from workflows import options
    from workflows.zone.changing import WITHOUT_A_TURN
    from workflows.zone.ending import Course, Reached, nothing_held
    from workflows.zone.failures import LOCAL_FAILURES, failed
    from workflows.zone.parts import ZoneParts
    from workflows.zone.reporting import ZoneWord
    from workflows.zone.state import Ended

MOST_TRIES_BACK = 20
"""How often the rollback is tried before a person has to."""

LONGEST_WITHOUT_A_TURN = timedelta(days=4)
"""How long the rollback waits in all while it has no turn, or the worker's roots do not let it through. Then
its tries count, and a person has to.
"""

LONGEST_PAUSE = timedelta(hours=1)
"""The longest of its pauses meanwhile: a history has room for all of them (11 events each, of 51,200)."""

LEASE_BACK = timedelta(minutes=2)
"""How long one try of the rollback may take to be sent. Nobody grants it, since nothing is exempt from
undoing what was agreed to be undone: neither a pause nor a budget holds it up (docs/rules.md, rule 7).
"""


@dataclass(frozen=True)
class ReversibleWork:
    """What an area's reversible change is made of, beside the fenced activity.

    ``confirm``: the activity that reads until a change shows, or is gone. ``look_back``: the one that finds
    in the archive what the campaign may have left at the target. ``watch``: looks once at a change that was
    made. ``asks_whether_it_shows``: whether what an earlier attempt has sent is undone only where it shows;
    of an area whose rollback finds out by itself what is left, it need not. ``read_to_the_end``: ends that
    follow from a reading of the target which has just asked what is left of earlier attempts.
    ``longest_look``: how long one look may take from outside, as the one that was signed may have taken.
    """

    confirm: Callable[..., Awaitable[Shown]]
    look_back: Callable[..., Awaitable[Part]]
    watch: Callable[..., Awaitable[Watched]]
    asks_whether_it_shows: bool = False
    read_to_the_end: frozenset[ZoneOutcome] = frozenset({ZoneOutcome.BLOCKED, ZoneOutcome.ALREADY_SETTLED})
    longest_look: timedelta = timedelta(minutes=30)


class Reversible:
    """The steps after a sign-off whose change can be undone."""

    def __init__(self, parts: ZoneParts, work: ReversibleWork) -> None:
        self._parts = parts
        self._zone = parts.zone
        self._work = work
        self._without_turn = timedelta(0)
        """How long the rollback has waited for a turn, over all of its tries."""

    async def to_an_end(
        self, course: Course, let_go: Callable[[], Awaitable[None]] = nothing_held
    ) -> ZoneResult:
        """As every target's, but that no part of a change stays behind where it ends in the middle."""

        async def or_back() -> Reached:
            try:
                return await course()
            except Ended as ended:
                if ended.outcome is ZoneOutcome.UNKNOWN or ended.outcome in DONE:
                    raise
                begun = self._zone.begun or await self._left_behind(ended)
                if begun is None:
                    raise
                return await self._roll_back(begun, "", ended.why)
            except LOCAL_FAILURES as failure:
                begun = self._zone.begun
                if begun is None and self._zone.sent is None:
                    begun = await self._left_behind(Ended(ZoneOutcome.FAILED, failed(failure)))
                if begun is None:
                    raise
                return await self._roll_back(begun, "", (failed(failure),))

        return await self._parts.ending.to_an_end(or_back, let_go)

    async def _left_behind(self, ended: Ended) -> Prepared | None:
        """What is to be undone of what the campaign may have left at a target that is about to end, though
        this run knows of none. None: nothing. Raises Ended where nobody can say.
        """
        if self._zone.went_back or ended.outcome in self._work.read_to_the_end:
            return None
        part = await self._parts.ending.part_left(self._work.look_back, ended)
        if part.prepared is None:
            return None
        if not self._work.asks_whether_it_shows:
            if part.may_show:
                # A change is never undone before it has shown, or can no longer be expected to.
                await self._shows(part.prepared, wanted=True, answered=False)
            return part.prepared
        limit = await self._parts.ending.looked_for(part)
        shown = await self._shows(part.prepared, wanted=True, answered=False, limit=limit)
        if (shown.reached and not shown.hopeless) or shown.worse:
            return part.prepared
        if shown.reached or shown.unchanged:
            return None
        unclear = ReasonCode.EARLIER_CHANGE_UNCLEAR
        raise Ended(ZoneOutcome.UNKNOWN, Reason(code=unclear, because=ended.why, then=shown.explained))

    async def commit(self, prepared: Prepared, grant: PermitGrant) -> Reached | None:
        """Make the change and see it through. None: it has to be proposed anew. Raises Ended."""
        self._zone.enter(ZonePhase.COMMITTING)
        result = await self._parts.changes.make(prepared, grant)
        if result.status is ChangeStatus.DRIFTED:
            self._zone.drift(prepared)
            self._zone.gathered, self._zone.asked_at = None, None
            return None
        if result.status is ChangeStatus.REFUSED:
            return await self._refused_midway(prepared, result)
        if result.found:
            self._zone.begun = prepared
        if result.status is ChangeStatus.NOTHING_HAPPENED:
            await self._parts.changes.pause_before_again(result)
            return None
        self._zone.sent = prepared
        return await self.see_through(prepared, result)

    async def _refused_midway(self, prepared: Prepared, result: ChangeResult) -> Reached:
        """The service refused it. What was written before the refusal, if anything, is taken back."""
        why = Reason(code=ReasonCode.CHANGE_REFUSED, said=result.reason)
        if not result.found:
            raise Ended(ZoneOutcome.FAILED, why)
        self._zone.sent = prepared
        return await self._roll_back(prepared, result.found, (why,))

    async def see_through(self, prepared: Prepared, result: ChangeResult) -> Reached | None:
        """A change was sent, or may have been: where it led. None: nothing came of it, it is proposed
        anew.
        """
        self._zone.enter(ZonePhase.VERIFYING)
        since = workflow.now()
        answered = result.status is ChangeStatus.ANSWERED
        shown = await self._shows(prepared, wanted=True, answered=answered)
        if not shown.reached:
            if shown.worse or (not shown.unchanged and result.found):
                return await self._roll_back(prepared, result.found, shown.explained)
            if not shown.unchanged:
                raise Ended(ZoneOutcome.UNKNOWN, Reason(code=ReasonCode.NOT_SEEN, because=shown.explained))
            if self._zone.resends >= self._zone.start.policy.resend_unchanged:
                if shown.part:
                    # What an earlier step has written is not left behind.
                    return await self._roll_back(prepared, result.found, shown.explained)
                never = Reason(code=ReasonCode.NEVER_SHOWED, said=result.reason, because=shown.explained)
                raise Ended(ZoneOutcome.UNKNOWN, never)
            self._zone.resends += 1
            return None
        self._zone.begun, self._zone.took = None, shown.took
        policy = self._zone.start.policy
        watched = Reason(code=ReasonCode.WATCHED, said=str(policy.watch))
        await self._parts.reporter.tell(ZoneWord(ReportKind.WAITING, why=(watched,)))
        self._zone.enter(ZonePhase.WATCHING)
        until = since + policy.watch
        while True:
            every, left = policy.watch_every, until - workflow.now()
            # What was sent is seen through, also when the campaign is aborted meanwhile.
            await workflow.sleep(min(every, left) if left > timedelta(0) else every, summary="watching")
            last = workflow.now() >= until
            seen = await self._look(
                Watch(
                    start=self._zone.bare_start,
                    prepared=prepared,
                    since=since,
                    last=last,
                    found=result.found,
                )
            )
            if seen.worse:
                return await self._roll_back(prepared, result.found, seen.explained)
            if seen.unsure and workflow.now() < until + policy.migration_limit + self._zone.stood:
                continue
            if seen.unsure:
                raise Ended(ZoneOutcome.UNKNOWN, Reason(code=ReasonCode.NOT_SEEN, because=seen.explained))
            if seen.done or last:
                return Reached(ZoneOutcome.SETTLED, seen.explained, seen.record)

    async def see_back_through(self, prepared: Prepared) -> Reached:
        """The rollback was sent before the workflow was reset: it is looked for, and sent again only where it
        does not come to show. Raises Ended where a person has to.
        """
        why = (Reason(code=ReasonCode.WAY_BACK_TAKEN_UP),)
        return await self._roll_back(prepared, "", why, sent=True)

    async def _roll_back(
        self, prepared: Prepared, found: str, why: Reasons, *, sent: bool = False
    ) -> Reached:
        """Undo the change, as often as it takes, and see that it is undone. ``sent``: the first try was made.
        Raises Ended where a person has to.
        """
        self._zone.enter(ZonePhase.ROLLING_BACK)
        self._zone.begun, self._zone.went_back = None, True
        back = prepared.model_copy(update={"step": Step.ROLL_BACK})
        since = workflow.now()
        then: Reasons = ()
        for number in range(1, MOST_TRIES_BACK + 1):
            if sent and number == 1:
                result = ChangeResult(status=ChangeStatus.UNKNOWN, reason="it was sent before")
            else:
                result = await self._send_back(back, number)
            then = _why_not(result)
            if result.settled:
                # A look has said so whose answer was lost: what was signed stands.
                return Reached(ZoneOutcome.SETTLED, then, result.settled)
            if result.final:
                break
            if result.status in (ChangeStatus.ANSWERED, ChangeStatus.UNKNOWN):
                answered = result.status is ChangeStatus.ANSWERED
                shown = await self._shows(back, wanted=False, answered=answered)
                if shown.reached:
                    seen = await self._look(
                        Watch(
                            start=self._zone.bare_start,
                            prepared=back,
                            since=since,
                            last=True,
                            back=True,
                            found=found,
                            why=text_of(*why)[:200],
                        )
                    )
                    if not seen.worse:
                        took = (workflow.now() - since).total_seconds()
                        back_in = Reason(
                            code=ReasonCode.ROLLED_BACK, seconds=took, because=why, then=seen.explained
                        )
                        return Reached(ZoneOutcome.ROLLED_BACK, (back_in,), seen.record)
                    shown = Shown(reached=False, reason=seen.worse, why=seen.why)
                then = shown.explained
                if shown.hopeless:
                    break
            pause = timedelta(seconds=min(60, 2 ** min(number, 6)))
            await workflow.sleep(pause, summary="before the rollback is tried again")
        raise Ended(ZoneOutcome.FAILED, Reason(code=ReasonCode.NOT_ROLLED_BACK, because=why, then=then))

    async def _send_back(self, back: Prepared, number: int) -> ChangeResult:
        """One try of the rollback, which does not count while the service is not to be called, nor, for some
        days, while it has no turn.
        """
        for held in count():
            result = await self._parts.changes.make(back, self._own_permit(number + held * MOST_TRIES_BACK))
            # No permit of the campaign's was used for it.
            self._zone.to_release = None
            if not result.turn and self._without_turn < LONGEST_WITHOUT_A_TURN:
                since = workflow.now()
                pause = pause_without_turn(self._without_turn)
                await workflow.sleep(pause, summary="before the next turn is asked for")
                # By the clock: in a replay a pause is as long as its history says, which may be shorter.
                self._without_turn += workflow.now() - since
                continue
            if result.hold is None or not self._parts.waits.may_wait():
                break
            await self._parts.waits.for_service(result.hold, sent=True)
        return result

    def _own_permit(self, number: int) -> PermitGrant:
        # Drawn, so that a reset to after it does not name anew what has been sent under this name.
        of_run = workflow.uuid4().hex
        permit = Permit(
            number=-number,
            name=f"back-{of_run[-12:]}-{number}",
            index=self._zone.start.index,
            step=Step.ROLL_BACK,
            expires_at=workflow.now() + LEASE_BACK,
        )
        return PermitGrant(campaign_run=self._zone.start.campaign_run, permit=permit)

    async def _shows(
        self, prepared: Prepared, *, wanted: bool, answered: bool, limit: timedelta | None = None
    ) -> Shown:
        limit = limit or self._zone.start.policy.migration_limit
        message = Confirm(
            start=self._zone.bare_start,
            prepared=prepared,
            wanted=wanted,
            limit=limit,
            since=workflow.now(),
            answered=answered,
        )
        try:
            return await self._parts.waits.served(
                lambda: workflow.execute_activity_method(
                    self._work.confirm,
                    message,
                    summary="until the service shows it" if wanted else "until the service shows it undone",
                    # What did not show may be looked at from outside at the end.
                    **options.watching(self._zone.start.policy, limit + self._work.longest_look),
                ),
                sent=True,
            )
        except ActivityError as failure:
            unread = Reason(code=ReasonCode.NOT_READ_BACK, because=(failed(failure),))
            return Shown(reached=False, why=(unread,))

    async def _look(self, message: Watch) -> Watched:
        """One look at the change. One that cannot be watched is not kept."""
        try:
            return await self._parts.waits.served(
                lambda: workflow.execute_activity_method(
                    self._work.watch,
                    message,
                    summary="look at what was changed",
                    **options.watching(self._zone.start.policy, self._work.longest_look),
                ),
                sent=True,
            )
        except ActivityError as failure:
            if message.back:
                unseen = Reason(code=ReasonCode.NOT_LOOKED_AT_AGAIN, because=(failed(failure),))
                return Watched(said=text_of(unseen), why=(unseen,))
            return Watched.as_worse(Reason(code=ReasonCode.NOT_WATCHED, because=(failed(failure),)))


def pause_without_turn(waited: timedelta) -> timedelta:
    """How long the rollback waits before it asks for its next turn, after so much waiting: a minute at first,
    then longer, by little of what it has waited already.
    """
    return min(LONGEST_PAUSE, max(WITHOUT_A_TURN, waited / 8))


def _why_not(result: ChangeResult) -> Reasons:
    """Why a try of the rollback is not known to have been made, or that nothing is to be undone; none where
    it was answered.
    """
    if not result.reason:
        return ()
    if result.settled:
        return (Reason(code=ReasonCode.SEEN_TO_ITS_END, said=result.reason),)
    code = ReasonCode.ARCHIVE_DAMAGED if result.damaged else ReasonCode.ROLLBACK_NOT_MADE
    return (Reason(code=code, state=result.status.value, said=result.reason),)

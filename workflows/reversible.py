"""Targets of changes that can be undone: made, seen to show, watched, and settled or taken back.

What differs between such areas is in three activities (settle, watch, and the area's part of the fenced one).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import count

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import (
        ChangeResult,
        ChangeStatus,
        Part,
        Permit,
        PermitGrant,
        Prepared,
        ReportKind,
        Settle,
        Shown,
        Step,
        Watch,
        Watched,
        ZonePhase,
        ZoneResult,
    )
    from edgeshift.model.fleet import DONE, ZoneOutcome
    from workflows import options
    from workflows.zone.protocol import LOCAL_FAILURES, Ended, said
    from workflows.zone.steps import MOST_WITHOUT_A_TURN, WITHOUT_A_TURN, Reached, ZoneWorkflow

MOST_TRIES_BACK = 20
"""How often the way back is tried before a person has to."""

LEASE_BACK = timedelta(minutes=2)
"""How long one try of the way back may take to be sent. Nobody grants it, since nothing is exempt from
undoing what was agreed to be undone: neither a pause nor a budget holds it up (docs/rules.md, rule 7).
"""


class ReversibleZone(ZoneWorkflow):
    """The steps after a sign-off whose change can be undone."""

    _went_back = False
    """Whether the way back was begun: it is not tried by another way once it has failed."""

    _read_to_the_end = frozenset({ZoneOutcome.BLOCKED, ZoneOutcome.ALREADY_SETTLED})
    """Ends that follow from a reading of the target which has just asked what is left of earlier attempts."""

    _asked_whether_it_shows = False
    """Whether what an earlier attempt has sent is undone only where it shows: of an area whose way back finds
    out by itself what is left, it need not.
    """

    @property
    @abstractmethod
    def _settling(self) -> Callable[..., Awaitable[Shown]]:
        """The activity that reads until a change shows, or is gone."""

    @property
    @abstractmethod
    def _looking_back(self) -> Callable[..., Awaitable[Part]]:
        """The activity that finds in the archive what the campaign may have left at the target."""

    @property
    @abstractmethod
    def _watching(self) -> Callable[..., Awaitable[Watched]]:
        """The activity that looks once at a change that was made."""

    async def _to_an_end(self, course: Callable[[], Awaitable[Reached]]) -> ZoneResult:
        """As every target's, but that no part of a change stays behind where it ends in the middle."""

        async def or_back() -> Reached:
            try:
                return await course()
            except Ended as ended:
                if ended.outcome is ZoneOutcome.UNKNOWN or ended.outcome in DONE:
                    raise
                begun = self._begun or await self._left_behind(ended)
                if begun is None:
                    raise
                return await self._roll_back(begun, "", ended.reason)
            except LOCAL_FAILURES as failure:
                begun = self._begun
                if begun is None and self._sent is None:
                    begun = await self._left_behind(Ended(ZoneOutcome.FAILED, said(failure)))
                if begun is None:
                    raise
                return await self._roll_back(begun, "", said(failure))

        return await super()._to_an_end(or_back)

    async def _left_behind(self, ended: Ended) -> Prepared | None:
        """What is to be undone of what the campaign may have left at a target that is about to end, though
        this run knows of none. None: nothing. Raises Ended where nobody can say.
        """
        if self._went_back or ended.outcome in self._read_to_the_end:
            return None
        part = await self._part_left(self._looking_back, ended)
        if part.prepared is None:
            return None
        if not self._asked_whether_it_shows:
            if part.may_show:
                # A change is never undone before it has shown, or can no longer be expected to.
                await self._shows(part.prepared, wanted=True)
            return part.prepared
        shown = await self._shows(part.prepared, wanted=True, limit=await self._looked_for(part))
        if (shown.reached and not shown.hopeless) or shown.worse:
            return part.prepared
        if shown.reached or shown.unchanged:
            return None
        raise Ended(
            ZoneOutcome.UNKNOWN,
            f"{ended.reason}; a change that was sent before may be in force: {shown.reason};"
            " a person has to look at it",
        )

    async def _commit(self, prepared: Prepared, grant: PermitGrant) -> Reached | None:
        """Make the change and see it through. None: it has to be proposed anew. Raises Ended."""
        self._enter(ZonePhase.COMMITTING)
        result = await self._change(prepared, grant)
        if result.status is ChangeStatus.DRIFTED:
            self._drift(prepared)
            self._gathered, self._asked_at = None, None
            return None
        if result.status is ChangeStatus.REFUSED:
            return await self._refused_midway(prepared, result)
        if result.found:
            self._begun = prepared
        if result.status is ChangeStatus.NOTHING_HAPPENED:
            await self._pause_before_again(result)
            return None
        self._sent = prepared
        return await self._see_through(prepared, result)

    async def _refused_midway(self, prepared: Prepared, result: ChangeResult) -> Reached:
        """The service refused it. What was written before the refusal, if anything, is taken back."""
        reason = f"the service refused it: {result.reason}"
        if not result.found:
            raise Ended(ZoneOutcome.FAILED, reason)
        self._sent = prepared
        return await self._roll_back(prepared, result.found, reason)

    async def _see_through(self, prepared: Prepared, result: ChangeResult) -> Reached | None:
        """A change was sent, or may have been: where it led. None: nothing came of it, it is proposed
        anew.
        """
        self._enter(ZonePhase.VERIFYING)
        since = workflow.now()
        shown = await self._shows(prepared, wanted=True)
        if not shown.reached:
            if shown.worse or (not shown.unchanged and result.found):
                return await self._roll_back(prepared, result.found, shown.reason)
            if not shown.unchanged:
                raise Ended(ZoneOutcome.UNKNOWN, f"{shown.reason}; a person has to look at it")
            if self._resends >= self._start.policy.resend_unchanged:
                if shown.part:
                    # What an earlier step has written is not left behind.
                    return await self._roll_back(prepared, result.found, shown.reason)
                raise Ended(
                    ZoneOutcome.UNKNOWN, f"{result.reason or 'sent'}; {shown.reason}; retry it by hand"
                )
            self._resends += 1
            return None
        self._begun = None
        await self._tell(ReportKind.WAITING, reason=f"watched for {self._start.policy.watch}")
        self._enter(ZonePhase.WATCHING)
        until = since + self._start.policy.watch
        while True:
            every, left = self._start.policy.watch_every, until - workflow.now()
            # What was sent is seen through, also when the campaign is aborted meanwhile.
            await workflow.sleep(min(every, left) if left > timedelta(0) else every, summary="watching")
            last = workflow.now() >= until
            seen = await self._look(
                Watch(
                    start=self._bare_start,
                    prepared=prepared,
                    since=since,
                    last=last,
                    found=result.found,
                )
            )
            if seen.worse:
                return await self._roll_back(prepared, result.found, seen.worse)
            if seen.unsure and workflow.now() < until + self._start.policy.migration_limit + self._stood:
                continue
            if seen.unsure:
                raise Ended(ZoneOutcome.UNKNOWN, f"{seen.unsure}; a person has to look at it")
            if seen.done or last:
                return Reached(ZoneOutcome.SETTLED, seen.said, seen.record)

    async def _roll_back(self, prepared: Prepared, found: str, why: str) -> Reached:
        """Undo the change, as often as it takes, and see that it is undone. Raises Ended where a person has
        to.
        """
        self._enter(ZonePhase.ROLLING_BACK)
        self._begun, self._went_back = None, True
        back = prepared.model_copy(update={"step": Step.ROLL_BACK})
        since = workflow.now()
        reason = "it was not answered"
        for number in range(1, MOST_TRIES_BACK + 1):
            result = await self._send_back(back, number)
            reason = result.reason
            if result.final:
                break
            if result.status in (ChangeStatus.ANSWERED, ChangeStatus.UNKNOWN):
                answered = result.status is ChangeStatus.ANSWERED
                shown = await self._shows(back, wanted=False, answered=answered)
                if shown.reached:
                    seen = await self._look(
                        Watch(
                            start=self._bare_start,
                            prepared=back,
                            since=since,
                            last=True,
                            back=True,
                            found=found,
                            why=why[:200],
                        )
                    )
                    if not seen.worse:
                        took = (workflow.now() - since).total_seconds()
                        said = f"{why}; rolled back in {took:.1f} s{': ' if seen.said else ''}{seen.said}"
                        return Reached(ZoneOutcome.ROLLED_BACK, said, seen.record)
                    shown = Shown(reached=False, reason=seen.worse)
                reason = shown.reason
                if shown.hopeless:
                    break
            pause = timedelta(seconds=min(60, 2 ** min(number, 6)))
            await workflow.sleep(pause, summary="before the way back is tried again")
        raise Ended(
            ZoneOutcome.FAILED, f"{why}; and it could not be rolled back: {reason}; a person has to do it now"
        )

    async def _send_back(self, back: Prepared, number: int) -> ChangeResult:
        """One try of the way back, which does not count while the service is not to be called."""
        for held in count():
            result = await self._change(back, self._way_back(number + held * MOST_TRIES_BACK))
            # No permit of the campaign's was used for it.
            self._to_settle = None
            if not result.turn and held < MOST_WITHOUT_A_TURN:
                await workflow.sleep(WITHOUT_A_TURN, summary="before the next turn is asked for")
                continue
            if result.hold is None or not self._may_wait():
                break
            await self._wait_for_service(result.hold, sent=True)
        return result

    def _way_back(self, number: int) -> PermitGrant:
        # Drawn, so that a reset to after it does not name anew what has been sent under this name.
        of_run = workflow.uuid4().hex
        permit = Permit(
            number=-number,
            name=f"back-{of_run[-12:]}-{number}",
            index=self._start.index,
            step=Step.ROLL_BACK,
            expires_at=workflow.now() + LEASE_BACK,
        )
        return PermitGrant(campaign_run=self._start.campaign_run, permit=permit)

    async def _shows(
        self, prepared: Prepared, *, wanted: bool, answered: bool = True, limit: timedelta | None = None
    ) -> Shown:
        limit = limit or self._start.policy.migration_limit
        message = Settle(
            start=self._bare_start,
            prepared=prepared,
            wanted=wanted,
            limit=limit,
            since=workflow.now(),
            answered=answered,
        )
        try:
            return await self._served(
                lambda: workflow.execute_activity_method(
                    self._settling,
                    message,
                    summary="until the service shows it" if wanted else "until the service shows it undone",
                    **options.watching(self._start.policy, limit),
                ),
                sent=True,
            )
        except ActivityError as failure:
            return Shown(reached=False, reason=f"the service could not be read: {said(failure)}"[:200])

    async def _look(self, message: Watch) -> Watched:
        """One look at the change. One that cannot be watched is not kept."""
        limit = timedelta(minutes=30)
        try:
            return await self._served(
                lambda: workflow.execute_activity_method(
                    self._watching,
                    message,
                    summary="look at what was changed",
                    **options.watching(self._start.policy, limit),
                ),
                sent=True,
            )
        except ActivityError as failure:
            if message.back:
                return Watched(said=f"it could not be looked at again: {said(failure)}"[:200])
            return Watched(worse=f"it could not be watched: {said(failure)}"[:200])

"""A zone's waiting: for a message or a time; and for the service, where one that refuses the credential, or
does not answer, ends nothing.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import ReportKind, ZonePhase, reason_of_hold
    from edgeshift.model.reasons import Reason, ReasonCode, Reasons
    from edgeshift.rate_limit.circuit import OpenCircuit
    from workflows.zone.failures import LOCAL_FAILURES, failed, hold_in, is_kept_by_roots
    from workflows.zone.reporting import Reporter, ZoneWord
    from workflows.zone.state import ZoneMemory

T = TypeVar("T")

LOOKS_AGAIN_AFTER = timedelta(hours=6)
"""After which a target tries by itself, where its campaign was ended, or its word lost. It is not scaled."""

MOST_WAITS = 100
"""How often a target waits for the service before it is given up: where a call is refused that no probe
makes, it would wait for ever.
"""


FOR_ROOTS = timedelta(seconds=5)
"""How long a target waits at first, where the worker's roots keep it from looking at what was sent."""

LONGEST_FOR_ROOTS = timedelta(hours=1)
"""How long at most: about four days until ``MOST_WAITS``."""

IN_FLIGHT = frozenset({ZonePhase.COMMITTING, ZonePhase.VERIFYING})
"""Phases in which what was signed was changed, and takes a place in the window."""


class Waits:
    """Waits, and ends the wait where the zone is to stop."""

    def __init__(self, zone: ZoneMemory, reporter: Reporter) -> None:
        self._zone = zone
        self._reporter = reporter

    def is_flooded(self) -> bool:
        """Whether the run has taken more messages than it should."""
        return workflow.info().is_continue_as_new_suggested()

    async def until(
        self,
        found: Callable[[], bool],
        limit: timedelta | None,
        summary: str | None = None,
        *,
        resumable: bool = False,
    ) -> bool:
        """Wait for a condition, for at most ``limit``; whether it came. Raises Ended when the zone is to
        stop. ``resumable``: a storm of messages, which a run cannot take without end, makes it go on in a
        new run, which reads the zone anew and waits again.
        """
        zone, began = self._zone, workflow.now()
        while True:
            left = None if limit is None else max(limit - (workflow.now() - began), timedelta(0))
            try:
                await workflow.wait_condition(
                    lambda: (
                        zone.stop is not None
                        or zone.looks_back
                        or found()
                        or (resumable and self.is_flooded())
                    ),
                    timeout=left,
                    timeout_summary=summary,
                )
            except builtins.TimeoutError:
                return False
            zone.check_stop()
            if not zone.looks_back:
                break
            if await zone.see_first():
                await self._reporter.say_so()
            if found():
                return True
        if resumable and self.is_flooded() and not found():
            await workflow.wait_condition(workflow.all_handlers_finished)
            # The next run is not told of what came meanwhile: a word is said once, or not again for long.
            if zone.stop is not None or found():
                zone.check_stop()
                return True
            zone.go_on_in_a_new_run()
        return True

    async def pause(self, limit: timedelta, summary: str) -> None:
        """Let time pass. Raises Ended when the zone is to stop."""
        await self.until(lambda: False, limit, summary)

    async def unless_stopped(self, reading: workflow.ActivityHandle[T]) -> T:
        """What an activity gives that only reads, and may wait long for its turn. Where the zone is to stop
        meanwhile, it is called off. Raises Ended then.
        """
        try:
            await workflow.wait_condition(lambda: self._zone.stop is not None or reading.done())
        finally:
            called_off = reading.cancel()
        if called_off:
            self._zone.check_stop()
        return await reading

    async def unless_called_off(self, reading: workflow.ActivityHandle[T]) -> T:
        """As ``unless_stopped``, for a reading whose end runs of before have waited for, whatever they were
        told meanwhile. Raises Ended where the zone is to stop.
        """
        calling_off = asyncio.create_task(self._call_off(reading))
        try:
            return await reading
        except ActivityError as failure:
            if is_cancelled_exception(failure):
                self._zone.check_stop()
            raise
        finally:
            calling_off.cancel()

    async def _call_off(self, reading: workflow.ActivityHandle[T]) -> None:
        await workflow.wait_condition(lambda: self._zone.stop is not None)
        if not reading.done() and workflow.patched("readings-are-called-off"):
            reading.cancel()

    # --- for the service

    async def served(self, work: Callable[[], Awaitable[T]], *, sent: bool = False, whole: bool = False) -> T:
        """What ``work`` gives, which is done anew after each wait for the service. ``sent``: something was
        sent that is to be seen through, also when the campaign is aborted meanwhile. ``whole``: also when
        somebody cancels the workflow, which cancels what is under way: it is done anew then, too.
        """
        while True:
            try:
                return await work()
            except (asyncio.CancelledError, *LOCAL_FAILURES) as failure:
                if whole and is_cancelled_exception(failure) and self._outlives_a_cancellation():
                    # A workflow is cancelled once.
                    whole = False
                    continue
                if isinstance(failure, asyncio.CancelledError):
                    # One that comes in the same task as what an activity gave hides that.
                    raise
                if self._reporter.stops_if_left_alone(failure) and not sent:
                    self._zone.check_stop()
                hold = hold_in(failure)
                kept = (failed(failure),) if sent and is_kept_by_roots(failure) else ()
                if not (hold or kept) or not self.may_wait():
                    raise
            if hold is None:
                await self._for_roots(kept, whole=whole)
            else:
                await self.for_service(hold, sent=sent, whole=whole)

    def _outlives_a_cancellation(self) -> bool:
        """Whether somebody has cancelled the workflow, and what was sent is seen through all the same. The
        zone begins nothing more then.
        """
        if workflow.cancellation_reason() is None or not workflow.patched("commits-outlive-a-cancellation"):
            return False
        self._zone.cancelled()
        return True

    async def _outlasted(self, wait: Callable[[], Awaitable[object]], whole: bool) -> None:
        """Wait; once more, where somebody cancels the workflow meanwhile and ``whole`` says so."""
        try:
            await wait()
        except asyncio.CancelledError:
            if not (whole and self._outlives_a_cancellation()):
                raise
            await wait()
        if whole and self._zone.stop is None:
            # One that meets a word on its way to the campaign ends that word, and raises nothing.
            self._outlives_a_cancellation()

    async def _for_roots(self, why: Reasons, *, whole: bool = False) -> None:
        """What was sent is neither given up nor taken back because the worker's roots keep it from looking:
        somebody is about to replace them, or stops everything so.
        """
        pause = min(LONGEST_FOR_ROOTS, FOR_ROOTS * 2 ** min(self._zone.waits, 10))
        self._zone.waits += 1
        if self._zone.phase in IN_FLIGHT:
            # It may have given its permit back by now: nothing else keeps its place.
            why = (Reason(code=ReasonCode.EARLIER_CHANGE_AWAITED), *why)
        await self._outlasted(lambda: self._reporter.tell(ZoneWord(ReportKind.WAITING, why=why)), whole)
        summary = "until the roots let the service be asked"
        await self._outlasted(lambda: workflow.sleep(pause, summary=summary), whole)
        self._zone.stood += pause

    def may_wait(self) -> bool:
        """Whether to wait for the service once more."""
        return self._zone.waits < MOST_WAITS

    async def for_service(self, hold: OpenCircuit, *, sent: bool = False, whole: bool = False) -> None:
        """Tell the campaign, and wait for its word that the service answers again. Raises Ended on an abort,
        unless something was sent. ``whole``: as of ``served``.
        """
        zone = self._zone
        phase, began = zone.phase, workflow.now()
        zone.service_hold, zone.told_to_go_on = hold, False
        zone.waits += 1
        zone.enter(ZonePhase.WAITING_FOR_SERVICE)
        word = ZoneWord(ReportKind.SERVICE, why=(reason_of_hold(hold),), hold=hold)
        await self._outlasted(lambda: self._reporter.tell(word), whole)
        await self._outlasted(lambda: self._until_told(sent), whole)
        zone.service_hold = None
        zone.stood += workflow.now() - began
        if not sent:
            zone.check_stop()
        zone.enter(phase)

    async def _until_told(self, sent: bool) -> None:
        zone = self._zone
        with contextlib.suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: zone.told_to_go_on or (zone.stop is not None and not sent),
                timeout=LOOKS_AGAIN_AFTER,
                timeout_summary="until the campaign says that the service answers",
            )

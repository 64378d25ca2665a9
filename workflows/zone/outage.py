"""A target's waiting for the service: one that refuses the credential, or does not answer, ends nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import ReportKind, ZonePhase
    from edgeshift.rate_limit.circuit import ServiceHold
    from workflows.zone.protocol import LOCAL_FAILURES, ZoneProtocol, hold_in

T = TypeVar("T")

LOOKS_AGAIN_AFTER = timedelta(hours=6)
"""After which a target tries by itself, where its campaign was ended, or its word lost. It is not scaled."""

MOST_WAITS = 100
"""How often a target waits for the service before it is given up: where a call is refused that no probe
makes, it would wait for ever.
"""


class ServiceWaiting(ZoneProtocol):
    """Doing a step again once the service may be called again."""

    async def _served(self, work: Callable[[], Awaitable[T]], *, sent: bool = False) -> T:
        """What ``work`` gives, which is done anew after each wait for the service. ``sent``: something was
        sent that is to be seen through, also when the campaign is aborted meanwhile.
        """
        while True:
            try:
                return await work()
            except LOCAL_FAILURES as failure:
                if self._stops_if_left_alone(failure) and not sent:
                    self._check_stop()
                hold = hold_in(failure)
                if hold is None or not self._may_wait():
                    raise
            await self._wait_for_service(hold, sent=sent)

    def _may_wait(self) -> bool:
        """Whether to wait for the service once more."""
        return self._waits < MOST_WAITS

    async def _wait_for_service(self, hold: ServiceHold, *, sent: bool = False) -> None:
        """Tell the campaign, and wait for its word that the service answers again. Raises Ended on an abort,
        unless something was sent.
        """
        phase, began = self._phase, workflow.now()
        self._service_hold, self._told_to_go_on = hold, False
        self._waits += 1
        self._enter(ZonePhase.WAITING_FOR_SERVICE)
        await self._tell(ReportKind.SERVICE, reason=str(hold)[:120], hold=hold)
        with contextlib.suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: self._told_to_go_on or (self._stop is not None and not sent),
                timeout=LOOKS_AGAIN_AFTER,
                timeout_summary="until the campaign says that the service answers",
            )
        self._service_hold = None
        self._stood += workflow.now() - began
        if not sent:
            self._check_stop()
        self._enter(phase)

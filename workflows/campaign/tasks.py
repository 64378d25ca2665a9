"""What a campaign does side by side, each thing in a task of its own: what hangs or fails in one holds up
none of the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from workflows.campaign.state import CampaignState

PATIENCE = timedelta(minutes=5)
"""How long a run that ends waits for batches that are under way. What is cut off then the next run finds at
its sweep.
"""

Step = Callable[[], Awaitable[None]]


class RunEnds(Exception):
    """The run goes on in a new one, which takes up what this one was waiting to try again."""


class Tasks:
    """The tasks of one run."""

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._at_rest: set[str] = set()
        """Tasks that only wait, and may be cut off at any moment."""
        self._cut_off: set[str] = set()

    def begin(
        self, name: str, step: Step, *, when: Callable[[], bool] | None = None, waits: bool = False
    ) -> None:
        """Do ``step`` whenever something has changed, or whenever ``when`` is so; one at a time. ``waits``:
        the step itself only waits, too. A task that goes on already is left alone.
        """
        known = self._tasks.get(name)
        if known is None or known.done() or name in self._cut_off:
            self._cut_off.discard(name)
            self._tasks[name] = asyncio.create_task(self._repeat(name, step, when, waits))

    async def _repeat(self, name: str, step: Step, when: Callable[[], bool] | None, waits: bool) -> None:
        seen = -1
        while not self._state.leaving:
            self._at_rest.add(name)
            if when is None:
                seen = await self._state.next_change(seen)
            else:
                await workflow.wait_condition(when)
            if not waits:
                self._at_rest.discard(name)
            try:
                await step()
            except RunEnds:
                return
            except FailureError as failure:
                if not is_cancelled_exception(failure):
                    raise
                if name in self._cut_off:
                    return

    @property
    def mistake(self) -> BaseException | None:
        """What a task has failed with, if any has: an error in this code, which is to fail the workflow task
        until it is put right.
        """
        for task in self._tasks.values():
            if task.done() and not task.cancelled() and (failure := task.exception()) is not None:
                return failure
        return None

    async def end(self) -> None:
        """End them: those that wait at once, the others after the batch that they are at, or after some
        patience.
        """
        self._state.leaving = True
        try:
            self._cut(sorted(self._at_rest))
            if self._under_way():
                try:
                    await workflow.wait_condition(
                        lambda: not self._under_way(),
                        timeout=PATIENCE,
                        timeout_summary="until batches under way are done",
                    )
                except TimeoutError:
                    self._cut(self._under_way())
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        finally:
            self._state.leaving = False

    def _cut(self, names: list[str]) -> None:
        for name in names:
            self._cut_off.add(name)
            self._tasks[name].cancel()

    def _under_way(self) -> list[str]:
        return [name for name, task in self._tasks.items() if not task.done() and name not in self._cut_off]

"""A sweep of a campaign that is under way when its run is to end."""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from tests.kit import Scene, eventually


class SweepHeldUp(Interceptor):
    """From when it is ``armed``: records which targets each run looks at, and holds the first look up until
    it is let go.
    """

    def __init__(self) -> None:
        self.armed = False
        self.looks: list[tuple[str, tuple[int, ...]]] = []
        """Of each look the run, and the targets."""
        self.go = asyncio.Event()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        held = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                info = activity.info()
                if held.armed and info.activity_type == "describe_zones":
                    if info.attempt == 1:
                        held.looks.append((info.workflow_run_id or "", tuple(input.args[0].indexes)))
                    # Also each later try: one that is held up says nothing, and runs out of time.
                    await held.go.wait()
                return await super().execute_activity(input)

        return Inbound(next)


async def run_ends_amid_its_sweep(play: Scene, held: SweepHeldUp, most_events: int) -> str:
    """Have the run end that begins the next sweep, whose first look lasts until then; which run it is."""
    held.armed = True
    await eventually(lambda: _true(bool(held.looks)), 60, "a sweep begins")
    ((run, _),) = held.looks
    handle = play.client.get_workflow_handle(play.campaign.id, run_id=run)
    while ((await handle.describe()).history_length or 0) <= most_events:
        await play.ask("pause")
        await play.ask("resume")
    # The run ends by what changes from now on.
    await play.ask("pause")
    await play.ask("resume")
    held.go.set()
    await eventually(lambda: _goes_on(play, run), 60, "the next run begins")
    return run


async def _goes_on(play: Scene, run: str) -> bool:
    return (await play.campaign.describe()).run_id != run


async def _true(found: bool) -> bool:
    return found

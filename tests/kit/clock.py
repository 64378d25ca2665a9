"""Time in tests: a clock that a time-skipping server moves, and waiting for what is to come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.testing import WorkflowEnvironment
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)


class SkippedClock:
    """The clock of a time-skipping server, for activities and simulator alike.

    Sleeping in an activity moves this clock on and takes no time: the server does not skip while one runs.
    """

    def __init__(self, env: WorkflowEnvironment) -> None:
        self._env = env
        self._ahead = timedelta(0)
        self._seen = datetime.now(UTC)

    def now(self) -> datetime:
        """The server's time as last seen, and what activities have slept through since."""
        return self._seen + self._ahead

    def monotonic(self) -> float:
        """Seconds of the same clock."""
        return self.now().timestamp()

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        await asyncio.sleep(0)
        self._ahead += timedelta(seconds=seconds)

    async def skip(self, duration: timedelta) -> None:
        """Let the server skip so much time, as far as it can."""
        await self._env.sleep(duration)

    async def refresh(self) -> None:
        """Look at the server's clock; once it has passed what activities slept through, it counts alone."""
        present, server = self.now(), await self._env.get_current_time()
        self._seen, self._ahead = server, max(timedelta(0), present - server)


class Refreshing(Interceptor):
    """Looks at the server's clock before each activity."""

    def __init__(self, clock: SkippedClock) -> None:
        self._clock = clock

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        clock = self._clock

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                await clock.refresh()
                return await super().execute_activity(input)

        return Inbound(next)


class Looks:
    """Looks at something again and again: the longer a look takes, the later comes the next one, so that
    those who look do not keep a busy machine busy. ``every``: seconds between two looks, at least.
    """

    def __init__(self, every: float = 0.1) -> None:
        self._every = every
        self._began = asyncio.get_running_loop().time()

    async def pause(self) -> None:
        """Wait until the next look is due, which begins then."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(min(self._every * 5, max(self._every, 2 * (loop.time() - self._began))))
        self._began = loop.time()


async def eventually(holds: Callable[[], Awaitable[bool]], within: float = 60.0, what: str = "") -> None:
    """Return once ``holds`` says yes. Fails after ``within`` real seconds."""
    limit, looks = asyncio.get_running_loop().time() + within, Looks()
    while not await holds():
        if asyncio.get_running_loop().time() > limit:
            raise AssertionError(f"not within {within:g} s: {what}")
        await looks.pause()

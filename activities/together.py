"""Calls that are made side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

S = TypeVar("S")
T = TypeVar("T")

SIDE_BY_SIDE = 16
"""Calls of a store that are made at the same time, of many: a slow one takes seconds for each."""


async def together(*calls: Coroutine[Any, Any, Any]) -> list[Any]:
    """The results of calls made side by side. The first failure is raised as itself, and ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


async def some_together(
    call: Callable[[S], Awaitable[T]], of: Iterable[S], most: int = SIDE_BY_SIDE
) -> list[T]:
    """As ``together``, a call of each of many things, so many of them at a time; in their order."""
    gate = asyncio.Semaphore(most)

    async def one(thing: S) -> T:
        async with gate:
            return await call(thing)

    return await together(*map(one, of))

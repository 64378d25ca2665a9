"""Calls that are made side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def together(*calls: Coroutine[Any, Any, Any]) -> list[Any]:
    """The results of calls made side by side. The first failure is raised as itself, and ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]

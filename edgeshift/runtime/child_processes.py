"""Ending a child process gently."""

from __future__ import annotations

import asyncio
import contextlib


async def end_gently(process: asyncio.subprocess.Process | None, grace: float) -> None:
    """Ask a process to end, wait so many seconds, then end it; return once it has ended. None, or one that
    has ended already, is left alone.
    """
    if process is None or process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), grace)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

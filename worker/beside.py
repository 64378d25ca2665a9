"""The other process of a worker: ``python -m worker.beside``, which reads its settings, a line of JSON.

It ends when it is told to, and when its input ends, as it does when the worker is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from types import TracebackType
from typing import Self

import structlog

from edgeshift.runtime.child_processes import end_gently
from edgeshift.runtime.settings import Settings

log = structlog.get_logger("edgeshift.worker")

AGAIN_AFTER = 1.0
"""Seconds after which one that has ended by itself is started again."""

GRACE = 120.0
"""Seconds that it is given to see through what it is at, a little more than it takes itself."""

LONGEST_LINE = 2**20


class Beside:
    """Keeps the other process running while its block does. It has a session of its own, so that Ctrl-C
    reaches the worker alone, which then ends it last.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._start()
        self._keeper = asyncio.create_task(self._keep())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        await end_gently(self._process, GRACE)

    async def _start(self) -> None:
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            *_same_path(),
            "-m",
            "worker.beside",
            stdin=asyncio.subprocess.PIPE,
            stdout=sys.stderr,
            start_new_session=True,
        )
        assert process.stdin is not None
        with contextlib.suppress(ConnectionError):
            process.stdin.write(self._settings.model_dump_json().encode() + b"\n")
            await process.stdin.drain()

    async def _keep(self) -> None:
        """Start it again whenever it has ended by itself: nothing is lost by that."""
        while True:
            assert self._process is not None
            code = await self._process.wait()
            log.error("the process that serves campaigns has ended; it is started again", code=code)
            await asyncio.sleep(AGAIN_AFTER)
            try:
                await self._start()
            except OSError as failure:
                # Such as for want of memory or of processes: tried again in the next round.
                log.error("the process that serves campaigns cannot be started", reason=str(failure))


def _same_path() -> tuple[str, ...]:
    """An option by which modules are not looked for in the working folder, where this process does not."""
    return () if {"", os.getcwd()} & {*sys.path} else ("-P",)


async def _serve() -> None:
    # What this imports is needed in this process alone.
    from edgeshift.model.exit_codes import ExitCode
    from edgeshift.model.failures import FAILURES, kind_of
    from edgeshift.runtime.logging import bridge_temporal_core, configure_logging
    from worker.serving import connected, serve, stop_signal

    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    settings = Settings.model_validate_json(await reader.readline())
    configure_logging(settings.log)
    bridge_temporal_core()
    stop = stop_signal()

    async def worker_gone() -> None:
        await reader.read()
        stop.set()

    watching = asyncio.create_task(worker_gone())
    try:
        await serve(await connected(settings), settings, stop)
    except Exception as why:
        # Such as roots that cannot be read, or no Temporal. The worker itself goes on, and refuses every
        # change without roots; this one is started again until it can serve.
        kind = kind_of(type(why))
        log.error("campaigns cannot be served", reason=str(why), exc_info=kind is None)
        sys.exit(FAILURES[kind].exit if kind else ExitCode.FAILED)
    finally:
        watching.cancel()


if __name__ == "__main__":
    asyncio.run(_serve())

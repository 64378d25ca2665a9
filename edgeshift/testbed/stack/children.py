"""Child processes of a stack: they log to a file, end with their parent, and are ended gently."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from edgeshift.runtime.child_processes import end_gently
from edgeshift.runtime.parent_death import tied_to_parent
from edgeshift.runtime.settings import without_settings


class Child:
    """One child process. ``name`` is what its log file is called. ``environment``: which Temporal, archive
    and roots it has; what this process was told of others does not reach it.

    It has a session of its own, so that Ctrl-C reaches the parent alone, which then ends its children in
    order.
    """

    def __init__(self, name: str, command: Sequence[str], logs: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self.log = logs / f"{name}.log"
        self._command = list(command)
        self._environment = {**without_settings(os.environ), **environment}
        self._process: asyncio.subprocess.Process | None = None
        self._begins = 0

    @property
    def pid(self) -> int | None:
        """The process's id, once it has been started."""
        return self._process.pid if self._process else None

    @property
    def ended(self) -> int | None:
        """The exit code, if it has been started and has ended."""
        return self._process.returncode if self._process else None

    async def start(self) -> None:
        """Start it; what it prints goes to the end of its log."""
        with self.log.open("ab") as log:
            self._begins = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=tied_to_parent(os.getpid()),
            )

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        assert self._process is not None
        return await self._process.wait()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def stop(self, grace: float = 20.0) -> None:
        """Ask it to end, wait so many seconds, then end it."""
        await end_gently(self._process, grace)

    def last_words(self, lines: int = 5) -> str:
        """The end of its log, for an error message."""
        return "\n".join(self._logged()[-lines:])

    def ended_with(self) -> str:
        """In a line, why it ended: the error that it has logged last since its last start, or else its last
        line.
        """
        logged = self._logged(self._begins)
        errors = [line for line in logged if line.startswith("error: ")]
        return next(reversed(errors or logged), "")

    def _logged(self, begins: int = 0) -> list[str]:
        try:
            with self.log.open("rb") as log:
                log.seek(begins)
                return log.read().decode(errors="replace").strip().splitlines()
        except OSError:
            return []

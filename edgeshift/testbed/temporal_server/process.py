"""The embedded server as a process: its folder's lock, its ports, its start, and its end with its parent."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edgeshift.runtime.child_processes import end_gently
from edgeshift.runtime.parent_death import tied_to_parent

STOPPED_WITHIN = 15.0
"""Seconds in which a server ends by itself once it is asked to."""

_FOLDER_FREE_WITHIN = 15.0
_LOG_KEPT = 20_000_000
"""Bytes of an old log above which a new one is begun; the old one stays beside it."""


# Where the kernel does not end a child with its parent (`$$` stays the same number through exec).
_TETHER = """parent=$PPID
( while kill -0 "$parent" 2>/dev/null && kill -0 "$$" 2>/dev/null; do sleep 1; done; kill -9 "$$" ) \
  >/dev/null 2>&1 </dev/null &
exec "$@"
"""


class EmbeddedError(RuntimeError):
    """The embedded Temporal cannot run; the text names what is in the way."""


class PortInUse(EmbeddedError):
    """Another process listens on the port that was asked for."""


class DataFolderInUse(EmbeddedError):
    """Another embedded Temporal works on the same folder."""


class ServerBroken(EmbeddedError):
    """The server ended, or did not become ready; the text holds the last lines of its log."""


class ServerPanicked(ServerBroken):
    """The server fell over while it started, as where a port that it had chosen itself was taken since."""


async def hold_folder(folder: Path) -> contextlib.AbstractContextManager[int]:
    """The folder's lock. A server that is just ending is waited for; one that runs is not."""
    limit = asyncio.get_running_loop().time() + _FOLDER_FREE_WITHIN
    path = folder / "temporal.lock"
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            owner = path.read_text().strip()
            if _alive(owner) or asyncio.get_running_loop().time() > limit:
                raise DataFolderInUse(
                    f"another embedded Temporal (of process {owner or 'unknown'}) works on {folder}; "
                    "end it first, or choose another folder"
                ) from None
            await asyncio.sleep(0.2)
        else:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
            return _closing(descriptor)


@contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


async def start_server(command: list[str], log: Path, lock: int) -> asyncio.subprocess.Process:
    """Start the server; it ends when this process dies. Raises ServerBroken when it cannot be executed."""
    tied = tied_to_parent(os.getpid())
    if tied is None:
        command = ["/bin/sh", "-c", _TETHER, "sh", *command]
    with log.open("ab") as output:
        try:
            return await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # Ctrl-C is for this process, which then ends the server last.
                start_new_session=True,
                preexec_fn=tied,
                # The server holds the folder's lock too: it may outlive this process by seconds.
                pass_fds=(lock,),
            )
        except OSError as error:
            raise ServerBroken(f"{command[0]} cannot be started: {error.strerror}") from error


def begin_log(log: Path) -> int:
    """Put an old log that is too long aside; where in the log the words of a new start begin."""
    size = log.stat().st_size if log.exists() else 0
    if size <= _LOG_KEPT:
        return size
    log.replace(log.with_suffix(".log.1"))
    return 0


async def stop_server(process: asyncio.subprocess.Process) -> None:
    """Ask the server to end, and end it when it does not."""
    await end_gently(process, STOPPED_WITHIN)


def refuse_taken(port: int | None) -> None:
    """Raise PortInUse when somebody listens on `port`; None and 0 pass."""
    if not port:
        return
    with socket.socket() as probe:
        # As the server does it: connections of an earlier one that still linger are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise PortInUse(
                f"port {port} on 127.0.0.1 cannot be had ({error.strerror}); "
                "end what listens there, or choose another port"
            ) from None


def free_port() -> int:
    """A port of loopback that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _alive(pid: str) -> bool:
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

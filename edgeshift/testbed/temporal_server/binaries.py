"""Finds the Temporal binaries, or gets them: the CLI (embedded server) and the time-skipping test server.

`python -m edgeshift.testbed.temporal_server.binaries [--test-server]` gets them ahead of time and prints
where they are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
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
    printed,
    run_shown,
    runs,
    sdk_download,
)

CLI_VARIABLE = "EDGESHIFT_TEMPORAL_CLI"
CHECKSUM_VARIABLE = "EDGESHIFT_TEMPORAL_CLI_SHA256"
CLI_MODULE = "github.com/temporalio/cli"
CLI_VERSION = "v1.5.1"
"""The CLI that is downloaded, and that Go builds: server 1.29.1. Later tags need modules that are replaced by
others, of which the checksum database knows nothing.
"""

CLI_SUM = "h1:0RZMk14BWxz44Xg6ciDQvpfAMffoG3J7/K03ql80teY="
"""The checksum of that module as Go reckons it (`go mod download -json`). The module's own go.sum has those
of everything else that is built, so that this one number stands for all of the source.
"""


def temporal_cli(*, cache: Path | None = None, progress: Progress = print_progress) -> Path:
    """The path of a Temporal CLI that runs.

    Looked for in this order: the variable EDGESHIFT_TEMPORAL_CLI, `temporal` on PATH, the cache, the
    Temporal SDK's own download of this version, and a build by Go from source with a known checksum (about
    three minutes, once). Of the download edgeshift knows no checksum: where the variable
    EDGESHIFT_TEMPORAL_CLI_SHA256 says one, whatever is found has to have it. Raises BinaryError when it has
    another, when a variable names something that does not run, or when none of the ways leads anywhere.
    """
    return _with_checksum(_found_cli(cache, progress))


def _found_cli(cache: Path | None, progress: Progress) -> Path:
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


def _with_checksum(path: Path) -> Path:
    wanted = os.environ.get(CHECKSUM_VARIABLE, "").strip().lower()
    if not wanted:
        return path
    with path.open("rb") as binary:
        found = hashlib.file_digest(binary, "sha256").hexdigest()
    if found != wanted:
        raise BinaryError(
            f"{path} has the SHA-256 {found}, and {CHECKSUM_VARIABLE} says {wanted}: it is not used;"
            " remove it or name the right one"
        )
    return path


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
    downloaded = sdk_download("cli", folder / "sdk", progress, CLI_VERSION)
    if downloaded is None or runs(downloaded, "--version") is not None:
        return None
    version = printed(downloaded, "--version")
    if f"version {CLI_VERSION.removeprefix('v')} " not in version:
        progress(f"    what was downloaded is not {CLI_VERSION} ({version[:80]}); it is not used")
        return None
    return _place(downloaded, folder / "temporal")


def _built_cli(folder: Path, progress: Progress) -> Path:
    go = shutil.which("go")
    if go is None:
        raise BinaryError(_no_way("Go is not on PATH"))
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as build:
        try:
            source = _source(go)
            binary = Path(build) / "temporal"
            run_shown(
                [go, "build", "-mod=readonly", "-buildvcs=false", "-o", binary, "./cmd/temporal"],
                what=f"Building the Temporal CLI {CLI_VERSION} with Go (about three minutes, once)",
                progress=progress,
                # Not by a workspace or a module of wherever this is called.
                env={"GOWORK": "off", "GOFLAGS": ""},
                cwd=source,
            )
        except BinaryError as error:
            raise BinaryError(_no_way(str(error))) from error
        return _place(binary, folder / "temporal")


def _source(go: str) -> Path:
    """The folder with the CLI's source, whose checksum is the one that is known. Raises BinaryError."""
    module = f"{CLI_MODULE}@{CLI_VERSION}"
    said = printed(Path(go), "mod", "download", "-json", module, within=600)
    try:
        found = json.loads(said)
    except ValueError:
        raise BinaryError(f"go mod download {module}: {said.strip()[-500:] or 'no answer'}") from None
    if found.get("Error") or not found.get("Dir"):
        raise BinaryError(f"go mod download {module}: {str(found.get('Error'))[:500]}")
    if found.get("Sum") != CLI_SUM:
        raise BinaryError(f"{module} has the checksum {found.get('Sum')}, not {CLI_SUM}: it is not built")
    return Path(found["Dir"])


def _place(binary: Path, destination: Path) -> Path:
    os.replace(binary, destination)
    return destination


def _no_way(last: str) -> str:
    return (
        "no Temporal CLI was found. One of these four ways is needed:\n"
        f"  1. let {CLI_VARIABLE} name a Temporal CLI\n"
        "  2. put `temporal` on PATH\n"
        "  3. internet, for the Temporal SDK's own download\n"
        f"  4. Go, to build {CLI_MODULE}@{CLI_VERSION}\n"
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

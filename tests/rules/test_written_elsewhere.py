"""What the command line writes beside a terminal: whole or not at all, and not what a terminal would obey."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from edgeshift.cli import signed_elsewhere
from edgeshift.cli.main import called


class Said:
    """A statement to be signed on another machine."""

    digest = "a" * 64
    bytes = b"{}"


def test_a_statement_to_sign_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of one might be signed."""
    said: Any = Said()
    folder = tmp_path / "drafts"
    (path,) = signed_elsewhere._files(folder, [said])
    assert path.read_bytes() == b"{}"
    path.unlink()

    def half(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:1])
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space left") as failure:
        signed_elsewhere._files(folder, [said])
    assert failure.value.filename == str(path) and not list(folder.iterdir())


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_an_audit_file_is_not_printed_at_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its bytes stay as they were signed, with whatever a name in them hides. Nothing is asked of anybody."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdout", screen := Screen())
    assert called(["audit", "export", "main"]) == 2
    assert screen.getvalue() == ""
    err = capsys.readouterr().err
    assert "error: the file is not for a terminal" in err and "hint: --out FILE writes it" in err

"""docs/audit.md holds: its example is verified by the command on the page, and by what needs no edgeshift."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from edgeshift.cli.main import called
from tests.kit.openssh import program

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.split("## An example")[1]


def blocks(language: str) -> list[str]:
    """The fenced blocks of the example, of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", EXAMPLE, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """What is typed in it."""
    return [block.strip().removeprefix("$ ") for block in blocks("console")]


def test_the_example_is_verified_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command gives what the page shows, and exits with 0."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = called(commands()[0].split()[1:])
    (shown,) = blocks("text")
    assert code == 0 and out.getvalue() == shown


def test_the_example_is_verified_without_edgeshift(tmp_path: Path) -> None:
    """By a few lines of Python and by OpenSSH, with the commands of the page; a changed file is not."""
    (script,) = blocks("python")
    (tmp_path / "check.py").write_text(script)
    example = ROOT / "docs/audit-example.jsonl"
    (tmp_path / "docs").symlink_to(ROOT / "docs")

    def ran(file: Path) -> int:
        return subprocess.run(
            [sys.executable, "check.py", file], cwd=tmp_path, capture_output=True
        ).returncode

    assert ran(example) == 0
    assert commands()[1].startswith("ssh-keygen ")
    call = commands()[1].replace("ssh-keygen", program(), 1)
    done = subprocess.run(call, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "Good" in done.stdout
    changed = tmp_path / "changed.jsonl"
    changed.write_bytes(example.read_bytes().replace(b'"commit"', b'"commix"', 1))
    assert ran(changed) == 1

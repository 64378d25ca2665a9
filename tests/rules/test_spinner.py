"""A sign of life where one waits, and where there is none."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from edgeshift.authority.sshsig import PrivateKey
from edgeshift.cli import spinner
from edgeshift.cli.shell import Shell
from edgeshift.views.console import SafeConsole


def shown(seconds: float, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a terminal gets while a block takes so long."""
    monkeypatch.setattr(spinner, "AFTER", 0.2)
    out = io.StringIO()
    console = SafeConsole(file=out, force_terminal=True, width=60)
    with spinner.spinning(console, "asking Temporal"):
        time.sleep(seconds)
    return out.getvalue()


def test_what_is_quick_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even a hidden cursor."""
    assert shown(0, monkeypatch) == ""


def test_what_takes_long_says_what_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """And leaves the terminal as it was, cursor included."""
    seen = shown(1.5, monkeypatch)
    assert "asking Temporal …" in seen
    assert seen.rindex("\x1b[?25h") > seen.rindex("\x1b[?25l")


@pytest.mark.parametrize(
    "shell",
    [Shell(quiet=True), Shell(as_json=True), Shell(verbose=True), Shell()],
    ids=["-q", "json", "-v", "pipe"],
)
def test_there_is_none_for_programs(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With --quiet, --json, without a terminal (as in this test), and beside lines of --verbose."""
    monkeypatch.setattr(spinner, "AFTER", 0)
    with shell.waiting("asking"):
        time.sleep(0.3)
    assert capfd.readouterr() == ("", "")


def test_there_is_none_where_a_key_may_be_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`ssh-keygen` asks for a passphrase or a touch on the same terminal."""
    key = PrivateKey.made()
    (tmp_path / "key.pub").write_text(key.public.line + "\n")
    monkeypatch.setenv("EDGESHIFT_AUTHORITY_KEY", str(tmp_path / "key.pub"))
    monkeypatch.setattr(spinner, "AFTER", 0)
    out = io.StringIO()
    shell = Shell()
    shell.notes = SafeConsole(file=out, force_terminal=True, width=60)
    assert shell.signer("ada") is not None
    with shell.waiting("signing"):
        time.sleep(0.3)
    assert out.getvalue() == ""


def test_one_within_another_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb may wait for something of which a part waits by itself."""
    monkeypatch.setattr(spinner, "AFTER", 0)
    out = io.StringIO()
    shell = Shell()
    shell.notes = SafeConsole(file=out, force_terminal=True, width=60)
    with shell.waiting("outer"):
        time.sleep(0.3)
        with shell.waiting("inner"):
            time.sleep(0.3)
    assert "outer" in out.getvalue() and "inner" not in out.getvalue()

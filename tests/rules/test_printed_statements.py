"""What is said beside a statement that is signed on another machine: nobody is misled by what it says."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from edgeshift.cli.errors import CommandError
from edgeshift.cli.shell import Shell
from edgeshift.cli.signed_elsewhere import Elsewhere
from edgeshift.operations.hands import Drafts
from tests.rules.test_statements import DECISION


@pytest.mark.parametrize("wave", [None, 0, 2])
async def test_it_is_said_which_wave_a_statement_is_of(
    wave: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A statement counts waves from 0, as old signatures do; whoever typed another number is told so."""
    about = {"about": "fingerprint", "zone": None, "attempt": None, "wave": wave}
    shell, where = Shell(), Elsewhere(prints=True)
    shell.notes = Console(file=io.StringIO(), width=200)
    where._drafts = Drafts()
    await where._drafts.sign(DECISION.model_copy(update=about))
    assert await where.done(shell)
    assert json.loads(capsys.readouterr().out)["wave"] == wave
    said = shell.notes.file.getvalue()  # type: ignore[attr-defined]
    assert ("Waves count from 0 in a statement" in said) is (wave is not None)
    assert wave is None or f'its "wave":{wave} is wave {wave + 1} everywhere else' in said


@pytest.mark.parametrize("reason", ["as agreed\u202e", "as agreed\x9b2J", "plain, ü"])
async def test_what_a_terminal_would_obey_is_printed_into_a_file_alone(
    reason: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whoever signs would sign something else than they see, and an escape would do nothing but hide that."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    shell, where = Shell(), Elsewhere(prints=True)
    shell.notes = Console(file=io.StringIO(), width=200)
    where._drafts = Drafts()
    await where._drafts.sign(DECISION.model_copy(update={"reason": reason}))
    if reason.startswith("plain"):
        assert await where.done(shell) and reason in capsys.readouterr().out
        return
    with pytest.raises(CommandError, match="a terminal obeys"):
        await where.done(shell)
    assert capsys.readouterr().out == ""
    where.out = tmp_path / "out"
    assert await where.done(shell)
    (file,) = where.out.iterdir()
    assert reason in file.read_text(encoding="utf-8")

"""Bad input of every kind, in process: the table of tests/journeys/bad_inputs.py, each with its error and its
exit code, as text and as JSON.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from edgeshift.cli.errors import CommandError
from edgeshift.cli.main import VERBS
from edgeshift.cli.signed_elsewhere import Elsewhere
from edgeshift.runtime.safe_text import hides
from tests.journeys.bad_inputs import ALL, FILES, Bad
from tests.journeys.cli_kit import in_process

NOWHERE = "127.0.0.1:9"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the table."""
    made = tmp_path_factory.mktemp("inputs")
    for name, text in FILES.items():
        (made / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    (made / "folder").mkdir()
    return made


def words(line: str) -> list[str]:
    """The line as a shell splits it, ``$'…'`` with its escapes included."""
    ansi = re.sub(r"\$'([^']*)'", lambda found: shlex.quote(_unescaped(found.group(1))), line)
    return shlex.split(ansi)


def _unescaped(text: str) -> str:
    return text.replace("\\e", "\x1b").encode("latin-1", "backslashreplace").decode("unicode_escape")


def matters(message: str) -> bool:
    """Whether an error is about --json itself: the verb has no such option, another one excludes it, or it
    stands where a value is missing.
    """
    return (
        "No such option: --json" in message
        or "'--json' is not" in message
        or ("--json" in message and "exclude" in message)
    )


@pytest.mark.parametrize("bad", ALL, ids=lambda bad: bad.line[:60] or "nothing")
def test_it_is_told_what_is_wrong(folder: Path, monkeypatch: pytest.MonkeyPatch, bad: Bad) -> None:
    """The exit code; one error that names the thing, a blank line, and a hint; nothing on stdout; nothing
    that a terminal obeys. As JSON the same.
    """
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", NOWHERE)
    monkeypatch.setenv("COLUMNS", "80")
    given = words(bad.line)
    ran = in_process(*given)
    assert ran.code == bad.code, ran
    # Where a command is missing, its help tells which there are.
    assert ran.out == "" or ("needs a command" in bad.said and "Usage: edgeshift" in ran.out), ran
    assert bad.said in ran.err
    if "--json" not in given:
        found = re.search(r"[^\n]\n\nhint: ([^\n]+)\n\Z", ran.err)
        assert found and bad.hint in found.group(1) and ran.err.count("error: ") == 1, ran
    assert not any(hides(char) for char in ran.err if char != "\n")
    assert "Error" not in ran.err and "hush" not in ran.err and "sk-1234567" not in ran.err
    told = in_process(*given, "--json")
    last = json.loads(told.err.splitlines()[-1])
    assert last["exit_code"] == told.code and last["message"] and last["hint"]
    if "--json" not in given and not matters(last["message"]):
        # Where there are several mistakes, each is a detail.
        assert told.code == bad.code and bad.said in "\n".join([last["message"], *map(str, last["details"])])
    assert not any(hides(char) for char in told.err if char != "\n")


def test_every_verb_is_in_the_table() -> None:
    """All but the worker, which takes nothing but settings."""
    assert len(ALL) >= 150
    assert {verb for bad in ALL for verb in words(bad.line)[:1]} >= set(VERBS) - {"worker"}


def test_a_file_that_is_read_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the plan that is made of it: neither under its own name nor by a link to it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", NOWHERE)
    file = tmp_path / "good.yaml"
    file.write_bytes(text := b"# why\nname: good\ntargets: {all: true}\n")
    (tmp_path / "hard.json").hardlink_to(file)
    (tmp_path / "soft.json").symlink_to(file)
    for out in ("good.yaml", "hard.json", "soft.json"):
        assert in_process("plan", "good.yaml", "--out", out).code == 2
    assert file.read_bytes() == text


def test_who_hands_in_a_statement_is_not_silently_somebody_else() -> None:
    """A name that was typed is the signer's, or refused; a login is nobody's word."""
    where = Elsewhere(signed=((SimpleNamespace(by="ada"), ""),))  # type: ignore[arg-type]
    typed = SimpleNamespace(name="COMMANDLINE")
    where.check_by("ada", typed=typed)
    where.check_by("olga", typed=SimpleNamespace(name="DEFAULT"))
    with pytest.raises(CommandError, match="--by grace: what was signed is by ada") as refused:
        where.check_by("grace", typed=typed)
    assert refused.value.code == 2


def test_what_is_advised_can_be_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a path has spaces."""
    monkeypatch.chdir(tmp_path)
    told = in_process("keys", "make", "a b", "--file", "k x").out
    assert "export EDGESHIFT_AUTHORITY_KEY='k x'\n" in told and "add 'a b' --key 'k x.pub' --role" in told
    assert "ssh-keygen -t ed25519 -f 'k x'" in told

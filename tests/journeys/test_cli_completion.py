"""What a shell completes: verbs, options, choices, names; by its protocol, and in a real bash."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main
from temporalio.client import Client

from edgeshift.cli import candidates
from edgeshift.cli.completion import ShellName
from edgeshift.cli.main import VERBS, build
from edgeshift.cli.shell import Shell
from tests.journeys.cli_kit import CLI, in_process

NOWHERE = "127.0.0.1:9"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a named environment, far from any other."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "edgeshift.toml").write_text("[env.production]\n[env.staging]\n")
    return tmp_path


def offered(line: str, shell: ShellName = ShellName.BASH, **variables: str) -> list[str]:
    """What is offered for the last word of a line, which may be empty."""
    words = line.split(" ")
    asks = {
        "_EDGESHIFT_COMPLETE": f"complete_{shell.value}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "EDGESHIFT_TEMPORAL_ADDRESS": NOWHERE,
    }
    if shell is not ShellName.BASH:
        del asks["COMP_WORDS"]
    done = subprocess.run(
        CLI, env={**os.environ, **asks, **variables}, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return [word for word in done.stdout.splitlines() if word]


def test_verbs_are_completed_without_loading_any() -> None:
    """Those that begin so; parts of a verb once it is there."""
    assert offered("edgeshift re") == [verb for verb in VERBS if verb.startswith("re")]
    assert offered("edgeshift sign-off ") == ["approve", "reject", "causes"]


def test_options_are_completed_also_those_of_every_verb() -> None:
    """After the verb as well as before it; one that was given is not offered again."""
    assert offered("edgeshift pause c --a") == ["--all", "--address", "--archive"]
    assert offered("edgeshift --na") == ["--namespace"]
    assert "--force" not in offered("edgeshift init --force --f")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("edgeshift status c --until ", ["finished", "waiting", "running", "paused", "halted"]),
        ("edgeshift reopen c --outcome a", ["aborted"]),
        ("edgeshift status c --phase awaiting_s", ["awaiting_separate", "awaiting_sign_off"]),
        ("edgeshift init --area l", ["log-fields"]),
        ("edgeshift completion ", ["bash", "zsh", "fish"]),
        ("edgeshift --env s", ["staging"]),
        ("edgeshift status --env p", ["production"]),
    ],
)
def test_values_are_completed(line: str, wanted: list[str]) -> None:
    """Choices, places, outcomes of the verb, environments."""
    assert offered(line) == wanted


def test_each_shell_is_answered_in_its_own_way() -> None:
    """With a line of help beside each, where the shell shows one."""
    assert offered("edgeshift sta", ShellName.FISH) == [
        f"start\t{VERBS['start'].help}",
        f"status\t{VERBS['status'].help}",
    ]
    zsh = "\n".join(offered("edgeshift sta", ShellName.ZSH))
    assert zsh.startswith("_arguments") and '"start":' in zsh and '"status":' in zsh


@pytest.mark.parametrize("shell", ShellName)
def test_what_a_shell_would_run_is_not_offered(folder: Path, shell: ShellName) -> None:
    """Zsh runs what it is answered, and a stranger may have written the folder's file."""
    odd = r"x\$(touch pwned)", "x`touch pwned`", "x';touch pwned;'", "x*", "-x"
    (folder / "edgeshift.toml").write_text("".join(f"[env.{json.dumps(name)}]\n" for name in ("xen", *odd)))
    told = "\n".join(offered("edgeshift --env ", shell))
    assert "xen" in told and "pwned" not in told and "x*" not in told and '"-x' not in told


def test_a_planted_name_of_a_zone_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may write into the archive chooses it."""

    @asynccontextmanager
    async def nobody(shell: Shell) -> AsyncIterator[None]:
        yield None

    async def names(shell: Shell, client: Client) -> AsyncIterator[str]:
        for name in ("shop.example", r"x\$(touch pwned)", "bücher.example", "a b", "-v", ""):
            yield name

    monkeypatch.setattr(Shell, "temporal", nobody)
    command: Any = typer.main.get_command(build("status"))
    with command.make_context("edgeshift", ["status"]) as context:
        assert candidates._asked(context, "", names) == ["shop.example", "bücher.example"]


def test_a_line_that_is_wrong_is_no_error() -> None:
    """Somebody is typing: nothing is said, nothing offered."""
    assert offered("edgeshift statu --pha") == []


def test_names_that_nobody_answers_for_are_not_offered() -> None:
    """Neither campaigns nor zones, and it is no error."""
    assert offered("edgeshift status ") == []
    assert offered("edgeshift history ") == []


def test_a_server_that_says_nothing_is_waited_for_a_second() -> None:
    """It takes connections and never answers; a person types meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        command: Any = typer.main.get_command(build("status"))
        with command.make_context("edgeshift", ["--address", address, "status"]) as context:
            began = time.monotonic()
            assert candidates._asked(context, "", candidates._campaigns) == []
            assert candidates.WITHIN <= time.monotonic() - began < 10


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    """The script that is printed, in a shell that has nothing else: the word is completed as typed."""
    program = tmp_path / "edgeshift"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m edgeshift.cli.entry "$@"\n')
    program.chmod(0o755)
    script = in_process("completion", "bash")
    assert script.code == 0
    (tmp_path / "completion.sh").write_text(script.out)
    asked = (
        "source completion.sh; complete -p edgeshift; COMP_WORDS=(edgeshift support); COMP_CWORD=1;"
        ' _edgeshift_completion edgeshift; echo "${COMPREPLY[@]}"'
    )
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", asked], env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    first, second = done.stdout.splitlines()
    assert first == "complete -o default -F _edgeshift_completion edgeshift" and second == "support-resolved"


@pytest.mark.parametrize("shell", ShellName)
def test_a_script_names_the_program_and_the_variable(shell: ShellName) -> None:
    """Of every shell, and nothing but the script is printed."""
    told = in_process("completion", shell.value)
    assert told.code == 0 and told.err == ""
    assert f"_EDGESHIFT_COMPLETE=complete_{shell.value}" in told.out and "edgeshift" in told.out

"""``edgeshift completion``: what lets a shell complete verbs, options and values; and its answers to the
shell.
"""

from __future__ import annotations

import os
import shlex
import sys
from enum import StrEnum
from typing import Annotated, Any, NoReturn

import typer
from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script

from edgeshift.cli.errors import ExitCode
from edgeshift.cli.streams import prepare


class ShellName(StrEnum):
    """A shell for which there is a script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[ShellName, typer.Argument(help="Your shell.", show_default=False)]) -> None:
    """Print what lets a shell complete verbs, options, choices and names; docs/cli.md says where it goes."""
    from edgeshift.cli.main import COMPLETE

    sys.stdout.write(get_completion_script(prog_name="edgeshift", complete_var=COMPLETE, shell=shell) + "\n")


def answer() -> NoReturn:
    """Answer the shell that has started this process, and end it."""
    from edgeshift.cli.main import end_with

    prepare()
    end_with(complete())


def complete() -> int:
    """Answer a shell that asks what could follow; the exit code. Whatever fails, it offers nothing and says
    nothing: somebody is typing.
    """
    from edgeshift.cli.main import COMPLETE

    completion_init()
    try:
        _loaded()(args=[], prog_name="edgeshift", complete_var=COMPLETE)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else ExitCode.OK
    except Exception:
        return ExitCode.FAILED
    return ExitCode.OK


def _loaded() -> Any:
    """The application with the verb that was typed; its commands take the shared options too, as they do when
    they are called.
    """
    from edgeshift.cli.main import SHARED, VERBS, arranged, build

    _, verb = arranged(_typed())
    group: Any = typer.main.get_command(build(verb if verb in VERBS else ""))
    shared = [option for option in group.params if set(option.opts) & set(SHARED)]
    if verb in VERBS:
        command = group.commands[verb]
        for one in (command, *getattr(command, "commands", {}).values()):
            one.params = [*one.params, *shared]
    return group


def _typed() -> list[str]:
    """The words so far, without the program's name."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    try:
        return shlex.split(line)[1:]
    except ValueError:
        # A quote that is still open.
        return line.split()[1:]

"""Asking a person: questions, and what is read before them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from edgeshift.cli.errors import CommandError, ExitCode

if TYPE_CHECKING:
    from rich.console import Console


def not_confirmed() -> CommandError:
    """A person was asked and did not say yes."""
    return CommandError(
        "not confirmed; nothing was changed", ExitCode.REFUSED, hint="call it again and answer y to go on"
    )


class Asking:
    """What a shell needs to ask, with its consoles (edgeshift/cli/shell.py)."""

    as_json: bool
    quiet: bool
    if TYPE_CHECKING:

        @property
        def console(self) -> Console:
            """Where people read the result."""

        @property
        def errors(self) -> Console:
            """Where questions of a verb whose stdout is for programs go."""

    @property
    def interactive(self) -> bool:
        """Whether a person can answer a question here."""
        return sys.stdin.isatty() and (sys.stderr if self.as_json else sys.stdout).isatty()

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Let people page through what is printed meanwhile, where it is longer than their terminal."""
        if self.as_json or not (self.interactive and self.console.is_terminal):
            yield
            return
        with self.console.capture() as captured:
            yield
        text = captured.get()
        if text.count("\n") < self.console.height - 2:
            self.console.file.write(text)
            return
        from rich.pager import SystemPager

        # `less -R` shows colours; with `-X` what was read stays on the screen, above the question.
        with _less_as("-RX"):
            SystemPager().show(text)

    def confirm(self, question: str, *, yes: bool) -> None:
        """Go on only with a person's yes. Raises CommandError (6) without one, and where nobody can
        answer.
        """
        if yes:
            return
        if not self.interactive:
            raise CommandError(
                "cannot prompt without a terminal; nothing was changed",
                ExitCode.REFUSED,
                hint="pass --yes to go on without a question",
            )
        if self.as_json and self.quiet:
            raise CommandError(
                "with --json and --quiet, nothing of what is asked about is shown; nothing was changed",
                ExitCode.BAD_INPUT,
                hint="leave --quiet out, or pass --yes to go on without a question",
            )
        if self._answer(question) not in ("y", "yes"):
            raise not_confirmed()

    def _answer(self, question: str) -> str:
        """What a person types; empty at the end of input. Ctrl-C ends it as anywhere else."""
        from rich.text import Text

        # asyncio only notes a first Ctrl-C for its loop, which stands still while somebody is asked.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            asks = self.errors if self.as_json else self.console
            asks.print(Text(f"{question} [y/N] "), end="")
            return input().strip().lower()
        except EOFError:
            return ""
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _less_as(options: str) -> Iterator[None]:
    """Options of the pager `less`, unless whoever calls has chosen their own."""
    if "LESS" in os.environ:
        yield
        return
    os.environ["LESS"] = options
    try:
        yield
    finally:
        del os.environ["LESS"]

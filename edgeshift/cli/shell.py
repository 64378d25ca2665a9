"""What every verb needs: where to print, which settings count, a connection to Temporal, the archive, who
asks.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.text import Text

from edgeshift.cli.errors import CommandError, ExitCode

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.runtime.settings import Settings
    from edgeshift.stores.archive import Archive

Answer = TypeVar("Answer")


def not_confirmed() -> CommandError:
    """A person was asked and did not say yes."""
    return CommandError(
        "not confirmed; nothing was changed", ExitCode.REFUSED, hint="call it again and answer y to go on"
    )


class Shell:
    """The surroundings of one call of the command line.

    ``console`` is stdout, ``errors`` is stderr. Settings: options first, then EDGESHIFT_* of the environment,
    then the running stack of this folder (``.edgeshift/stack.json``, written by ``edgeshift up``), then the
    defaults.
    """

    def __init__(
        self,
        *,
        address: str | None = None,
        namespace: str | None = None,
        archive_url: str | None = None,
        no_color: bool = False,
        debug: bool = False,
    ) -> None:
        self._address = address
        self._namespace = namespace
        self._archive_url = archive_url
        self.debug = debug
        self.no_color = no_color or bool(os.environ.get("NO_COLOR"))
        self.console = Console(no_color=self.no_color, highlight=False)
        self.errors = Console(stderr=True, no_color=self.no_color, highlight=False)

    @property
    def interactive(self) -> bool:
        """Whether a person can answer a question here."""
        return sys.stdin.isatty() and sys.stdout.isatty()

    @cached_property
    def settings(self) -> Settings:
        """The settings that count for this call."""
        from edgeshift.cli.found_stack import settings_here

        return settings_here(address=self._address, namespace=self._namespace, archive=self._archive_url)

    @asynccontextmanager
    async def temporal(self) -> AsyncIterator[Client]:
        """A connection to Temporal."""
        from edgeshift.runtime.temporal import connect

        yield await connect(self.settings.temporal, identity=f"{person()}@edgeshift-cli")

    def archive(self) -> Archive:
        """The archive that the settings name."""
        from edgeshift.stores.archive import Archive

        return Archive(self.settings.archive)

    def print_json(self, value: object) -> None:
        """Print a value as JSON on stdout, as it is: no colours, no wrapping. Models are dumped."""
        import json

        def plain(item: Any) -> Any:
            if hasattr(item, "model_dump"):
                return item.model_dump(mode="json")
            raise TypeError(f"{type(item).__name__} has no JSON")

        sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=plain) + "\n")
        sys.stdout.flush()

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
        if self._answer(question) not in ("y", "yes"):
            raise not_confirmed()

    def _answer(self, question: str) -> str:
        """What a person types; empty at the end of input. Ctrl-C ends it as anywhere else."""
        # asyncio only notes a first Ctrl-C for its loop, which stands still while somebody is asked.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.console.print(Text(f"{question} [y/N] "), end="")
            return input().strip().lower()
        except EOFError:
            return ""
        finally:
            signal.signal(signal.SIGINT, before)


_current = Shell()


def adopt(shell: Shell) -> None:
    """Make ``shell`` the one of this call."""
    global _current
    _current = shell


def current() -> Shell:
    """The shell of this call."""
    return _current


def person() -> str:
    """Who asks, unless ``--by`` says it: EDGESHIFT_USER, or the login of the operating system."""
    try:
        return os.environ.get("EDGESHIFT_USER", "").strip() or getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def said_once(shell: Shell) -> Callable[[str], None]:
    """Something that says on stderr why a thing is being tried again, each reason once."""
    heard: set[str] = set()

    def say(reason: str) -> None:
        # The ray names one request; without it the same failure reads the same.
        key = reason.partition("cf-ray")[0]
        if key not in heard:
            heard.add(key)
            shell.errors.print(f"trying again: {reason}", markup=False, soft_wrap=True)

    return say


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a verb's work to its end. Ctrl-C cancels it and lets it clean up."""
    return asyncio.run(work)

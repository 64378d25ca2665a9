"""What every verb needs: where to print, which settings count, a connection to Temporal, the archive, who
asks.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from edgeshift.cli.asking import Asking
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.interrupts import heed_interrupts
from edgeshift.views.chosen import as_chosen

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from temporalio.client import Client, Interceptor

    from edgeshift.authority.keyring import Keyring
    from edgeshift.authority.roots import Roots
    from edgeshift.authority.signing import Signer
    from edgeshift.operations.pen import Pen
    from edgeshift.runtime.environments import Environment
    from edgeshift.runtime.settings import Settings
    from edgeshift.stores.archive import Archive, ArchiveError

Answer = TypeVar("Answer")


class Shell(Asking):
    """The surroundings of one call of the command line.

    ``console`` is stdout, for results; ``errors`` is stderr; ``notes`` is stderr too, for progress and
    remarks, and silent by ``quiet``. With ``as_json``, stdout has one JSON document and nothing else: what
    people read beside it goes to ``notes``. ``at_ctrl_c``: what is said when Ctrl-C ends the verb.

    Settings: options first, then a named environment (``environment``), or else EDGESHIFT_* of the process
    and the running stack of this folder (``.edgeshift/stack.json``, written by ``edgeshift up``), then the
    defaults.
    """

    def __init__(
        self,
        *,
        address: str | None = None,
        namespace: str | None = None,
        archive_url: str | None = None,
        environment: str | None = None,
        no_color: bool = False,
        debug: bool = False,
        quiet: bool = False,
        verbose: bool = False,
        as_json: bool = False,
    ) -> None:
        self._address = address
        self._namespace = namespace
        self._archive_url = archive_url
        self._environment = environment
        self.debug = debug
        self.quiet, self.verbose, self.as_json = quiet, verbose, as_json
        self._waits = False
        self.at_ctrl_c = "stopped"
        self.no_color = no_color or bool(os.environ.get("NO_COLOR"))

    @cached_property
    def console(self) -> Console:
        """Where people read the result."""
        return self.notes if self.as_json else self._console()

    @cached_property
    def errors(self) -> Console:
        """Where errors and questions of a verb whose stdout is for programs go."""
        return self._console(stderr=True)

    @cached_property
    def notes(self) -> Console:
        """Where progress and remarks go."""
        return self._console(stderr=True, quiet=self.quiet)

    def _console(self, *, stderr: bool = False, quiet: bool = False) -> Console:
        from edgeshift.views.console import SafeConsole

        return SafeConsole(stderr=stderr, quiet=quiet, no_color=self.no_color)

    @cached_property
    def settings(self) -> Settings:
        """The settings that count for this call."""
        from edgeshift.cli.found_stack import settings_here
        from edgeshift.model.addresses import without_credentials

        found = settings_here(
            address=self._address,
            namespace=self._namespace,
            archive=self._archive_url,
            named=self.environment,
        )
        if (named := self.environment) is not None:
            self.explain(f"environment {named.name} ({named.file})")
        tls = "with TLS" if found.temporal.encrypted else "in plain text"
        self.explain(f"Temporal {found.temporal.address}, namespace {found.temporal.namespace}, {tls}")
        # Also of one that is refused: it may have a password.
        self.explain(f"archive {without_credentials(found.archive)}")
        return found

    @cached_property
    def environment(self) -> Environment | None:
        """The named environment that was chosen, by ``--env`` or EDGESHIFT_ENV; None without one. Raises
        SettingsError where there is none of the name.
        """
        name = self._environment
        if name is None:
            name = os.environ.get("EDGESHIFT_ENV", "").strip() or None
        if name is None:
            return None
        from edgeshift.runtime.environments import environment_named

        return environment_named(name)

    @property
    def here(self) -> str:
        """What a question adds where a named environment was chosen: `` in production``."""
        return f" in {self.environment.name}" if self.environment else ""

    @property
    def where(self) -> dict[str, Any]:
        """Where a verb acts, as its document says it: the named environment, or None, and Temporal."""
        temporal = self.settings.temporal
        return {
            "environment": self.environment.name if self.environment else None,
            "address": temporal.address,
            "namespace": temporal.namespace,
        }

    def explain(self, what: str) -> None:
        """Say what is being done, where that was asked for (``--verbose``)."""
        if self.verbose:
            self.errors.print(f"· {what}", style="dim", markup=False, soft_wrap=True)

    def waiting(self, words: str) -> AbstractContextManager[None]:
        """Show a sign of life while a block waits, where a person would see it. Nothing is to be printed on
        stdout within the block.
        """
        seen = self.notes.is_terminal and not self.notes.is_dumb_terminal
        if not seen or self.quiet or self.as_json or self.verbose or self._waits:
            return nullcontext()
        return self._spinning(words)

    @contextmanager
    def _spinning(self, words: str) -> Iterator[None]:
        from edgeshift.cli.spinner import spinning

        self._waits = True
        try:
            with spinning(self.notes, words):
                yield
        finally:
            self._waits = False

    @asynccontextmanager
    async def temporal(self, *, writes: bool = False) -> AsyncIterator[Client]:
        """A connection to Temporal. ``writes``: for a verb that changes something, which says where. Raises
        CommandError where the stack of this folder was meant, and does not run.
        """
        from edgeshift.runtime.temporal import connect

        self.check_stack()
        settings = self.settings.temporal
        interceptors: list[Interceptor] = []
        if self.verbose:
            from edgeshift.cli.explained import Explaining
            from edgeshift.http.overheard import explain_requests

            interceptors = [Explaining(self.explain)]
            explain_requests(self.explain)
        with self.waiting("connecting to Temporal"):
            client = await connect(settings, identity=f"{person()}@edgeshift-cli", interceptors=interceptors)
        if writes:
            named = self.environment
            where = f"in environment {named.name} ({named.file}), " if named else ""
            where += f"at Temporal {settings.address}, namespace {settings.namespace}"
            self.notes.print(where, style="dim", markup=False, soft_wrap=True)
        yield client

    def check_stack(self) -> None:
        """Raises CommandError where this folder has a stack of its own that does not run, and nobody said
        which other Temporal is meant: one at the default address would be a stranger's.
        """
        from edgeshift.cli.found_stack import stopped_stack

        if self._address is not None or self.environment is not None:
            return
        if (folder := stopped_stack()) is not None:
            raise CommandError(
                f"the stack of {folder} does not run",
                ExitCode.TEMPORAL,
                hint="`edgeshift up` starts it again; --address HOST:PORT or EDGESHIFT_TEMPORAL_ADDRESS"
                " names another Temporal",
            )

    def archive(self, *, make: bool = False) -> Archive:
        """The archive that the settings name. ``make``: its folder is made where it is not there, which only
        the verbs do that a campaign begins with: in a new one nobody would find what its workers have.
        """
        from edgeshift.stores.archive import Archive

        return Archive(self.settings.archive, make=make)

    def archive_if_any(self) -> Archive | ArchiveError:
        """The archive, or why it cannot be opened, for what goes on without it."""
        from edgeshift.stores.archive import ArchiveError

        try:
            return self.archive()
        except ArchiveError as why:
            return why

    def pen(
        self,
        by: str,
        role: Literal["starter", "approver", "operator"] | None = None,
        *,
        stops: bool = False,
    ) -> Pen | None:
        """Who signs for a person, with whatever key there is; None without one. What is signed where the
        archive cannot be opened raises ArchiveError. Raises SigningFailed, and Refused where the roots that
        are known here would not count them in this role, or let signatures alone count and there is no key.
        ``stops``: for what may be told without one, since a campaign obeys it; whoever does so says that.
        """
        from edgeshift.authority.roots import Role, asking
        from edgeshift.operations.not_counted import no_key
        from edgeshift.operations.pen import Pen

        if (signer := self.signer(by)) is None:
            if role is not None and not stops and (known := asking(self.roots())) is not None:
                raise no_key(known, Role(role))
            return None

        pen = Pen(signer, self.archive_if_any(), by, self.roots(), self.say_note)
        if role is not None:
            pen.refuse_without(Role(role))
        return pen

    def signer(self, by: str) -> Signer | None:
        """Whoever signs with the key that the settings name (EDGESHIFT_AUTHORITY_KEY), or with that of the
        stack of this folder, where everybody has one; None without either. Raises SigningFailed where the key
        is none.
        """
        from edgeshift.authority.signing import OpenSSHSigner, signer_at

        if (path := self.settings.authority.key) is not None:
            found = signer_at(path)
            # It asks on the terminal, for a passphrase or a touch: nothing may turn there from now on.
            self._waits = self._waits or isinstance(found, OpenSSHSigner)
            return found
        keyring = self._stack_keyring()
        return keyring.signer(by) if keyring is not None else None

    def roots_file(self) -> Path | None:
        """The roots that are known here: those of the settings (EDGESHIFT_AUTHORITY_ROOTS), or of the stack
        of this folder.
        """
        if (path := self.settings.authority.roots) is not None:
            return path
        keyring = self._stack_keyring()
        return keyring.roots if keyring is not None else None

    def roots(self) -> Roots | None:
        """The roots that are known here, or None. Raises RootsError where they cannot be used."""
        if (path := self.roots_file()) is None:
            return None
        from edgeshift.authority.loading import load_roots

        return load_roots(path)

    @cached_property
    def readable_roots(self) -> Roots | None:
        """The roots that are known here; None also where they cannot be used."""
        from edgeshift.authority.loading import RootsError

        try:
            return self.roots()
        except RootsError:
            return None

    @property
    def asks_for_keys(self) -> bool:
        """Whether the roots that are known here let signatures alone count."""
        from edgeshift.authority.roots import asking

        return asking(self.readable_roots) is not None

    async def note_of(self, campaign: str, spec: str | None = None, kept_in: str = "") -> str:
        """What each screen says of a campaign whose start nobody who is known here has signed; else nothing.
        ``spec``: digest of its specification, ``kept_in``: identity of its archive, where they are known.
        """
        from edgeshift.operations.proof import note_of

        return await note_of(self.archive_if_any(), campaign, spec, self.readable_roots, kept_in=kept_in)

    async def note_for(self, client: Client, campaign: str) -> str:
        """As ``note_of``, of the newest run of a campaign. Nothing where that cannot be read."""
        from edgeshift import operations

        try:
            start = await operations.campaign_input(client, campaign)
        except operations.OperationError:
            return ""
        return await self.note_of(campaign, start.spec, start.archive)

    def say_note(self, *notes: str) -> None:
        """Print what holds of whole campaigns, where there is something."""
        for note in notes:
            if note:
                self.console.print(note, markup=False, soft_wrap=True)

    def _stack_keyring(self) -> Keyring | None:
        from edgeshift.authority.keyring import Keyring
        from edgeshift.cli.found_stack import stack_here

        stack = stack_here()
        if stack is None or not stack.authority or stack.archive != self.settings.archive:
            return None
        return Keyring(Path(stack.authority))

    def print_json(self, value: object) -> None:
        """Print a value as JSON on stdout: no colours, no wrapping. Models are dumped. What a terminal would
        obey, or lacks, is escaped as JSON does it.
        """
        from edgeshift.cli.documents import print_json

        print_json(value)

    def answer(self, document: object, *lines: str) -> None:
        """Print the result of a verb: ``lines`` for people, or with ``--json`` the document."""
        if self.as_json:
            self.print_json(document)
            return
        for line in lines:
            self.console.print(line, markup=False, soft_wrap=True)

    def advise(self, *lines: str) -> None:
        """Print what one may do next, unless only the result was asked for."""
        if not self.quiet:
            for line in lines:
                self.console.print(as_chosen(line), markup=False, soft_wrap=True)

    def tell(
        self, words: str, *, lead: Text | str = "", indent: int = 2, style: str = "", longest: int = 2_000
    ) -> None:
        """Print words from anywhere as one paragraph of stdout, after ``lead``, which is ours. It wraps
        between words at any width, and stands as far in as the words themselves do, up to a bound.
        """
        from rich.text import Text

        from edgeshift.views.widths import Paragraph, indent_of, shortened
        from edgeshift.views.words import one_line

        own = indent_of(words)
        start = Text(" " * indent).append(lead).append(" " * own)
        clean = shortened(one_line(words, longest))
        self.console.print(Paragraph(start, clean, hang=indent + own + 2, style=style), soft_wrap=True)


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


def run(work: Coroutine[Any, Any, Answer], *, waiting: str = "") -> Answer:
    """Run a verb's work to its end. Ctrl-C cancels it and lets it clean up. ``waiting``: what is waited for,
    where the work prints nothing by itself.
    """
    import asyncio

    heed_interrupts()
    with current().waiting(waiting) if waiting else nullcontext():
        return asyncio.run(work)

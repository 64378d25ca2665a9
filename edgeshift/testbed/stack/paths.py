"""Where things of an embedded stack are: its folder, its ports, and the file by which other commands find
it.
"""

from __future__ import annotations

import fcntl
import os
import random
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from edgeshift.model.exit_codes import ExitCode
from edgeshift.model.fleet import Area, named_for
from edgeshift.runtime.private_files import tighten
from edgeshift.testbed.stack.reserved_ports import choosing

USUAL_PORTS = {"temporal": 7233, "ui": 8233, "simulator": 8780, "edge": 8781}
"""Taken where they are free when a folder is used for the first time; the folder remembers what it got."""

OWN_RANGE = range(20_000, 32_000)
"""Below the ports that the system gives to outgoing connections, which could take one before it is bound."""

OWN_FILES = (".json", ".yaml")
"""Of the files that lie in a stack's folder itself, those that say anything."""

_PORTS = TypeAdapter(dict[str, int])


class StackError(Exception):
    """An embedded stack that cannot run: what is in the way, and what to do (``hint``). ``details``: the end
    of a log.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.FAILED

    def __init__(self, text: str, hint: str = "", *, details: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint
        self.details = details


class StackRuns(StackError):
    """One that runs already, and keeps its folder from another one."""

    exit_code = ExitCode.REFUSED


class StackFile(BaseModel):
    """What ``stack.json`` says of a running stack. ``archive`` is a URL; it is gone when the stack has
    ended. ``edge`` is where the zones' traffic is served, by Host header; ``authority`` the folder with keys
    and roots.
    """

    pid: Annotated[int, Field(gt=0)]
    address: str
    namespace: str
    ui: str | None
    service: str
    control: str
    archive: str
    tickets: str
    campaign: str
    time_scale: float
    edge: str | None = None
    authority: str | None = None


class Ports(BaseModel):
    """The ports of one folder's stack, the same at every start so that what was noted stays true."""

    temporal: int
    ui: int
    simulator: int
    edge: int


class StackPaths:
    """The paths of a stack's folder. ``tickets``: where its tickets go, if not into it."""

    def __init__(self, folder: Path, tickets: Path | None = None) -> None:
        self._asked = folder.expanduser()
        self.folder = self._asked.resolve()
        self.temporal = self.folder / "temporal"
        self.simulator = self.folder / "simulator"
        self.archive = self.folder / "archive"
        self.tickets = tickets.expanduser().resolve() if tickets else self.folder / "tickets"
        self.logs = self.folder / "logs"
        self.credentials = self.folder / "credentials"
        self.authority = self.folder / "authority"
        self.fleet = self.folder / "fleet.json"
        self.campaign = self.folder / "campaign.yaml"
        self.stack_file = self.folder / "stack.json"

    def campaign_of(self, area: Area) -> Path:
        """The campaign file to begin with, of an area."""
        return self.campaign.with_stem(named_for(area, self.campaign.stem))

    def make(self) -> None:
        """Make the folders, for their owner alone, also those of before. Raises StackError where that is
        impossible, and where something is a link or of somebody else: it may have come with a repository, and
        what a stack writes would be written there.
        """
        inside = (self.temporal, self.simulator, self.archive, self.tickets, self.logs, self.credentials)
        try:
            ours = not self.folder.exists() or self.folder.name == ".edgeshift"
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _own(self._asked)
            for path in self.folder.iterdir():
                _own(path)
            if ours and not (ignored := self.folder / ".gitignore").exists():
                # It has private keys and credentials, and may lie in somebody's repository.
                put(ignored, "*\n")
            for folder in inside:
                folder.mkdir(mode=0o700, exist_ok=True)
            for folder in (self.temporal, self.simulator, self.logs, self.credentials):
                for path in folder.iterdir():
                    _own(path)
            # The folder itself may have been there, for other things.
            tighten([*inside, *(path for path in self.folder.iterdir() if path.suffix in OWN_FILES)])
        except OSError as error:
            raise StackError(
                f"{error.filename}: {error.strerror}", "name a folder that can be written"
            ) from None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for one stack. Raises StackRuns when another one has it; ends with the process."""
        path = self.folder / "lock"
        try:
            found = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StackError(f"{path}: {error.strerror}", "remove it") from None
        with os.fdopen(found, "a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                holder = lock.read().strip() or "?"
                raise StackRuns(
                    f"a stack already runs in {self.folder} (process {holder})",
                    "use that one, end it with Ctrl-C, or name another --folder",
                ) from None
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield

    def ports(self) -> Ports:
        """The folder's ports: those it had before, or new ones. Raises StackError when one is taken
        meanwhile.
        """
        path = self.folder / "ports.json"
        chosen: dict[str, int] = {}
        if path.exists():
            try:
                chosen = _PORTS.validate_json(path.read_bytes())
            except ValidationError:
                raise StackError(f"{path} is damaged", "remove it to have ports chosen again") from None
        with choosing(self.folder) as reserved_ports:
            for name, port in chosen.items():
                # Another stack may have chosen it while this one did not run, and not bound it yet.
                if port in reserved_ports.others or not _free(port):
                    raise StackError(
                        f"port {port} ({name}) is taken by another process",
                        f"end that one, or remove {path} to have ports chosen again",
                    )
            # A folder of an earlier version has noted fewer ports: only the others are chosen.
            for name, usual in USUAL_PORTS.items():
                if name not in chosen:
                    taken = reserved_ports.others | set(chosen.values())
                    chosen[name] = usual if usual not in taken and _free(usual) else _any_port(taken=taken)
            reserved_ports.mine.update(chosen.values())
        ports = Ports(**chosen)
        put(path, ports.model_dump_json(indent=2) + "\n")
        return ports


def put(path: Path, text: str) -> None:
    """Write one of a stack's files, whole and for its owner alone. A link in its place is replaced."""
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _own(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        # A stack that runs here has taken it away meanwhile: the lock says so.
        return
    if stat.S_ISLNK(found.st_mode):
        raise StackError(f"{path} is a link", "remove it, or name another --folder")
    if found.st_uid != os.getuid():
        raise StackError(
            f"{path} belongs to somebody else (user {found.st_uid})", "name another --folder, one of your own"
        )


def _free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers do: a port whose last connections are still fading away is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _any_port(taken: set[int]) -> int:
    for port in random.sample(OWN_RANGE, len(OWN_RANGE)):
        if port not in taken and _free(port):
            return port
    raise StackError(f"no port from {OWN_RANGE[0]} to {OWN_RANGE[-1]} is free on this machine")

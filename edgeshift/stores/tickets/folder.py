"""Tickets as a folder of Markdown files, one per key."""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from edgeshift.runtime.files import path_named
from edgeshift.stores.tickets.ticket import Key, Ticket, TicketRef, TicketsMisconfigured, TicketsUnavailable

_HEADER = ("key", "zone_id", "zone_name", "account", "cause", "campaign")
_KEY: TypeAdapter[str] = TypeAdapter(Key)


class FolderTickets:
    """One Markdown file per ticket, with a header between two lines of ``---``.

    A file appears whole or not at all, and never twice: it is written under a hidden name and linked to its
    own, which fails where that name is taken. To close a ticket, move or delete its file. Raises
    TicketsMisconfigured for what can be no folder.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            self._folder = path_named(folder).absolute()
        except OSError as why:
            raise TicketsMisconfigured(f"tickets.folder: {folder}: {why.strerror}") from None

    async def open(self, ticket: Ticket) -> TicketRef:
        """Create the ticket's file, unless there is one. Raises TicketsUnavailable."""
        return await asyncio.to_thread(self._open, ticket)

    async def open_tickets(self) -> list[Ticket]:
        """Every ticket in the folder, by key. Raises TicketsUnavailable, naming a file that is no ticket."""
        return await asyncio.to_thread(lambda: [_parsed(path) for path in sorted(self._folder.glob("*.md"))])

    async def check(self) -> None:
        """Whether a ticket could be written here. Raises TicketsUnavailable."""
        await asyncio.to_thread(self._try)

    def path(self, key: str) -> Path:
        """Where the ticket with this key lies. Raises TicketsMisconfigured for what is no key."""
        try:
            return self._folder / f"{_KEY.validate_python(key)}.md"
        except ValidationError:
            raise TicketsMisconfigured(f"{key[:80]!r} is no key of a ticket") from None

    def _open(self, ticket: Ticket) -> TicketRef:
        path = self.path(ticket.key)
        if path.exists():
            return TicketRef(key=ticket.key, location=str(path), created=False)
        hidden = path.with_name(f".{path.stem}.{secrets.token_hex(6)}.part")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                _write(hidden, _text(ticket))
                created = _publish(hidden, path)
            finally:
                hidden.unlink(missing_ok=True)
        except OSError as why:
            raise TicketsUnavailable(f"{path}: {why.strerror or type(why).__name__}") from None
        return TicketRef(key=ticket.key, location=str(path), created=created)

    def _try(self) -> None:
        hidden = self._folder / f".check.{secrets.token_hex(6)}.part"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(hidden, "")
            hidden.unlink()
        except OSError as why:
            raise TicketsUnavailable(f"{self._folder}: {why.strerror or type(why).__name__}") from None


def _write(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _publish(hidden: Path, path: Path) -> bool:
    """Give the written file its own name; False where the name is taken."""
    try:
        os.link(hidden, path)
    except FileExistsError:
        return False
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return True


def _text(ticket: Ticket) -> str:
    header = "\n".join(f"{name}: {_line(getattr(ticket, name))}" for name in _HEADER)
    return f"---\n{header}\n---\n# {_line(ticket.title)}\n\n{ticket.body.rstrip()}\n"


def _line(value: str) -> str:
    return " ".join(value.split())


def _parsed(path: Path) -> Ticket:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        end = lines.index("---", 1)
        header = dict(line.partition(": ")[::2] for line in lines[1:end])
        title = lines[end + 1].removeprefix("# ")
        return Ticket(**header, title=title, body="\n".join(lines[end + 3 :]))
    except (OSError, ValueError, IndexError, TypeError) as why:
        raise TicketsUnavailable(f"{path}: not a ticket of this folder ({type(why).__name__})") from None

"""The ticket system as a checker sees it: a folder of Markdown files, read without the code that wrote it."""

from __future__ import annotations

from pathlib import Path

from edgeshift.testbed.invariants.seen import TicketFile


def load_tickets(folder: Path) -> tuple[TicketFile, ...]:
    """The open tickets: a file each, its zone and cause in the header between two lines of ``---``."""
    return tuple(_ticket(path) for path in sorted(folder.rglob("*.md")))


def _ticket(path: Path) -> TicketFile:
    _, header, _ = path.read_text().split("---\n", 2)
    facts = dict(line.split(": ", 1) for line in header.splitlines() if ": " in line)
    return TicketFile(zone=facts["zone_id"], cause=facts["cause"], path=str(path))

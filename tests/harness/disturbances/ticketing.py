"""A ticket system that is down for a while: a folder in whose place a file stands, a webhook that fails."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edgeshift.stores.tickets import Ticket
from edgeshift.stores.tickets.folder import FolderTickets
from tests.harness.disturbances import Acting, Disturbance, disturbance


async def folder_gone(acting: Acting, seconds: float) -> None:
    """Let a file stand where the folder of tickets is, or would be, for a while."""
    tickets = acting.order.settings.state_dir / "tickets"
    aside = tickets.with_name("tickets-aside")
    there = tickets.exists()
    tickets.parent.mkdir(parents=True, exist_ok=True)
    if there:
        tickets.rename(aside)
    tickets.touch()
    acting.told("tickets down")
    try:
        await asyncio.sleep(seconds)
    finally:
        tickets.unlink()
        if there:
            aside.rename(tickets)


async def _down(acting: Acting) -> None:
    for _ in range(acting.chance.randint(1, 4)):
        await folder_gone(acting, acting.chance.uniform(1.0, 8.0))
        await asyncio.sleep(acting.chance.uniform(0.5, 3.0))


class Receiver:
    """A ticket system by HTTP that keeps its tickets as a folder does. ``mode``: ``ok``, ``500``, ``hang``
    (does not answer) or ``lost`` (takes the ticket and answers 502). ``failed``: how often it was not ``ok``.
    """

    def __init__(self) -> None:
        self.mode = "ok"
        self.failed = 0
        self.folder: Path | None = None
        self.url = ""

    def take(self, document: dict[str, Any]) -> int:
        """The status that a post is answered with."""
        if self.mode != "ok":
            self.failed += 1
        if self.mode in ("500", "hang") or self.folder is None:
            return 500
        kept = asyncio.run(FolderTickets(self.folder).open(Ticket.model_validate(document)))
        return 502 if self.mode == "lost" else 201 if kept.created else 409


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A ticket system that listens on a port of its own."""
    found = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            document = json.loads(body)
            status = found.take(document) if document["key"] == self.headers["Idempotency-Key"] else 400
            if found.mode == "hang":
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}/tickets"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


disturbance(Disturbance("tickets-down", _down, areas=frozenset({"waf"})))

"""Temporal's web pages, behind a door: the server itself serves them to whoever asks, under any name, to any
page of a browser, and takes its writes.

The door listens where people look. The pages are at another address of this machine, drawn at random, since
what listens on 127.0.0.1 could be asked past the door; where the system has no other address of its own
(macOS), only their port is drawn.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from edgeshift.testbed.local_doors import LocalDoor

LARGEST_REQUEST = 4 << 20
LARGEST_ANSWER = 64 << 20
_ANSWER_WITHIN = 90.0
"""Seconds: the pages ask for what comes next, and wait for it."""

_AT_ONCE = 32
_OF_ONE_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
    }
)
_NO_FRAMES = {"x-frame-options": "DENY", "content-security-policy": "frame-ancestors 'none'"}
"""Nobody else's page shows these within itself, to have them clicked on unseen."""


def private_address() -> tuple[str, int]:
    """An address of this machine that nobody guesses, where the system has such, and a free port of it."""
    drawn = f"127.{1 + secrets.randbelow(254)}.{secrets.randbelow(256)}.{1 + secrets.randbelow(254)}"
    for host in (drawn, "127.0.0.1"):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind((host, 0))
            return host, int(probe.getsockname()[1])
    raise OSError("no port of this machine is free")


@asynccontextmanager
async def guarded_pages(listening: socket.socket, behind: tuple[str, int]) -> AsyncIterator[None]:
    """Serve the pages that are ``behind`` (host and port) on a bound socket of 127.0.0.1 until the block is
    left: to requests under the socket's own name, and to no other site's page.
    """
    port = int(listening.getsockname()[1])
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="pages") as threads:
        door = LocalDoor(
            _Passing(behind, threads), "these pages: Temporal", "127.0.0.1", port=port, links=True
        )
        server = _Server(
            uvicorn.Config(
                door,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        serving = asyncio.create_task(server.serve(sockets=[listening]), name="pages")
        try:
            yield
        finally:
            server.should_exit = True
            await serving


class _Server(uvicorn.Server):
    """Leaves the signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Passing:
    """Passes a request on, and its answer back, whole."""

    def __init__(self, behind: tuple[str, int], threads: ThreadPoolExecutor) -> None:
        self._behind = behind
        self._threads = threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await (await self._answer(Request(scope, receive)))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_REQUEST:
                return Response("the request is too large\n", 413)
        raw, query = request.scope["raw_path"], request.scope["query_string"]
        path = (raw + b"?" + query if query else raw).decode("latin-1")
        headers = {
            name: value
            for name, value in request.headers.items()
            if name not in _OF_ONE_CONNECTION and name not in ("host", "origin", "referer")
        }
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(
                self._threads, self._passed, request.method, path, bytes(body), headers
            )
        except (OSError, http.client.HTTPException) as why:
            return Response(f"Temporal's pages do not answer ({type(why).__name__})\n", 502)

    def _passed(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Response:
        connection = http.client.HTTPConnection(*self._behind, timeout=_ANSWER_WITHIN)
        try:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            content = answer.read(LARGEST_ANSWER + 1)
        finally:
            connection.close()
        if len(content) > LARGEST_ANSWER:
            return Response("the answer is too large\n", 502)
        response = Response(content, answer.status)
        del response.headers["content-length"]
        kept = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in answer.getheaders()
            if name.lower() not in _OF_ONE_CONNECTION and name.lower() not in _NO_FRAMES
        ]
        own = [(name.encode(), value.encode()) for name, value in _NO_FRAMES.items()]
        response.raw_headers = [*kept, *own, (b"content-length", str(len(content)).encode())]
        return response

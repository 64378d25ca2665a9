"""A bare HTTP server for answers that no well-behaved service gives: the test writes the bytes."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    """A request as it came. ``connection``: the number of the connection that it came by."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes
    connection: int


class Hang:
    """Read the request and never answer."""


class Reset:
    """Read the request and break the connection."""


Answer = bytes | Hang | Reset
Script = Callable[[Request], Answer]


@dataclass
class RawService:
    """What the server was asked, and where it is."""

    port: int
    requests: list[Request] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/client/v4"


def http(status: int, body: bytes | str | Any = b"", **headers: str) -> bytes:
    """The bytes of an answer; what is neither bytes nor str is written as JSON. In names of headers
    ``_`` stands for ``-``."""
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def envelope(result: Any, **more: Any) -> dict[str, Any]:
    """The envelope of success."""
    return {"result": result, "success": True, "errors": [], "messages": [], **more}


def refusal(*errors: Any, **more: Any) -> dict[str, Any]:
    """The envelope of failure."""
    return {"result": None, "success": False, "errors": list(errors), "messages": [], **more}


def at_edge(script: Script) -> Script:
    """The same answers with the mark that all of the edge have (docs/service.md §2.1)."""

    def answer(request: Request) -> Answer:
        found = script(request)
        if not isinstance(found, bytes):
            return found
        status, _, rest = found.partition(b"\r\n")
        return status + b"\r\ncf-ray: 7f0a1b2c3d4e5f60-TST\r\n" + rest

    return answer


@asynccontextmanager
async def raw_service(script: Script, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawService]:
    """Serve what the script says, on loopback; with ``tls`` by TLS."""
    connections = 0
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        number = connections
        try:
            while request := await _request(reader, number):
                service.requests.append(request)
                answer = script(request)
                if isinstance(answer, Hang):
                    await asyncio.sleep(3600)
                if isinstance(answer, Reset):
                    # Linger 0 makes the kernel send a reset in place of an orderly end.
                    writer.get_extra_info("socket").setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                    )
                    return
                assert isinstance(answer, bytes)
                writer.write(answer)
                await writer.drain()
                if b"connection: close" in answer.split(b"\r\n\r\n")[0].lower():
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accepted, "127.0.0.1", 0, ssl=tls)
    service = RawService(server.sockets[0].getsockname()[1])
    try:
        yield service
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _request(reader: asyncio.StreamReader, connection: int) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Request(method, parts.path, parse_qs(parts.query), headers, body, connection)

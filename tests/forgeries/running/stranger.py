"""A server of the enemy's, which listens on this machine and keeps what it is told. No roots know it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

LONGEST = 1 << 20
"""Bytes of one request that are kept."""

ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 62\r\nconnection: close\r\n\r\n"
    b'{"success": true, "errors": [], "messages": [], "result": [] }'
)
"""As the service would answer, so that whoever asks goes on."""


@dataclass
class Stranger:
    """``port``: where it listens. ``heard``: each request, as it came."""

    port: int = 0
    heard: list[bytes] = field(default_factory=list)

    @property
    def service(self) -> str:
        """Its address, as a service's."""
        return f"http://127.0.0.1:{self.port}/client/v4"

    @property
    def web(self) -> str:
        """Its address, for what is sent to web servers."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def elsewhere(self) -> str:
        """Its address by a name that does not count as this machine's."""
        return f"http://0.0.0.0:{self.port}"

    def learnt(self, secrets: Collection[str]) -> int:
        """How many requests told it one of these secrets, plainly or in Base64."""
        forms = [
            form
            for secret in secrets
            for form in (secret.encode(), base64.b64encode(secret.encode()).rstrip(b"="))
            if secret
        ]
        return sum(any(form in one for form in forms) for one in self.heard)

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            async with asyncio.timeout(5):
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.lower().split(b"\r\n")
                        if line.startswith(b"content-length:")
                    ),
                    0,
                )
                self.heard.append(head + await reader.readexactly(min(length, LONGEST)))
                writer.write(ANSWER)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Stranger]:
    """A stranger who listens as long as the block lasts."""
    found = Stranger()
    server = await asyncio.start_server(found._hear, "127.0.0.1", 0, limit=LONGEST)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()

"""How an answer leaves: whole, late, cut short, or not at all."""

import asyncio
import socket
import struct
from email.utils import format_datetime
from typing import Any

from starlette.types import Receive, Scope, Send

from edgeshift.testbed.simulator.answers import Answer, new_ray
from edgeshift.testbed.simulator.clock import Clock
from edgeshift.testbed.simulator.faults import FaultSpec

HANG_SECONDS = 3600.0
# SO_LINGER with a time of zero makes closing send a reset instead of an orderly end.
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Deliverer:
    """Writes answers; a hanging or delayed one ends early when the server is closing.

    Their `Date` header is the clock's present.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._closing = asyncio.Event()

    def close(self) -> None:
        """Let go of every request that is kept waiting."""
        self._closing.set()

    async def delay(self, latencies: list[FaultSpec]) -> None:
        """Wait as long as the latency faults say, in real seconds."""
        seconds = sum(1.0 if fault.seconds is None else fault.seconds for fault in latencies)
        if seconds > 0:
            await self._wait(seconds)

    async def deliver(
        self, answer: Answer, fault: FaultSpec | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Send the answer as its fault lets it go out."""
        kind = fault.kind if fault else ""
        if fault is not None and kind == "hang":
            gone = asyncio.ensure_future(_client_left(receive))
            await self._wait(HANG_SECONDS if fault.seconds is None else fault.seconds, gone)
            gone.cancel()
            await self._cut(scope, receive)
        elif kind == "reset":
            await self._cut(scope, receive, reset=True)
        elif kind == "truncated":
            body = answer.body() or b"truncated"
            await self._start(send, answer, len(body))
            await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
            await self._cut(scope, receive)
        elif answer.poisoned is not None:
            # Past the server, which would fix or refuse most of it.
            connection = _connection(scope)
            date = format_datetime(self._clock.now(), usegmt=True)
            connection.write(answer.poisoned.written(("date", date), ("cf-ray", new_ray())))
            await self._cut(scope, receive)
        else:
            body = answer.body()
            await self._start(send, answer, len(body))
            await send({"type": "http.response.body", "body": body})

    async def _wait(self, seconds: float, until: "asyncio.Future[None] | None" = None) -> None:
        closing = asyncio.ensure_future(self._closing.wait())
        awaited: set[asyncio.Future[Any]] = {closing}
        if until is not None:
            awaited.add(until)
        try:
            await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            closing.cancel()

    async def _cut(self, scope: Scope, receive: Receive, *, reset: bool = False) -> None:
        """End the connection without a (whole) answer."""
        connection = _connection(scope)
        if reset:
            raw = connection.get_extra_info("socket")
            if raw is not None:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            connection.abort()
        else:
            connection.close()
        # The server must see the end itself before this returns, or it would answer in our place.
        await _client_left(receive)

    async def _start(self, send: Send, answer: Answer, length: int) -> None:
        now = format_datetime(self._clock.now(), usegmt=True)
        headers = {"date": now, "cf-ray": new_ray(), **answer.headers}
        if length or answer.status != 204:
            headers = {"content-type": answer.content_type(), "content-length": str(length), **headers}
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            }
        )


def _connection(scope: Scope) -> Any:
    """The request's connection, which only a real server has."""
    connection = scope.get("state", {}).get("connection")
    if connection is None:
        raise ConnectionResetError("the simulator cut the connection")
    return connection


async def _client_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

"""The connections to one server, each lent to one request at a time.

httpx's own pool looks at all of its connections, twice, with every call: at twenty of them that is as much
work as the call itself. Here whoever has finished hands the connection to whoever comes next, and only those
that have been idle for too long are looked at.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import httpx

from edgeshift.http.overheard import SHOWN

KEPT_ALIVE = 4.0
"""Seconds for which an idle connection is kept: shorter than servers do, so that a reading seldom begins on
one that is being closed.
"""


class ServerConnections:
    """Connections that are kept for readings, and fresh ones for writes.

    ``headers``: of each request. ``limit``: seconds of a whole request, of which ``connect`` may pass until
    there is a connection. A request is sent as it is, and its answer is the one that comes: no redirect is
    followed, no cookie is kept, and what the environment says of proxies does not count.
    """

    def __init__(
        self,
        headers: Mapping[str, str],
        tls: ssl.SSLContext,
        proxy: httpx.Proxy | None,
        *,
        limit: float,
        connect: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._headers = httpx.Headers({**headers, "Connection": "keep-alive"})
        self._tls, self._proxy, self._clock = tls, proxy, clock
        self._more = {"timeout": httpx.Timeout(limit, connect=connect).as_dict()}
        self._idle: deque[tuple[float, httpx.AsyncHTTPTransport]] = deque()
        self._closed = False
        self._later: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None

    def request(self, method: str, url: str, params: Mapping[str, str] | None, body: Any) -> httpx.Request:
        """A request. ``body``: what is sent as JSON, or None."""
        full = f"{url}?{urlencode(params)}" if params else url
        # The service has its credentials in headers: all of the URL may be told.
        return httpx.Request(
            method, full, headers=self._headers, json=body, extensions={**self._more, SHOWN: full}
        )

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        """A connection that was used before, where one is idle; the last one that was used, so that those
        which nobody needs any more grow old.
        """
        await self._close_the_old()
        one = self._idle.pop()[1] if self._idle else self._made(keep=1)
        try:
            yield one
        except BaseException:
            # It may still wait for an answer that nobody reads: a request that is cut off while its answer is
            # being closed leaves its connection taken for good.
            await one.aclose()
            raise
        self._idle.append((self._clock(), one))
        if self._closed:
            await self.aclose()
        elif self._later is None:
            self._look_later()

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        """A connection that nobody has used, nor will."""
        async with self._made(keep=0) as one:
            yield one

    def _made(self, *, keep: int) -> httpx.AsyncHTTPTransport:
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=keep, keepalive_expiry=None)
        return httpx.AsyncHTTPTransport(verify=self._tls, proxy=self._proxy, limits=limits, trust_env=False)

    def _look_later(self) -> None:
        """Also where nobody calls any more, as of a campaign that is over: each holds a socket."""
        self._later = asyncio.get_running_loop().call_later(KEPT_ALIVE + 1, self._look)

    def _look(self) -> None:
        self._later = None
        self._closing = asyncio.create_task(self._close_the_old(), name="connections: close the old")
        if self._idle:
            self._look_later()

    async def _close_the_old(self) -> None:
        while self._idle and self._idle[0][0] < self._clock() - KEPT_ALIVE:
            await self._idle.popleft()[1].aclose()

    async def aclose(self) -> None:
        """Close those that nobody uses, and the others as soon as they are given back."""
        self._closed = True
        if self._later is not None:
            self._later.cancel()
            self._later = None
        while self._idle:
            await self._idle.popleft()[1].aclose()

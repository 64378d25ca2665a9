"""One HTTP exchange with the service: written once, read whole, its failures named (docs/service.md §7).

Reads share a pool of connections. A write has a connection of its own, made for it and closed after it, so
that a connection that the service has silently dropped is never where a write begins; and it is never sent
again.
"""

from __future__ import annotations

import asyncio
import math
import os
import ssl
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from edgeshift.http.proxies import BadProxy, proxy_at
from edgeshift.http.tls import BadCaFile, tls_context
from edgeshift.model.addresses import is_loopback_host
from edgeshift.runtime.unpacking import EncodingError, Unpacking
from edgeshift.service_api.connections import ServerConnections
from edgeshift.service_api.credential import Credential
from edgeshift.service_api.dates import http_date
from edgeshift.service_api.documents import NotADocument, document_of
from edgeshift.service_api.errors import (
    ConnectionLost,
    ConnectionRefused,
    Misconfigured,
    NotUnderstood,
    ServiceError,
    TimedOut,
    outcome_of,
)

LARGEST_BODY = 16 * 1024 * 1024
"""Bytes of an answer, unpacked, that are read at most."""

MOST_CONNECTIONS = 64
_FEWEST_CONNECTIONS = 8
_SLOW = 5.0
"""Seconds of an answer up to which all of the limit can be used."""

_CONNECT_LIMIT = 10.0
_OF_THE_LIMIT = 0.9
"""Of a request's limit that may pass until there is a connection for it: then it was never sent."""

_FARTHEST = timedelta(days=3650)
"""By which a service's clock may differ from ours to be believed: tests set theirs ahead by a year or two."""

_BEFORE_WRITING = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


@dataclass(frozen=True)
class Call:
    """What is asked of the service. ``name``: the call's name in errors. ``write``: whether it changes
    anything. ``secrets``: what of the body must not be repeated; the body itself is not in the repr.
    ``limited_apart``: whether such calls have a limit of their own, so that what an answer says of limits may
    be that of no other call.
    """

    name: str
    method: str
    path: str
    params: Mapping[str, str] | None = None
    json: Any = field(default=None, repr=False)
    write: bool = False
    secrets: tuple[str, ...] = field(default=(), repr=False)
    limited_apart: bool = False

    def failed(
        self,
        kind: type[ServiceError],
        what: str,
        *,
        refused: bool = False,
        secrets: Sequence[str] = (),
        **more: Any,
    ) -> ServiceError:
        """The error of this call. ``refused``: whether the service itself says that it refused it."""
        failure = kind(
            what,
            call=self.name,
            method=self.method,
            path=self.path,
            outcome=outcome_of(kind.__name__, write=self.write, refused=refused),
            secrets=(*secrets, *self.secrets),
            **more,
        )
        failure.refused = refused
        return failure


@dataclass(frozen=True)
class Received:
    """An answer, read to its end. ``at``: the host that it is from, with its port."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    at: str = ""

    @cached_property
    def document(self) -> Any:
        """The JSON document that the body is, read once; None where it is none that can be trusted."""
        try:
            return document_of(self.body)
        except NotADocument:
            return None

    @property
    def ray(self) -> str | None:
        """The ``cf-ray`` header."""
        return self.headers.get("cf-ray")


class Transport:
    """The way to one service. Settings of the environment (``HTTPS_PROXY``, ``.netrc``) do not count here.

    ``ca_file``: PEM certificates trusted beside the usual ones. ``request_limit``: for a whole request, from
    the first byte of connecting to the last byte of the answer. ``allow_plain_text``: http to other than
    loopback. Raises Misconfigured.
    """

    def __init__(
        self,
        base_url: str,
        credential: Credential,
        *,
        proxy: str | None = None,
        ca_file: str | None = None,
        request_limit: timedelta = timedelta(seconds=30),
        most_connections: int = MOST_CONNECTIONS,
        allow_plain_text: bool = False,
    ) -> None:
        self.base_url = checked_base_url(base_url, allow_plain_text=allow_plain_text)
        self.credential = credential
        self._limit = request_limit.total_seconds()
        try:
            self._proxy = proxy_at(proxy)
            self._tls = tls_context(ca_file)
        except BadProxy as bad:
            raise Misconfigured(f"proxy: {bad}") from None
        except BadCaFile as bad:
            raise Misconfigured(str(bad)) from None
        self._headers = {
            **credential.headers(),
            "User-Agent": f"edgeshift/{_version()}",
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
        }
        self._connections = ServerConnections(
            self._headers,
            self._tls,
            self._proxy,
            limit=self._limit,
            connect=min(_CONNECT_LIMIT, self._limit),
        )
        # Whoever waits for a connection waits here.
        self._free = asyncio.Semaphore(most_connections)
        self._told: tuple[datetime, float] | None = None

    def service_time(self) -> datetime | None:
        """The service's time in UTC, to the second: what the last answer's ``Date`` said and the time since;
        None before an answer has said it.
        """
        if self._told is None:
            return None
        moment, at = self._told
        return moment + timedelta(seconds=time.monotonic() - at)

    def _note_time(self, date: str | None) -> None:
        moment = http_date(date)
        # One that is years away is nobody's clock, and what is reckoned from it may have no date at all.
        if moment is not None and abs(moment - datetime.now(UTC)) <= _FARTHEST:
            self._told = (moment, time.monotonic())

    async def exchange(self, call: Call) -> Received:
        """Send the call once and read its answer. Raises ServiceError for whatever the transport meets."""
        # What is wrong with the call itself is a fault of ours: it is met before anything is sent.
        request = self._connections.request(
            call.method, f"{self.base_url}{call.path}", call.params, call.json
        )
        try:
            async with asyncio.timeout(self._limit):
                if not call.write:
                    return await self._shared(call, request)
                async with self._connections.fresh() as alone:
                    return await self._exchange(alone, call, request)
        except ServiceError:
            raise
        except TimeoutError:
            raise call.failed(TimedOut, f"no whole answer within {self._limit:g} s") from None
        except _BEFORE_WRITING as why:
            raise call.failed(ConnectionRefused, self._why_not_connected(why)) from None
        except httpx.TimeoutException:
            raise call.failed(TimedOut, f"the service was silent for {self._limit:g} s") from None
        except (zlib.error, EncodingError):
            raise call.failed(
                NotUnderstood, "expected a body in the encoding that its header names, plain or gzip"
            ) from None
        except httpx.HTTPError as why:
            raise call.failed(ConnectionLost, f"the connection broke ({type(why).__name__})") from None
        except Exception as why:
            # No answer may pass for a fault of ours: a write has to be known as one that may have happened.
            what = f"expected an answer that can be read, and reading it failed ({type(why).__name__})"
            raise call.failed(NotUnderstood, what) from None

    async def _shared(self, call: Call, request: httpx.Request) -> Received:
        """The exchange over a connection of the pool."""
        try:
            async with asyncio.timeout(self._limit * _OF_THE_LIMIT):
                await self._free.acquire()
        except TimeoutError:
            raise httpx.PoolTimeout("") from None
        try:
            async with self._connections.kept() as one:
                return await self._exchange(one, call, request)
        finally:
            self._free.release()

    async def _exchange(
        self, connection: httpx.AsyncBaseTransport, call: Call, request: httpx.Request
    ) -> Received:
        answer = await connection.handle_async_request(request)
        try:
            return await self._read(call, answer)
        finally:
            await answer.aclose()

    async def _read(self, call: Call, answer: httpx.Response) -> Received:
        self._note_time(answer.headers.get("date"))
        unpacking = Unpacking(answer.headers.get("content-encoding", ""))
        body = bytearray()
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        async for part in answer.stream:
            body += unpacking.more(part, LARGEST_BODY + 1 - len(body))
            if len(body) > LARGEST_BODY:
                raise call.failed(
                    NotUnderstood,
                    f"expected an answer of at most {LARGEST_BODY // 2**20} MB",
                    status=answer.status_code,
                    ray=answer.headers.get("cf-ray"),
                )
        unpacking.end()
        return Received(answer.status_code, answer.headers, bytes(body), urlsplit(self.base_url).netloc)

    def _why_not_connected(self, why: Exception) -> str:
        at = urlsplit(self.base_url).netloc
        if isinstance(why, httpx.ProxyError):
            return f"the proxy gave no way to {at}"
        if isinstance(why, httpx.PoolTimeout):
            return f"no connection to {at} became free within {self._limit:g} s"
        if isinstance(why, httpx.ConnectTimeout):
            return f"no connection to {at} within {min(_CONNECT_LIMIT, self._limit):g} s"
        cause = _root(why)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the certificate of {at} was not accepted ({cause.verify_message}); see ca_file"
        if isinstance(cause, ssl.SSLError):
            return f"no TLS with {at} ({cause.reason or 'handshake failed'})"
        reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(why)
        if isinstance(cause, OSError) and cause.errno and reason.startswith("Connect call failed"):
            # asyncio puts the address into it, as a tuple.
            reason = os.strerror(cause.errno)
        return f"no connection to {at} ({reason})"

    async def aclose(self) -> None:
        """Close the shared connections."""
        await self._connections.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def connections_for(rate: float) -> int:
    """How many connections make use of so many calls a second, also where each takes some seconds. Each that
    is open costs every call a look at it.
    """
    return min(max(_FEWEST_CONNECTIONS, math.ceil(rate * _SLOW)), MOST_CONNECTIONS)


def checked_base_url(base_url: str, *, allow_plain_text: bool = False) -> str:
    """The base URL without a slash at its end. Raises Misconfigured with what would be right."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise Misconfigured("base_url: write it as https://HOST[:PORT]/client/v4")
    if parts.username or parts.password:
        raise Misconfigured("base_url: it carries a user or password; name a credential instead")
    if parts.scheme == "http" and not allow_plain_text and not is_loopback_host(parts.hostname):
        raise Misconfigured(
            f"base_url: http to {parts.hostname} would send credentials in plain text; use https"
        )
    return base_url.rstrip("/")


def _root(why: BaseException) -> BaseException:
    """The innermost cause: httpx wraps httpcore's error, which wraps that of the socket or of TLS."""
    seen: BaseException = why
    while (inner := seen.__cause__ or seen.__context__) is not None:
        if isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        seen = inner
    return seen


def _version() -> str:
    try:
        return version("edgeshift")
    except PackageNotFoundError:
        return "0"

"""One request of the probe: GET or HEAD, no redirects followed, paced by host, bounded in time and size."""

from __future__ import annotations

import asyncio
import hashlib
import re
import zlib
from dataclasses import dataclass
from enum import Enum
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx
from pydantic import SecretStr

from edgeshift.areas.esc.observation import Observation
from edgeshift.areas.esc.sampling import ProbeUrl
from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.runtime.clock import Clock
from edgeshift.runtime.redaction import MASK, register_secret
from edgeshift.runtime.tls import BadCaFile, tls_context
from edgeshift.runtime.unpacking import EncodingError, Unpacking
from edgeshift.service_api.overheard import SHOWN

COOKIE = "disable_esc"
"""The cookie that turns Edge Side Code off for a request (docs/service.md §2.1)."""

LARGEST_BODY = 1 << 20
"""Bytes of a body that are read, after decompression."""

_UNANSWERED = (httpx.HTTPError, httpx.InvalidURL, TimeoutError, EncodingError, zlib.error)
"""What keeps a request without an answer that can be read."""

_DECOY = "edgeshift-control-of-the-probe-"
_SHORTEST = 6
_SENDABLE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+")
_TEXTUAL = re.compile(
    r"^(text/|application/([\w.+-]*\+)?(json|xml|javascript|x-javascript|xhtml)\b)", re.IGNORECASE
)


class ProbeError(Exception):
    """The probe cannot ask; the text says what would be right."""


class Cookie(Enum):
    """What goes along with a request.

    ``DECOY`` is the cookie with a value that is nobody's secret: Edge Side Code stays on
    (docs/service.md §3.1). It tells what comes of the secret from what comes of any cookie.
    """

    NONE = "none"
    SECRET = "secret"
    DECOY = "decoy"


@dataclass
class Page:
    """An answer as it came, for whoever reads sitemaps and links from it."""

    status: int = 0
    location: str = ""
    content: bytes = b""
    text: str = ""


class Fetcher:
    """Asks the edge. Use it as an async context manager. ``proxy``, ``ca_file``: how the edge is reached.

    The secret is masked in everything that comes back. Raises ProbeError where the secret cannot be sent
    in a cookie, or ``ca_file`` is none.
    """

    def __init__(
        self,
        spec: ProbeSpec,
        *,
        clock: Clock,
        secret: SecretStr | None = None,
        proxy: str | None = None,
        ca_file: str | None = None,
    ) -> None:
        self._spec = spec
        self._clock = clock
        self._cookies: dict[Cookie, str] = {}
        self._masked: list[str] = []
        if secret is not None:
            self._take(secret)
        self._next: dict[str, float] = {}
        self._limit = spec.timeout.total_seconds()
        try:
            tls = tls_context(ca_file)
        except BadCaFile as bad:
            raise ProbeError(str(bad)) from None
        self._http = httpx.AsyncClient(
            verify=tls,
            proxy=proxy,
            trust_env=False,
            timeout=self._limit,
            follow_redirects=False,
            # What one answer sets must not go along with the next request.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    def _take(self, secret: SecretStr) -> None:
        value = secret.get_secret_value()
        register_secret(value)
        if not _SENDABLE.fullmatch(value):
            raise ProbeError(
                "the scope's secret cannot be sent as a cookie: it may hold ASCII letters, digits and signs, "
                "but no spaces, quotes, commas, semicolons and backslashes; set another secret"
            )
        # As long as the secret, so that where a cookie is said back the answers are as long, too.
        decoy = (_DECOY * len(value))[: len(value)]
        if decoy == value:
            decoy = decoy[:-1] + ("x" if decoy[-1] != "x" else "y")
        self._cookies = {Cookie.SECRET: f"{COOKIE}={value}", Cookie.DECOY: f"{COOKIE}={decoy}"}
        forms = [form for each in (value, decoy) for form in (each, quote(each, safe=""))]
        # What is as short as a word is masked behind the cookie's name alone.
        self._masked = [*self._cookies.values(), *(form for form in forms if len(form) >= _SHORTEST)]

    async def observe(self, url: ProbeUrl, cookie: Cookie) -> Observation:
        """Ask once, at the host's pace. A failure is an observation too, with its kind as ``error``."""
        flag = cookie is Cookie.SECRET
        asked = Observation(url=url.path, host=url.host, method=self._spec.method, with_cookie=flag)
        try:
            answer, content, truncated = await self._ask(url, self._spec.method, cookie, LARGEST_BODY)
        except _UNANSWERED as why:
            return asked.model_copy(update={"error": _named(why)})
        headers = tuple((name.lower(), self._mask(value)) for name, value in answer.headers.multi_items())
        text = self._text(answer, content)
        return asked.model_copy(
            update={
                "status": answer.status_code,
                "headers": headers,
                "set_cookies": tuple(
                    value.partition("=")[0].strip() for name, value in headers if name == "set-cookie"
                ),
                "body_digest": hashlib.sha256(content).hexdigest(),
                "body": text,
                "truncated": truncated,
            }
        )

    async def page(self, url: ProbeUrl, largest: int) -> Page:
        """Read a page as any client would; an empty one of status 0 where there is none."""
        try:
            answer, content, _ = await self._ask(url, "GET", Cookie.NONE, largest)
        except _UNANSWERED:
            return Page()
        text = self._text(answer, content) or ""
        return Page(answer.status_code, answer.headers.get("location", ""), content, text)

    async def _ask(
        self, url: ProbeUrl, method: str, cookie: Cookie, largest: int
    ) -> tuple[httpx.Response, bytes, bool]:
        await self._turn(url.host)
        headers = {
            "host": url.host,
            "user-agent": "edgeshift-probe",
            "accept": "*/*",
            "accept-encoding": "gzip",
        }
        if cookie in self._cookies:
            headers["cookie"] = self._cookies[cookie]
        base = self._spec.edge or f"{url.scheme}://{url.host}"
        request = self._http.build_request(
            method,
            base + url.path,
            headers=headers,
            # A query that somebody has linked or logged may hold a visitor's key.
            extensions={"sni_hostname": url.host, SHOWN: base + url.path.partition("?")[0]},
        )
        content, truncated = bytearray(), False
        async with asyncio.timeout(self._limit):
            answer = await self._http.send(request, stream=True)
            unpacking = _unpacking(answer)
            try:
                async for chunk in answer.aiter_raw():
                    content += unpacking.more(chunk, largest + 1 - len(content))
                    if len(content) > largest:
                        truncated = True
                        break
            finally:
                await answer.aclose()
        return answer, bytes(content[:largest]), truncated

    async def _turn(self, host: str) -> None:
        """Wait until the host may be asked again."""
        now = self._clock.monotonic()
        at = max(now, self._next.get(host, now))
        self._next[host] = at + 1 / self._spec.per_second
        if at > now:
            await self._clock.sleep(at - now)

    def _mask(self, text: str) -> str:
        for value in self._masked:
            text = text.replace(value, MASK)
        return text

    def _text(self, answer: httpx.Response, content: bytes) -> str | None:
        """The body as text, masked; None where it is none."""
        kind = answer.headers.get("content-type", "")
        if not content:
            return ""
        if _packed(answer):
            return None
        if not (_TEXTUAL.match(kind) or (not kind and b"\0" not in content)):
            return None
        try:
            return self._mask(content.decode(answer.charset_encoding or "utf-8", errors="replace"))
        except LookupError:
            return self._mask(content.decode("utf-8", errors="replace"))


def _unpacking(answer: httpx.Response) -> Unpacking:
    """How an answer's body is unpacked; one in an encoding that nobody asked for is compared as it is."""
    try:
        return Unpacking(answer.headers.get("content-encoding", ""))
    except EncodingError:
        return Unpacking("")


def _packed(answer: httpx.Response) -> bool:
    """Whether the body that was read is still packed."""
    try:
        Unpacking(answer.headers.get("content-encoding", ""))
    except EncodingError:
        return True
    return False


def _named(why: BaseException) -> str:
    """The kind of a failure; its text may say what was sent."""
    if isinstance(why, TimeoutError | httpx.TimeoutException):
        return "timeout"
    if isinstance(why, httpx.ConnectError):
        return "not connected"
    if isinstance(why, EncodingError | zlib.error):
        return "DecodingError"
    return type(why).__name__

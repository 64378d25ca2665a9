"""One request of the probe: GET or HEAD, no redirects followed, paced by host, bounded in time and size."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import zlib
from dataclasses import dataclass
from enum import Enum
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any, Self

import httpx
from pydantic import SecretStr

from edgeshift.areas.esc.hiding import COOKIE, Hide, hider, nothing_known
from edgeshift.areas.esc.observation import EDGE_MARK, Observation
from edgeshift.areas.esc.sampling import ProbeUrl
from edgeshift.areas.esc.sendable import LONGEST_SECRET, fits_a_cookie
from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.http.overheard import SHOWN
from edgeshift.http.proxies import BadProxy, proxy_at
from edgeshift.http.tls import BadCaFile, tls_context
from edgeshift.runtime.clock import Clock
from edgeshift.runtime.redaction import register_secret
from edgeshift.runtime.unpacking import EncodingError, Unpacking

LARGEST_BODY = 1 << 20
"""Bytes of a body that are read, after decompression."""


class _InTheClear(Exception):
    """Asked so, anybody on the way could read the secret."""


class _NotTheEdge(Exception):
    """Asked so, somebody would get the secret of whom it is not known that he has it."""


_UNANSWERED = (
    *(httpx.HTTPError, httpx.InvalidURL, TimeoutError, EncodingError, zlib.error),
    *(_InTheClear, _NotTheEdge),
)
"""What is known to keep a request without an answer that can be read."""

CHARSETS = frozenset(
    {"ascii", "big5", "cp1252", "euc-jp", "euc-kr", "gb18030", "gb2312", "gbk", "iso-2022-jp", "koi8-r"}
    | {"koi8-u", "latin1", "shift_jis", "shift-jis", "us-ascii", "utf-16", "utf-16be", "utf-16le"}
    | {f"iso-8859-{number}" for number in (*range(1, 12), *range(13, 17))}
    | {f"windows-125{number}" for number in range(9)}
)
"""What a page may be read as, besides UTF-8. Other names lead to codecs that raise, give no text, or take
quadratic time.
"""

_LOG = logging.getLogger(__name__)
_DECOY = "edgeshift-control-of-the-probe-"
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

    The secret is masked in everything that comes back; ``hide`` does it once more in what is decoded
    further. Raises ProbeError where the secret cannot be sent
    in a cookie, or ``proxy`` or ``ca_file`` is none.
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
        self.hide: Hide = nothing_known
        if secret is not None:
            self._take(secret)
        self._next: dict[str, float] = {}
        self._marked: dict[str, bool] = {}
        self._limit = spec.timeout.total_seconds()
        try:
            way = proxy_at(proxy)
            tls = tls_context(ca_file)
        except BadProxy as bad:
            raise ProbeError(f"proxy: {bad}") from None
        except BadCaFile as bad:
            raise ProbeError(str(bad)) from None
        self._http = httpx.AsyncClient(
            verify=tls,
            proxy=way,
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
        if not fits_a_cookie(value):
            raise ProbeError(
                "the scope's secret cannot be sent as a cookie: it may hold ASCII letters, digits and signs, "
                "but no spaces, quotes, commas, semicolons and backslashes; set another secret"
            )
        if len(value) > LONGEST_SECRET:
            raise ProbeError(
                f"the scope's secret has {len(value):,} characters, and the probe can hide at most "
                f"{LONGEST_SECRET:,} in what sites say back; set a shorter secret"
            )
        # As long as the secret, so that where a cookie is said back the answers are as long, too.
        decoy = (_DECOY * len(value))[: len(value)]
        if decoy == value:
            decoy = decoy[:-1] + ("x" if decoy[-1] != "x" else "y")
        self._cookies = {Cookie.SECRET: f"{COOKIE}={value}", Cookie.DECOY: f"{COOKIE}={decoy}"}
        self.hide = hider(value, decoy)

    def at_edge(self, host: str) -> bool:
        """Whether the host has answered, and always with the mark of the edge: it alone gets the secret."""
        return self._marked.get(host, False)

    @property
    def unmarked(self) -> frozenset[str]:
        """The hosts of which an answer lacked the mark of the edge."""
        return frozenset(host for host, marked in self._marked.items() if not marked)

    async def observe(self, url: ProbeUrl, cookie: Cookie) -> Observation:
        """Ask once, at the host's pace. Whatever fails is an observation too, with its kind as ``error``; so
        is what is not asked, such as with the secret where the host is not at the edge.
        """
        flag = cookie is Cookie.SECRET
        asked = Observation(url=url.path, host=url.host, method=self._spec.method, with_cookie=flag)
        try:
            answer, content, truncated = await self._ask(url, self._spec.method, cookie, LARGEST_BODY)
            seen = await asyncio.to_thread(self._seen, answer, content)
        except Exception as why:  # what a site can cause is no failure of the probe
            _tell(why)
            return asked.model_copy(update={"error": _named(why)})
        return asked.model_copy(update={**seen, "truncated": truncated})

    def _seen(self, answer: httpx.Response, content: bytes) -> dict[str, Any]:
        """What an observation says of an answer."""
        headers = [
            (self.hide(name.lower()), self.hide(value)) for name, value in answer.headers.multi_items()
        ]
        cookies = (value.partition("=")[0].strip() for name, value in headers if name == "set-cookie")
        text = self._text(answer, content)
        return {
            "status": answer.status_code,
            "headers": tuple(headers),
            "set_cookies": tuple(cookies),
            "body_digest": hashlib.sha256(content).hexdigest(),
            "body": text if text is None else self.hide(text),
        }

    async def page(self, url: ProbeUrl, largest: int) -> Page:
        """Read a page as any client would; an empty one of status 0 where there is none."""
        try:
            answer, content, _ = await self._ask(url, "GET", Cookie.NONE, largest)
            text = await asyncio.to_thread(self._text, answer, content)
        except Exception as why:  # as above
            _tell(why)
            return Page()
        return Page(answer.status_code, answer.headers.get("location", ""), content, text or "")

    async def _ask(
        self, url: ProbeUrl, method: str, cookie: Cookie, largest: int
    ) -> tuple[httpx.Response, bytes, bool]:
        if cookie in self._cookies and self._spec.edge is None and url.scheme != "https":
            raise _InTheClear
        if cookie is Cookie.SECRET and not self.at_edge(url.host):
            raise _NotTheEdge
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
            self._marked[url.host] = EDGE_MARK in answer.headers and self._marked.get(url.host, True)
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

    @staticmethod
    def _text(answer: httpx.Response, content: bytes) -> str | None:
        """The body as text; None where it is none."""
        kind = answer.headers.get("content-type", "")
        if not content:
            return ""
        if _packed(answer):
            return None
        if not (_TEXTUAL.match(kind) or (not kind and b"\0" not in content)):
            return None
        named = (answer.charset_encoding or "").lower()
        return content.decode(named if named in CHARSETS else "utf-8", errors="replace")


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


def _tell(why: Exception) -> None:
    """Say what nobody foresaw; its text may say what was sent."""
    if not isinstance(why, _UNANSWERED):
        _LOG.info("an answer that could not be read: %s", type(why).__name__)


def _named(why: BaseException) -> str:
    """The kind of a failure; its text may say what was sent."""
    if isinstance(why, TimeoutError | httpx.TimeoutException):
        return "timeout"
    if isinstance(why, httpx.ConnectError):
        return "not connected"
    if isinstance(why, EncodingError | zlib.error):
        return "DecodingError"
    if isinstance(why, _InTheClear):
        return "not by plain http"
    if isinstance(why, _NotTheEdge):
        return "not from the edge"
    return type(why).__name__

"""Every request over HTTP of this process, told as it is made, for whoever asked for that (``-v``)."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from edgeshift.runtime.redaction import redact_text

Say = Callable[[str], None]

SHOWN = "edgeshift_shown"
"""The extension of a request in which whoever makes it says what of its URL may be told: a path or a query
may be the key by which a receiver knows its customers.
"""


def explain_requests(say: Say) -> None:
    """From now on, say each request over HTTP, with the status of its answer; never a header or a body, and
    of a URL of which nobody says what may be told (``SHOWN``) no more than its scheme, host and port.

    It is heard at what sends it: readings and changes go there without httpx's client, which would log them.
    """
    ask = httpx.AsyncHTTPTransport.handle_async_request

    async def told(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        what = redact_text(f"HTTP: {request.method} {_shown(request)}")
        try:
            answer = await ask(self, request)
        except httpx.HTTPError as why:
            say(f"{what}: no answer ({type(why).__name__})")
            raise
        say(f"{what}: {answer.status_code}")
        return answer

    httpx.AsyncHTTPTransport.handle_async_request = told  # type: ignore[method-assign]


def _shown(request: httpx.Request) -> str:
    if (shown := request.extensions.get(SHOWN)) is not None:
        return str(shown)
    return f"{request.url.scheme}://{request.url.netloc.decode('ascii')}/…"

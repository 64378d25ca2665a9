"""The proxy by which an outside system is reached."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx


class BadProxy(ValueError):
    """What is no proxy; the text says what would be right, and repeats nothing: it may hold a password."""


def proxy_at(url: str | None) -> httpx.Proxy | None:
    """The proxy at this URL, with its user and password; None where there is none. Raises BadProxy."""
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        # A password with a slash is half of it taken for the port, which errors would repeat.
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        found = httpx.Proxy(url) if good else None
    except (ValueError, httpx.InvalidURL):
        found = None
    if found is None:
        raise BadProxy("write it as http://[USER:PASSWORD@]HOST:PORT (it is not repeated here)")
    return found

"""Hosts that can be called at all."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

NO_HOST = (
    "its host is no name that can be looked up, as where a dash stands in place of a hyphen; write it as"
    " https://HOST/client/v4"
)

_PLAIN = re.compile(r"127\.0\.0\.1|(?!.*xn--)(?=.*[a-z])[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?")
_LONGEST_LABEL = 63


def has_host(url: str) -> bool:
    """Whether the host of a URL can be sent to. One that is not plain ASCII needs a form for the DNS (IDNA),
    one of digits alone is an address, and no part between dots is empty or longer than 63: each call would
    fail otherwise.
    """
    host = urlsplit(url).hostname or ""
    if _PLAIN.fullmatch(host):
        return True
    if host.isascii() and not all(
        1 <= len(label) <= _LONGEST_LABEL for label in host.removesuffix(".").split(".")
    ):
        return False
    # It takes long to import, and most files do not need it.
    import httpx

    try:
        return bool(httpx.URL(url).host)
    except (ValueError, httpx.InvalidURL):
        return False

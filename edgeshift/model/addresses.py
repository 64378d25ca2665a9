"""Addresses in a campaign file: of web servers, of object stores, and what stands for the zone in them. Pure.

No text repeats an address, since it might carry a secret.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from edgeshift.runtime.references import is_reference
from edgeshift.runtime.safe_text import hides

STORES = ("file", "s3", "gs", "az")
"""Schemes of the object stores that edgeshift can read."""

PLACEHOLDERS = ("{zone}", "{zone_id}")
"""What stands for the zone in addresses that many zones share."""

NO_PASSWORD = "a user or password does not belong into a URL of this file, which is archived; leave it out"

PLAIN_TICKETS = "http to another machine would send tickets, and their secret, in plain text; use https"

_WEB = "is no URL; it is written as http://HOST:PORT/PATH or https://…"
_STORE = "write file:///FOLDER, s3://BUCKET/PATH, gs://BUCKET/PATH or az://CONTAINER/PATH"


def web_address(url: str) -> str:
    """The URL of a web server, as it is. Raises ValueError for what is none, and where it has a password."""
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname
        _ = parts.port
    except ValueError:
        wrong = True
    if wrong:
        raise ValueError(_WEB)
    # Errors name what was called, and what is signed has it.
    if odd := next(filter(hides, url), None):
        raise ValueError(f"has U+{ord(odd):04X}, which is not shown; take it out")
    if parts.username is not None or parts.password is not None:
        raise ValueError(NO_PASSWORD)
    return url


def safe_address(url: str) -> str:
    """The URL of a web server that is sent credentials. Raises ValueError also for plain text to another
    machine.
    """
    web_address(url)
    parts = urlsplit(url)
    if parts.scheme == "http" and not is_loopback_host(str(parts.hostname)):
        raise ValueError("http to another machine would send credentials in plain text; use https")
    return url


def safe_webhook(text: str) -> str:
    """The URL of a web server that is sent tickets, or where one lies. Raises ValueError for neither, and for
    plain text to another machine.
    """
    web_or_reference(text)
    if is_reference(text):
        return text
    parts = urlsplit(text)
    if parts.scheme == "http" and not is_loopback_host(str(parts.hostname)):
        raise ValueError(PLAIN_TICKETS)
    return text


def web_or_reference(text: str) -> str:
    """The URL of a web server, or where one lies. Raises ValueError for neither."""
    if is_reference(text):
        return text
    try:
        return web_address(text)
    except ValueError as why:
        where = ", or as env:NAME or file:PATH" if str(why) == _WEB else ""
        raise ValueError(f"{why}{where}") from None


def is_loopback_host(host: str) -> bool:
    """Whether a host of a URL is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def without_credentials(url: str) -> str:
    """A URL as it may be shown, whatever it is: without user, password and query. A folder stays."""
    scheme, there, rest = url.partition("://")
    if not there or scheme.lower() == "file":
        return url
    # A password with a slash in it is no part of any host's name: whatever stands before an @ goes.
    return f"{scheme}://{re.split('[?#]', rest.rpartition('@')[2])[0]}"


def store_address(url: str) -> str:
    """Where objects are read, with placeholders for the zone. Raises ValueError with what would be right."""
    # Braces are not for hosts; the parser only has to see where things are.
    plain = re.sub(r"\{\w*\}", "x", url)
    try:
        parts = urlsplit(plain)
    except ValueError:
        raise ValueError(f"is no URL; {_STORE}") from None
    if parts.scheme not in STORES:
        raise ValueError(f"is no object store that edgeshift can read; {_STORE}")
    if parts.username is not None or parts.password is not None or parts.query:
        raise ValueError(
            "credentials and options do not belong into a URL of this file, which is archived: the worker"
            " takes them from its environment; leave them out"
        )
    if parts.scheme == "file" and parts.netloc:
        raise ValueError("a folder has three slashes: file:///FOLDER")
    if parts.scheme != "file" and not parts.netloc:
        raise ValueError(f"names no bucket; {_STORE}")
    return with_placeholders(url)


def with_placeholders(text: str, known: Sequence[str] = PLACEHOLDERS) -> str:
    """A text in which ``known`` may stand in braces. Raises ValueError for anything else in braces."""
    unknown = [found for found in re.findall(r"\{[^{}]*\}", text) if found not in known]
    if unknown:
        raise ValueError(
            f"{unknown[0][:40]} stands for nothing;"
            f" {' and '.join(known)} become the zone's name and identifier"
        )
    if "{" in (rest := re.sub(r"\{\w+\}", "", text)) or "}" in rest:
        raise ValueError(
            f"has a brace without its partner; {' and '.join(known)} are what may stand in braces"
        )
    return text

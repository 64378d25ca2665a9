"""One answer of the edge as the differential probe saw it, and the facts that it consists of. Pure.

An answer is taken apart into facts: its status, each header, each cookie, and of its body each JSON leaf or
each line. Facts are short and hold nothing secret: a long value is cut and its digest put behind it, a cookie
and a sensitive header leave a four-digit check of their value alone. What a body says of the request that
the origin got (its host, SNI, path, headers) becomes facts of that kind, so that the changes on the way to
the origin are told apart from changes of content (docs/service.md §1).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from edgeshift.areas.esc.hiding import Hide, cleaned, nothing_known
from edgeshift.model.digests import sha256
from edgeshift.runtime.redaction import MASK, SECRET_FIELDS

LONGEST = 120
"""Characters of a value that are shown."""

EDGE_MARK = "cf-ray"
"""The header that every answer of the edge has, and no answer from elsewhere (docs/service.md §2.1)."""

NEVER_COUNT = frozenset(
    {"age", EDGE_MARK, "connection", "content-length", "date", "keep-alive", "transfer-encoding"}
)
"""Headers of the connection and of the moment, and what the body itself says."""

SENSITIVE = SECRET_FIELDS | {"set_cookie", "proxy_authorization", "x_api_key", "x_csrf_token"}
"""Header names whose values are never shown, lower case, with `_` for `-`."""

MOST_PARTS = 4_000
"""Lines or leaves of one body; what comes after them counts as one part."""

MOST_NAMED = 200
"""Headers of an answer, and cookies, that are looked at; and headers that a body can say the origin got: more
are content like any other.
"""

_LONGEST_POINTER = 1_000
# Of a whole run at once: a pattern that looks ahead would do so from each character of a run anew.
_RUN = re.compile(r"[\w+/=-]{8,}|\d+")
_LOOKS_RANDOM = re.compile(r"\d|[a-z][A-Z]")
_PIECES = re.compile(r"\n|(?=<)")
_ECHO_KEYS = {
    "sni": ("origin", "sni"),
    "tls_sni": ("origin", "sni"),
    "server_name": ("origin", "sni"),
    "resolved_host": ("origin", "resolved_host"),
    "resolved_hostname": ("origin", "resolved_host"),
    "resolved": ("origin", "resolved_host"),
    "origin": ("origin", "resolved_host"),
    "upstream": ("origin", "resolved_host"),
    "host": ("origin", "host"),
    "path": ("rewrite", "path"),
    "uri": ("rewrite", "path"),
    "url": ("rewrite", "path"),
    "query": ("rewrite", "query"),
    "query_string": ("rewrite", "query"),
    "args": ("rewrite", "query"),
}
_ECHO_HEADERS = frozenset({"headers", "request_headers"})
_ECHO_MARKS = frozenset({*_ECHO_KEYS, *_ECHO_HEADERS, "method"})


class Fact(NamedTuple):
    """What a value belongs to: a kind (``status``, ``header``, ``line``, …) and a name within it."""

    kind: str
    name: str = ""


STATUS = Fact("status")
LOCATION = Fact("location")
LAYOUT = Fact("layout")
BODY = Fact("body")
ECHO_KINDS = frozenset({"origin", "rewrite", "request_header"})
LINE_KINDS = ("line", "exact", "shape")
"""Lines as they are; those with something random or counting as they are, and without it."""

CONTENT_KINDS = frozenset({*LINE_KINDS, "leaf", "body", "layout"})
NO_ANSWER = "no answer"


class Observation(BaseModel):
    """One answer to one request of the probe.

    ``url``: path and query. ``with_cookie``: whether the cookie with the scope's secret went along.
    ``set_cookies``: names of the cookies it sets. ``headers``: names in lower case, in the order in which
    they came. ``body``: its text for the comparison, kept in memory only; ``body_digest``: SHA-256 of what
    was read of it. ``error``: why there was no answer, in one word; the rest is empty then. The probe's
    own secret is masked before an observation is made.
    """

    model_config = ConfigDict(frozen=True)

    url: str
    host: str
    method: str = "GET"
    with_cookie: bool
    status: int = 0
    headers: tuple[tuple[str, str], ...] = Field(default=(), repr=False)
    set_cookies: tuple[str, ...] = ()
    body_digest: str = ""
    body: str | None = Field(default=None, repr=False, exclude=True)
    truncated: bool = False
    error: str = ""

    def header(self, name: str) -> str:
        """The first value of a header, or empty."""
        return next((value for each, value in self.headers if each == name), "")


@dataclass
class Facts:
    """The facts of one answer. ``texts``: the lines behind the digests, for whoever shows a difference."""

    values: dict[Fact, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def facts_of(seen: Observation, ignore: frozenset[str] = frozenset(), hide: Hide = nothing_known) -> Facts:
    """Take an answer apart. ``ignore``: header names, lower case, that never count. ``hide``: hides the
    probe's own secret in what comes to light where a body is decoded.
    """
    found = Facts({STATUS: str(seen.status) if not seen.error else f"{NO_ANSWER} ({seen.error})"})
    if seen.error:
        return found
    found.values.update(islice(_header_facts(seen, NEVER_COUNT | ignore), MOST_NAMED))
    found.values.update(islice(_cookie_facts(seen), MOST_NAMED))
    if seen.method != "HEAD":
        _add_body(found, seen, ignore, hide)
    elif length := seen.header("content-length"):
        # All that a HEAD says of the body.
        found.values[BODY] = length
    return found


def shown(name: str, value: str) -> str:
    """A value as it may be shown and kept: short, and masked where its name says that it is sensitive."""
    if name.lower().replace("-", "_") in SENSITIVE:
        return f"{MASK} ({_check(value)})"
    value = " ".join(value.split())
    if len(value) <= LONGEST:
        return value
    return f"{value[: LONGEST - 11]}…#{sha256(value.encode())[:8]}"


def masked(text: str) -> str:
    """The text with what looks random or counts up replaced by ``#``."""
    return _RUN.sub(lambda run: "#" if _LOOKS_RANDOM.search(run[0]) else run[0], text)


def _check(value: str) -> str:
    """Four digits: enough to see that a value changed, too few to find it by."""
    return sha256(value.encode())[:4]


def _header_facts(seen: Observation, ignore: frozenset[str]) -> Iterator[tuple[Fact, str]]:
    values: dict[str, list[str]] = {}
    for name, value in seen.headers:
        values.setdefault(name.lower(), []).append(value)
    for name, several in values.items():
        if name == "location":
            yield LOCATION, shown(name, several[0])
        elif name != "set-cookie" and name not in ignore:
            yield Fact("header", shown("", name)), shown(name, ", ".join(several))


def _cookie_facts(seen: Observation) -> Iterator[tuple[Fact, str]]:
    found: dict[str, list[str]] = {}
    for name, line in seen.headers:
        if name.lower() != "set-cookie":
            continue
        pair, *attributes = line.split(";")
        cookie, _, value = pair.strip().partition("=")
        kept = sorted(one.strip().lower() for one in attributes)
        # Moments and ages count down by themselves.
        kept = [one.partition("=")[0] if one.startswith(("expires", "max-age")) else one for one in kept]
        found.setdefault(cookie, []).append("; ".join([f"{MASK} ({_check(value)})", *kept]))
    for cookie, several in found.items():
        yield Fact("cookie", shown("", cookie)), shown("", ", ".join(several))


def _add_body(found: Facts, seen: Observation, ignore: frozenset[str], hide: Hide) -> None:
    if seen.body is None:
        found.values[BODY] = seen.body_digest[:16]
        return
    if seen.body.lstrip()[:1] in ("{", "["):
        inner = Facts()
        try:
            _add_document(inner, cleaned(json.loads(seen.body), hide), ignore)
        except (ValueError, RecursionError):
            pass
        else:
            found.values.update(inner.values)
            return
    _add_lines(found, seen.body)


def _add_document(found: Facts, document: Any, ignore: frozenset[str]) -> None:
    rest = _take_echo(found, document, ignore) if isinstance(document, dict) else document
    for pointer, value in _limited(_leaves(rest)):
        found.values[Fact("leaf", pointer)] = sha256(value.encode())[:12]


def _add_lines(found: Facts, body: str) -> None:
    pieces = [" ".join(piece.split()) for piece in _PIECES.split(body)]
    counted: Counter[Fact] = Counter()
    for piece in filter(None, pieces):
        shape = masked(piece)
        forms = {"line": piece} if shape == piece else {"exact": piece, "shape": shape}
        for kind, text in forms.items():
            if len(counted) >= MOST_PARTS:
                counted[Fact(kind, "rest")] += 1
                continue
            digest = sha256(text.encode())[:12]
            counted[Fact(kind, digest)] += 1
            found.texts.setdefault(digest, text[:LONGEST])
    found.values.update((fact, str(count)) for fact, count in counted.items())
    found.values[LAYOUT] = str(body.count("\n"))


def _take_echo(found: Facts, document: dict[str, Any], ignore: frozenset[str]) -> dict[str, Any]:
    """Add what the document says of the request that the origin got; what else it says."""
    inner = document.get("request")
    if isinstance(inner, dict) and _is_echo(inner):
        return {**document, "request": _take_echo(found, inner, ignore)}
    if not _is_echo(document):
        return document
    rest: dict[str, Any] = {}
    for key, value in document.items():
        if (kind := _ECHO_KEYS.get(key.lower())) and not isinstance(value, dict | list):
            found.values.setdefault(Fact(*kind), shown("", str(value)))
        elif kind and kind[0] == "rewrite":
            found.values.setdefault(Fact(*kind), shown("", json.dumps(value, sort_keys=True)))
        elif key.lower() in _ECHO_HEADERS and (named := _named(value)) is not None:
            for name, several in named.items():
                # The cookie is what the probe itself sends; the host has a fact of its own.
                if name not in {"cookie", "host", *ignore}:
                    found.values[Fact("request_header", shown("", name))] = shown(name, ", ".join(several))
        else:
            rest[key] = value
    return rest


def _is_echo(document: Mapping[str, Any]) -> bool:
    return len({key.lower() for key in document} & _ECHO_MARKS) >= 3


def _named(value: object) -> dict[str, list[str]] | None:
    """Headers by name, from an object, a list of pairs or a list of objects with name and value."""
    pairs: Iterable[Any]
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = [(one.get("name"), one.get("value")) if isinstance(one, dict) else one for one in value]
    else:
        return None
    named: dict[str, list[str]] = {}
    for pair in pairs:
        if len(named) > MOST_NAMED:
            return None
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            return None
        several = pair[1] if isinstance(pair[1], list) else [pair[1]]
        named.setdefault(str(pair[0]).lower(), []).extend(map(str, several))
    return named


def _leaves(document: object) -> Iterator[tuple[str, str]]:
    """Each leaf with its pointer, in their order, at the same price however deep and long-named it is."""
    levels: list[Iterator[tuple[str, Any]]] = [iter([("", document)])]
    while levels:
        found = next(levels[-1], None)
        if found is None:
            levels.pop()
        elif isinstance(found[1], dict | list) and found[1]:
            levels.append(_entries(*found))
        else:
            yield found[0] or "/", json.dumps(found[1])


def _entries(pointer: str, value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if len(pointer) > _LONGEST_POINTER:
        pointer = shown("", pointer)
    if isinstance(value, dict):
        return ((f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", value[key]) for key in value)
    return ((f"{pointer}/{at}", item) for at, item in enumerate(value))


def _limited(leaves: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    rest = ""
    for at, (pointer, value) in enumerate(leaves):
        if at < MOST_PARTS:
            yield shown("", pointer), value
        else:
            rest = sha256((rest + pointer + value).encode())
    if rest:
        yield "/…", rest


def path_of(url: str) -> str:
    """The path of a path with query; as it is where it is none."""
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return url

"""Which URLs of a zone the probe asks for: found in several sources, chosen alike in every run. Pure."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from edgeshift.model.digests import sha256

LONGEST_URL = 2_000

_CHANGES = re.compile(
    r"^/cdn-cgi/|log-?out|sign-?out|log-?off|delete|remove|unsubscribe|add-to|checkout|cancel", re.IGNORECASE
)
# What DNS can be asked for: another host is no answer, and of some the very question raises.
_HOST = re.compile(r"(?=.{1,253}\Z)[^.]{1,63}(?:\.[^.]{1,63})*")
_SAFE = "/:@!$&'()*+,;=~%?-._[]"


class Source(StrEnum):
    """Where a URL was found."""

    CAMPAIGN = "campaign file"
    ROOT = "root page"
    SITEMAP = "sitemap"
    LINKS = "links of the root page"


class ProbeUrl(NamedTuple):
    """A URL to ask for. ``path``: with its query."""

    scheme: str
    host: str
    path: str

    @property
    def place(self) -> tuple[str, str]:
        """Host and path: what a comparison names it by."""
        return self.host, self.path


def within(host: str, zone: str) -> bool:
    """Whether a host is the zone's own name or below it."""
    return host == zone or host.endswith(f".{zone}")


def url_of(text: str, base: str, zone: str) -> ProbeUrl | None:
    """The URL that a text says, as seen at ``base``; None where it leads out of the zone or is no page's."""
    if len(text) > LONGEST_URL:
        return None
    try:
        parts = urlsplit(urljoin(base, text.strip()))
        host, port = (parts.hostname or "").lower().rstrip("."), parts.port
        # As it goes over the wire. Raises UnicodeError, a ValueError, for what is no host.
        host = host if host.isascii() else host.encode("idna").decode()
        path = quote(parts.path or "/", safe=_SAFE) + (
            f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
        )
    except ValueError:
        return None
    standard = port in (None, 443 if parts.scheme == "https" else 80)
    named = parts.scheme in ("http", "https") and within(host, zone) and standard
    if not named or parts.username or not _HOST.fullmatch(host):
        return None
    return ProbeUrl(parts.scheme, host, path)


def secured(url: ProbeUrl) -> ProbeUrl:
    """The same by https, wherever a site, or the campaign file, says http: the secret goes along."""
    return url._replace(scheme="https")


def followed(url: ProbeUrl, host: str) -> bool:
    """Whether a link is asked for: on the host, without a query, not the edge's own, not one that acts."""
    return url.host == host and "?" not in url.path and not _CHANGES.search(url.path)


def listed(urls: Iterable[str], zone: str, zones: Sequence[str], scheme: str) -> list[ProbeUrl]:
    """The campaign file's URLs that are for a zone: paths for every zone, whole URLs for the one they name.

    ``zones``: the names of all zones of the scope; a URL is for the longest that its host belongs to.
    """
    urls_of_it = (url_of(text, f"{scheme}://{zone}/", zone) for text in urls)
    return own(filter(None, urls_of_it), zone, zones)


def own(urls: Iterable[ProbeUrl], zone: str, zones: Sequence[str]) -> list[ProbeUrl]:
    """Those of the URLs that belong to no zone of ``zones`` that is below ``zone``, such as a subdomain's."""
    below = [other for other in zones if other != zone and within(other, zone)]
    return [url for url in urls if not any(within(url.host, other) for other in below)]


def sample(known: Mapping[Source, Sequence[ProbeUrl]], most: int) -> list[ProbeUrl]:
    """At most ``most`` URLs: the root page, one of each source, what people listed, then the rest in turn.

    Within a source the first path segments take turns; the order is that of digests, so that every run
    chooses alike, and a URL more or less moves few others.
    """
    queues: dict[Source, list[ProbeUrl]] = {}
    seen: set[tuple[str, str]] = set()
    for source in Source:
        fresh = []
        for url in known.get(source, ()):
            if url.place not in seen:
                seen.add(url.place)
                fresh.append(url)
        queues[source] = _spread(fresh)
    order = queues.pop(Source.ROOT)
    order += [queue.pop(0) for queue in queues.values() if queue]
    order += queues.pop(Source.CAMPAIGN)
    for turn in itertools.zip_longest(*queues.values()):
        order += [url for url in turn if url]
    return order[:most]


def _spread(urls: Sequence[ProbeUrl]) -> list[ProbeUrl]:
    groups: defaultdict[tuple[str, str], list[ProbeUrl]] = defaultdict(list)
    for url in sorted(urls, key=_order):
        groups[(url.host, url.path.split("?")[0].split("/")[1])].append(url)
    # The first of each group before the second of any.
    ranked = [(rank, _order(url), url) for group in groups.values() for rank, url in enumerate(group)]
    return [url for _, _, url in sorted(ranked)]


def _order(url: ProbeUrl) -> str:
    return sha256("\0".join(url).encode())

"""Where the probe's URLs come from: the campaign file, the root page and its links, the host's sitemaps."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, ParseError

from edgeshift.areas.esc.sampling import ProbeUrl, Source, followed, listed, own, secured, url_of
from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.model.fleet import Zone
from edgeshift.probes.fetch import LARGEST_BODY, Fetcher
from edgeshift.runtime.unpacking import gunzipped

LARGEST_SITEMAP = 10 << 20
"""Bytes of one sitemap that are read, before and after decompression."""

MOST_SITEMAPS = 10
"""Sitemaps of one zone that are read."""

MOST_HOPS = 3
"""Redirects that are followed to a zone's root page."""

MOST_URLS = 20_000
"""URLs of one zone that are known at most."""

_PIECE = 1 << 16
"""What a parser is given at once, and characters of the longest tag that is read: for tags without an end the
parser takes quadratic time.
"""


@dataclass
class Known:
    """The URLs of a zone by source, and what was left out."""

    urls: dict[Source, list[ProbeUrl]] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]

    def read(self, text: str) -> list[str]:
        """The links of a page, as far as it can be read."""
        for at in range(0, len(text), _PIECE):
            try:
                self.feed(text[at : at + _PIECE])
            except (AssertionError, ValueError):
                # What the parser says of some markup that is none.
                break
            # A script may be as long as it likes: its end alone is looked for.
            if len(self.found) >= MOST_URLS or (len(self.rawdata) > _PIECE and not self.cdata_elem):
                break
        return self.found[:MOST_URLS]


class _Listed(NamedTuple):
    """What a sitemap lists: as an index of others or not; None where it cannot be read. ``more``: whether
    there was no room for all of it.
    """

    of_sitemaps: bool = False
    urls: list[ProbeUrl] | None = None
    more: bool = False


class _Places:
    """Takes in what a sitemap lists while it is parsed, and keeps nothing else of it.

    Of the entries' own children alone: pictures and videos have places of the same name.
    """

    def __init__(self, made: Callable[[str], ProbeUrl | None], room: int) -> None:
        self._made, self._room = made, room
        self._depth = 0
        self._text: list[str] | None = None
        self.root = ""
        self.urls: list[ProbeUrl] = []

    @property
    def full(self) -> bool:
        return len(self.urls) > self._room

    def start(self, tag: str, attrs: object) -> None:
        self.root = self.root or tag
        self._depth += 1
        # What stands in front of its first child alone is an element's text.
        self._finish()
        self._text = [] if self._depth == 3 and tag.rpartition("}")[2] == "loc" else None

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._finish()

    def _finish(self) -> None:
        if self._text and not self.full and (url := self._made("".join(self._text))):
            self.urls.append(url)
        self._text = None

    def close(self) -> None:
        """The parser asks for it."""


async def find_urls(fetcher: Fetcher, spec: ProbeSpec, zone: Zone, zones: Sequence[Zone]) -> Known:
    """The URLs of a zone that the specification's sources know. ``zones``: all zones of the scope."""
    known = Known()
    name = zone.name.lower()
    scheme = "http" if spec.edge and spec.edge.startswith("http:") else "https"
    names = [other.name.lower() for other in zones]
    known.urls[Source.CAMPAIGN] = listed(spec.urls, name, names, scheme)
    home = ProbeUrl(scheme, name, "/")
    known.urls[Source.ROOT] = [home]
    page = await fetcher.page(home, LARGEST_BODY)
    at = home
    for _ in range(MOST_HOPS):
        onward = url_of(page.location, f"{at.scheme}://{at.host}{at.path}", name) if page.location else None
        if not onward or not 300 <= page.status < 400:
            break
        if onward.host != home.host:
            # The zone's site is at another of its hosts.
            home = ProbeUrl(onward.scheme, onward.host, "/")
            known.urls[Source.ROOT].append(home)
        at = onward
        page = await fetcher.page(at, LARGEST_BODY)
    if spec.links:
        known.urls[Source.LINKS] = await asyncio.to_thread(_links, page.text, at, name)
    if spec.sitemap:
        known.urls[Source.SITEMAP] = await _mapped(fetcher, home, name, known)
    for source, urls in known.urls.items():
        known.urls[source] = own(urls if spec.edge else map(secured, urls), name, names)
    return known


def _links(text: str, at: ProbeUrl, zone: str) -> list[ProbeUrl]:
    base = f"{at.scheme}://{at.host}{at.path}"
    found = [url_of(link, base, zone) for link in _Links().read(text)]
    return [url for url in found if url and followed(url, at.host)]


async def _mapped(fetcher: Fetcher, home: ProbeUrl, zone: str, known: Known) -> list[ProbeUrl]:
    """What the sitemaps list that robots.txt names, and the one at the usual place."""
    base = f"{home.scheme}://{home.host}/"
    robots = await fetcher.page(home._replace(path="/robots.txt"), LARGEST_BODY)
    named = await asyncio.to_thread(_named, robots.text) if robots.status == 200 else []
    queue = deque(url for text in [*named, "/sitemap.xml"] if (url := url_of(text, base, zone)))
    read: set[tuple[str, str]] = set()
    found: list[ProbeUrl] = []
    while queue:
        place = queue.popleft()
        if place.place in read:
            continue
        if len(read) >= MOST_SITEMAPS:
            known.notes.add(f"more than {MOST_SITEMAPS} sitemaps: the rest was not read")
            break
        read.add(place.place)
        page = await fetcher.page(place, LARGEST_SITEMAP)
        if page.status != 200:
            continue
        # Ten megabytes take seconds, in which others have their turns.
        of_sitemaps, urls, more = await asyncio.to_thread(
            _listed, page.content, lambda text: url_of(text, base, zone), MOST_URLS - len(found)
        )
        if urls is None:
            known.notes.add(f"{place.host}{place.path} is no sitemap that can be read")
            continue
        (queue if of_sitemaps else found).extend(urls)
        if more and not of_sitemaps:
            known.notes.add(f"more than {MOST_URLS} URLs in sitemaps: the rest was left out")
            break
    return found[:MOST_URLS]


def _named(robots: str) -> list[str]:
    """The sitemaps that a robots.txt names: enough of them."""
    found: list[str] = []
    for line in robots.splitlines():
        key, _, rest = line.partition(":")
        if key.strip().lower() == "sitemap" and len(found) < MOST_URLS:
            found.append(rest)
    return found


def _listed(content: bytes, made: Callable[[str], ProbeUrl | None], room: int) -> _Listed:
    """What a sitemap lists, and no more than there is room for."""
    if content.startswith(b"\x1f\x8b"):
        unpacked = gunzipped(content, LARGEST_SITEMAP)
        if unpacked is None:
            return _Listed()
        content = unpacked
    places = _Places(made, room)
    try:
        # A sitemap has no document type; one that has could define entities without end, in any encoding.
        parser = DefusedXMLParser(target=places, forbid_dtd=True)
        for at in range(0, len(content), _PIECE):
            parser.feed(content[at : at + _PIECE])
            if places.full:
                break
        else:
            parser.close()
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return _Listed()
    return _Listed(places.root.rpartition("}")[2] == "sitemapindex", places.urls[:room], places.full)

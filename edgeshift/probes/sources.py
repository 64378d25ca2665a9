"""Where the probe's URLs come from: the campaign file, the root page and its links, the host's sitemaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from edgeshift.areas.esc.sampling import ProbeUrl, Source, followed, listed, own, url_of
from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.model.fleet import Zone
from edgeshift.probes.fetch import Fetcher
from edgeshift.runtime.unpacking import gunzipped

LARGEST_SITEMAP = 10 << 20
"""Bytes of one sitemap that are read, before and after decompression."""

MOST_SITEMAPS = 10
"""Sitemaps of one zone that are read."""

MOST_HOPS = 3
"""Redirects that are followed to a zone's root page."""

MOST_URLS = 20_000
"""URLs of one zone that are known at most."""


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


async def find_urls(fetcher: Fetcher, spec: ProbeSpec, zone: Zone, zones: Sequence[Zone]) -> Known:
    """The URLs of a zone that the specification's sources know. ``zones``: all zones of the scope."""
    known = Known()
    name = zone.name.lower()
    scheme = "http" if spec.edge and spec.edge.startswith("http:") else "https"
    names = [other.name.lower() for other in zones]
    known.urls[Source.CAMPAIGN] = listed(spec.urls, name, names, scheme)
    home = ProbeUrl(scheme, name, "/")
    known.urls[Source.ROOT] = [home]
    page = await fetcher.page(home, LARGEST_SITEMAP)
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
        page = await fetcher.page(at, LARGEST_SITEMAP)
    if spec.links:
        known.urls[Source.LINKS] = _links(page.text, at, name)
    if spec.sitemap:
        known.urls[Source.SITEMAP] = await _mapped(fetcher, home, name, known)
    known.urls = {source: own(urls, name, names) for source, urls in known.urls.items()}
    return known


def _links(text: str, at: ProbeUrl, zone: str) -> list[ProbeUrl]:
    parser = _Links()
    parser.feed(text)
    base = f"{at.scheme}://{at.host}{at.path}"
    found = [url_of(link, base, zone) for link in parser.found[:MOST_URLS]]
    return [url for url in found if url and followed(url, at.host)]


async def _mapped(fetcher: Fetcher, home: ProbeUrl, zone: str, known: Known) -> list[ProbeUrl]:
    """What the sitemaps list that robots.txt names, and the one at the usual place."""
    base = f"{home.scheme}://{home.host}/"
    robots = await fetcher.page(home._replace(path="/robots.txt"), LARGEST_SITEMAP)
    lines = [line.partition(":") for line in robots.text.splitlines()] if robots.status == 200 else []
    named = [rest for key, _, rest in lines if key.strip().lower() == "sitemap"]
    queue = [url for text in [*named, "/sitemap.xml"] if (url := url_of(text, base, zone))]
    read: set[tuple[str, str]] = set()
    found: list[ProbeUrl] = []
    while queue:
        place = queue.pop(0)
        if place.place in read:
            continue
        if len(read) >= MOST_SITEMAPS:
            known.notes.add(f"more than {MOST_SITEMAPS} sitemaps: the rest was not read")
            break
        read.add(place.place)
        page = await fetcher.page(place, LARGEST_SITEMAP)
        if page.status != 200:
            continue
        index, places = _locations(page.content)
        if places is None:
            known.notes.add(f"{place.host}{place.path} is no sitemap that can be read")
            continue
        urls = [url for text in places if (url := url_of(text, base, zone))]
        (queue if index else found).extend(urls)
    if len(found) > MOST_URLS:
        known.notes.add(f"more than {MOST_URLS} URLs in sitemaps: the rest was left out")
    return found[:MOST_URLS]


def _locations(content: bytes) -> tuple[bool, list[str] | None]:
    """Whether it is an index of sitemaps, and what it lists; None where it cannot be read."""
    if content.startswith(b"\x1f\x8b"):
        unpacked = gunzipped(content, LARGEST_SITEMAP)
        if unpacked is None:
            return False, None
        content = unpacked
    try:
        # A sitemap has no document type; one that has could define entities without end, in any encoding.
        root = fromstring(content, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return False, None
    # Of the entries' own children alone: pictures and videos have places of the same name.
    nodes = [node for entry in root for node in entry]
    places = [node.text for node in nodes if node.tag.rpartition("}")[2] == "loc" and node.text]
    return root.tag.rpartition("}")[2] == "sitemapindex", places

"""Which URLs are asked for: the same in every run, of every source, and never one that does something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.esc.sampling import ProbeUrl, Source, followed, listed, sample, secured, url_of

ZONE = "shop.example"


def url(path: str, host: str = ZONE) -> ProbeUrl:
    return ProbeUrl("https", host, path)


KNOWN = {
    Source.CAMPAIGN: [url(f"/own/{number}") for number in range(5)],
    Source.ROOT: [url("/")],
    Source.SITEMAP: [url(f"/{part}/{number}") for part in ("a", "b", "c") for number in range(40)],
    Source.LINKS: [url(f"/link/{number}") for number in range(30)],
}


@given(st.randoms(), st.integers(min_value=1, max_value=250))
def test_the_sample_does_not_depend_on_the_order_of_what_is_known(random: object, most: int) -> None:
    """Shuffled sources give the same URLs in the same order, each once, and no more than were asked for."""
    shuffled = {source: sorted(urls, key=lambda _: random.random()) for source, urls in KNOWN.items()}  # type: ignore[attr-defined]
    chosen = sample(shuffled, most)
    assert chosen == sample(KNOWN, most)
    assert len(chosen) == len(set(chosen)) == min(most, 156)


def test_every_source_and_every_first_segment_comes_early() -> None:
    """Root, one of each source, all that people listed, then the segments in turn."""
    chosen = [one.path for one in sample(KNOWN, 20)]
    assert chosen[0] == "/"
    assert {path.split("/")[1] for path in chosen[1:4]} >= {"own", "link"}
    assert sum(path.startswith("/own/") for path in chosen) == 5
    assert {path.split("/")[1] for path in chosen} == {"", "own", "a", "b", "c", "link"}


def test_a_url_more_moves_few_others() -> None:
    """The order is that of digests: one more URL takes one place."""
    more = KNOWN | {Source.SITEMAP: [*KNOWN[Source.SITEMAP], url("/a/new")]}
    assert len(set(sample(KNOWN, 40)) - set(sample(more, 40))) <= 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("/a?b=1", ("shop.example", "/a?b=1")),
        ("http://SHOP.example/ä b", ("shop.example", "/%C3%A4%20b")),
        ("https://www.shop.example", ("www.shop.example", "/")),
        ("//www.shop.example/x#part", ("www.shop.example", "/x")),
        ("https://bücher.shop.example/", ("xn--bcher-kva.shop.example", "/")),
        ("https://myshop.example/", None),
        ("https://shop.example.org/", None),
        ("https://user@shop.example/", None),
        ("https://shop.example:8443/", None),
        ("javascript:void(0)", None),
        ("mailto:a@shop.example", None),
        ("https://[broken/", None),
        ("https://a..shop.example/", None),
        (f"https://{'a' * 64}.shop.example/", None),
        (f"https://{'a.' * 130}shop.example/", None),
        ("/\ud800", None),
    ],
)
def test_only_pages_of_the_zone_are_urls(text: str, place: tuple[str, str] | None) -> None:
    """A host within the zone, the usual port, no user."""
    found = url_of(text, f"https://{ZONE}/", ZONE)
    assert (found and found.place) == place


def test_a_url_that_says_http_is_asked_by_https() -> None:
    """The scope's secret goes along; all else of it stays."""
    found = url_of("http://www.shop.example/a?b=1", f"https://{ZONE}/", ZONE)
    assert found is not None
    assert secured(found) == url("/a?b=1", "www.shop.example") == secured(secured(found))


@pytest.mark.parametrize("path", ["/logout", "/user/sign-out", "/cart/remove/3", "/cdn-cgi/trace", "/a?x=1"])
def test_links_that_do_something_are_not_followed(path: str) -> None:
    """Nor those with a query, which may be somebody's."""
    assert not followed(url(path), ZONE)
    assert not followed(url("/a", "other.shop.example"), ZONE)
    assert followed(url("/about"), ZONE)


def test_listed_urls_go_to_the_zone_that_they_name() -> None:
    """A path to every zone; a whole URL to the zone with the longest fitting name."""
    urls = ("/a", "https://deep.sub.shop.example/b", "https://www.shop.example/c")
    zones = [ZONE, "sub.shop.example"]
    assert [one.path for one in listed(urls, ZONE, zones, "https")] == ["/a", "/c"]
    assert [one.path for one in listed(urls, zones[1], zones, "https")] == ["/a", "/b"]

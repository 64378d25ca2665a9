"""Which URL patterns of page rules have a URL in common: what edgeshift says, and what the simulator fits."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeshift.areas.waf import names_port
from edgeshift.areas.waf.url_patterns import may_overlap
from edgeshift.testbed.simulator.verdicts import _page_pattern as fitting
from tests.service.test_url_patterns import close_hosts, close_paths, close_requests, has_url, schemes

APART = [
    ("shop.example/*", "other.example/a*b"),
    ("shop.example/*", "other.example:8443/*"),
    ("shop.example:8443/*", "other.example:8443/*"),
    ("http://shop.example/*", "https://shop.example/a*b"),
    ("HTTPS://shop.example/*", "http://shop.example:8080/*"),
    ("shop.example/blog/*", "shop.example/api/*/x"),
    ("shop.example/*.PHP", "shop.example/a*b.css"),
    ("shop.example", "shop.example/a*b"),
    ("shop.example/ba", "shop.example/a*b*"),
    ("shop.example/a", "shop.example/a*a"),
    ("shop.example/x", "shop.example/y"),
    ("shop.example/abab", "shop.example/a*bab*b"),
]
TOGETHER = [
    ("shop.example/*", "shop.example/a*b"),
    ("shop.example/*", "SHOP.example:8443/*"),
    ("shop.example:8080/*", "shop.example:8443/*"),
    ("shop.example/x", "shop*ple:84*/x"),
    ("shop.example/b/x", "shop.example:8*/x"),
    ("shop.example/:84/x", "shop.example*9*:84/x"),
    ("shop.example", "shop.example:8443"),
    ("shop.example/a/*", "*/b"),
    ("shop.example/*", "*other.example/x*y"),
    ("shop.example/*", "http*://other.example/x*y"),
    ("http://shop.example/*", "h*s://shop.example/x*y"),
    ("shop.example/*", "*"),
    ("shop.example:8443/*", "*"),
    ("shop.example/*", "shop.example?x=*y"),
    ("shop.example/*", "/a*b"),
    ("shop.example/aabb", "shop.example/a*ab*b"),
    ("shop.example/", "shop.example"),
    ("shop.example/%61*", "shop.example/a*"),
    ("bücher.example/*", "xn--bcher-kva.example/a*b"),
    ("shop.example/é", "shop.example/%C3%A9"),
]


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [*((*pair, False) for pair in APART), *((*pair, True) for pair in TOGETHER)],
)
def test_patterns_are_apart_only_where_no_url_can_fit_both(one: str, other: str, together: bool) -> None:
    """By scheme, host, or the texts at both ends. What may be written in several ways, or is not known, such
    as where a pattern without a port fits, is together in doubt.
    """
    assert may_overlap(one, other) is may_overlap(other, one) is together
    assert may_overlap(one, one) and may_overlap(other, other)


starred = st.text("ab*", max_size=5)
TEXTS = ["".join(text) for length in range(9) for text in product("ab", repeat=length)]


@settings(deadline=None)
@given(starred, starred)
def test_stars_are_anything_and_nothing_else(one: str, other: str) -> None:
    """Exactly, as trying all texts finds."""
    first, second = (re.compile(pattern.replace("*", ".*")) for pattern in (one, other))
    together = any(first.fullmatch(text) and second.fullmatch(text) for text in TEXTS)
    assert may_overlap(f"shop.example/{one}", f"shop.example/{other}") is together


ports = st.sampled_from(["", "", ":84", ":8*", ":*4", ":*"])
loose_schemes = st.one_of(schemes, st.sampled_from(["http*://", "*://", "*s://"]))
ported = st.builds(lambda *parts: "".join(parts), loose_schemes, close_hosts, ports, close_paths)
with_ports = [
    (whole, whole.replace(host, f"{host}:{port}", 1) if port else whole)
    for request in close_requests
    if not has_url(request)
    for whole, host in ((str(request["http.request.full_uri"]), str(request["http.host"])),)
    if len(whole) < 14
    for port in ("", "84", "80")
]


def fitted(pattern: str, *, ports_count: bool) -> set[str]:
    """The URLs that a page rule fits, where the port counts for all of them, or for those that name one."""
    test: Any = fitting(pattern)
    return {
        whole
        for bare, whole in with_ports
        if test.fullmatch(whole if ports_count or names_port(pattern) else bare)
    }


@settings(deadline=None)
@given(ported, ported)
def test_the_simulator_fits_no_url_by_both_of_two_that_are_apart(one: str, other: str) -> None:
    """With ports, schemes and stars wherever they may stand, and whether or not a port counts for a pattern
    that names none.
    """
    if may_overlap(one, other):
        return
    for ports_count in (True, False):
        assert not fitted(one, ports_count=ports_count) & fitted(other, ports_count=ports_count)


def test_many_stars_are_compared_at_once() -> None:
    """Each of them would be tried with every length, and the worker would stand still."""
    many = f"shop.example/{'a*' * 1_000}b"
    assert not may_overlap(many, f"shop.example/{'a' * 4_000}")
    assert may_overlap(many, f"shop.example/{'a*' * 900}")

"""What the probe sends and what it keeps, against an edge whose every answer the test writes."""

from __future__ import annotations

import gzip
import itertools
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr

from edgeshift.areas.esc.probe import ProbeReport, summary, worse
from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.model.fleet import Plan, Zone
from edgeshift.probes import Baseline, Prober
from edgeshift.runtime.redaction import redact_text
from tests.service.raw_service import Answer, Hang, RawService, Request, Reset, at_edge, http, raw_service

SECRET = "edgeshift-" + "keep-this-one"
ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
PAGE = "<h1>Shop</h1>"


class StillClock:
    """Time passes only where somebody sleeps; it notes for how long."""

    def __init__(self) -> None:
        self.passed = 0.0

    def now(self) -> datetime:
        return datetime(2023, 10, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.passed

    async def sleep(self, seconds: float) -> None:
        self.passed += seconds


class Turns:
    """Answers in turn, whatever is asked."""

    def __init__(self, answers: Iterator[Answer]) -> None:
        self._answers = answers

    def __call__(self, request: Request) -> Answer:
        return next(self._answers)


def without(request: Request) -> bool:
    """Whether Edge Side Code is off for the request."""
    return request.headers.get("cookie") == f"disable_esc={SECRET}"


def pages(answer: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
    """Answers of an edge without sitemaps."""
    return lambda request: http(404) if request.path in ("/robots.txt", "/sitemap.xml") else answer(request)


def spec_for(edge: RawService, **more: Any) -> ProbeSpec:
    return ProbeSpec.model_validate(
        {"edge": f"http://127.0.0.1:{edge.port}", "per_second": 1000, "timeout": "2s", **more}
    )


async def probed(
    script: Callable[[Request], Answer], *, mark: bool = True, **more: Any
) -> tuple[ProbeReport, Baseline, list[Request]]:
    """A probe of the one zone, with what was asked. ``mark``: whether whatever answers is the edge."""
    script = at_edge(script) if mark else script
    async with raw_service(script) as edge, Prober(spec_for(edge, **more), clock=StillClock()) as prober:
        report, baseline = await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
    return report, baseline, edge.requests


async def test_requests_are_plain_reads_with_the_hosts_name() -> None:
    """Only GET; Host as the URL says; no cookie but the probe's own, whatever the edge sets."""
    report, _, asked = await probed(pages(lambda _: http(200, PAGE, set_cookie="sid=1; Path=/")))
    assert {one.method for one in asked} == {"GET"}
    assert {one.headers["host"] for one in asked} == {"shop.example"}
    assert {one.headers.get("cookie") for one in asked} == {None, f"disable_esc={SECRET}"}
    assert report.differences == ()


async def test_redirects_are_not_followed() -> None:
    """A redirect is an answer to be compared; where it leads is never asked for."""

    def answer(request: Request) -> Answer:
        moved = request.path == "/old" and not without(request)
        return http(302, location="https://shop.example/new") if moved else http(200, PAGE)

    report, _, asked = await probed(pages(answer), urls=("/old",))
    assert [one.feature for one in report.differences] == ["redirect rule"]
    assert {one.path for one in asked} == {"/", "/old", "/robots.txt", "/sitemap.xml"}


async def test_a_host_is_asked_at_its_pace() -> None:
    """Two requests a second to a host take half a second each."""
    clock = StillClock()
    async with (
        raw_service(at_edge(pages(lambda _: http(200, PAGE)))) as edge,
        Prober(spec_for(edge, per_second=2), clock=clock) as prober,
    ):
        await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
    assert clock.passed == pytest.approx((len(edge.requests) - 1) / 2)


async def test_the_secret_is_kept_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    """An edge that says the cookie back in headers, cookies, pages and addresses leaves no trace of it."""
    caplog.set_level(logging.DEBUG, "edgeshift")

    def echo(request: Request) -> Answer:
        cookie = request.headers.get("cookie", "none")
        more = {"x_cookie": cookie, "set_cookie": f"back={cookie}", "link": f"</{cookie}>"}
        return http(200, f"<p>{cookie}</p>\n<p>{request.path}</p>", content_type="text/html", **more)

    report, baseline, _ = await probed(pages(echo))
    kept = report.model_dump_json() + baseline.model_dump_json() + repr(report) + str(summary(report))
    assert SECRET not in kept
    assert SECRET not in caplog.text
    assert SECRET not in redact_text(f"a stray {SECRET}")
    assert report.differences == (), "what comes of any cookie is not Edge Side Code"


async def test_cookie_values_and_sensitive_headers_are_not_shown() -> None:
    """A cookie and a token that Edge Side Code sets are named; what they hold is not."""

    def answer(request: Request) -> Answer:
        more = (
            {} if without(request) else {"set_cookie": "pin=8675309; Path=/", "x_api_key": "hunter2hunter2"}
        )
        return http(200, PAGE, **more)

    report, baseline, _ = await probed(pages(answer))
    assert [(one.kind, one.what) for one in report.differences] == [
        ("cookie", "pin"),
        ("header", "x-api-key"),
    ]
    kept = report.model_dump_json() + baseline.model_dump_json()
    assert "8675309" not in kept
    assert "hunter2" not in kept


async def test_what_any_cookie_does_is_no_difference() -> None:
    """A cache that passes requests with a cookie answers otherwise to them: that is not Edge Side Code."""
    script = pages(lambda one: http(200, PAGE, x_cache="pass" if "cookie" in one.headers else "hit"))
    report, _, asked = await probed(script)
    assert report.differences == ()
    assert report.controls.alarms == 0
    assert len({one.headers.get("cookie") for one in asked}) == 3


async def test_origins_that_take_turns_are_no_difference() -> None:
    """Two, three or four origins in turn never fall in with the order of the requests."""
    for origins in (2, 3, 4):
        turns = itertools.cycle([http(200, PAGE, x_origin=f"o{number}") for number in range(origins)])
        report, _, _ = await probed(pages(Turns(turns)))
        assert report.differences == ()


async def test_coin_flips_raise_no_alarm() -> None:
    """Headers, cookies and lines that flip a coin are noise, over hundreds of URLs."""
    chance = random.Random(11)

    def answer(request: Request) -> Answer:
        flips = {f"x_flip_{number}": chance.choice("ab") for number in range(6)}
        cookie = {"set_cookie": f"ab={chance.choice('xy')}"} if chance.random() < 0.5 else {}
        return http(
            200, f"<p>{chance.choice(['one', 'two'])}</p>", content_type="text/html", **flips, **cookie
        )

    urls = [f"/{number}" for number in range(150)]
    report, _, _ = await probed(pages(answer), urls=urls, sample=200, rounds=2)
    assert report.coverage.urls == 151
    assert report.differences == ()
    assert report.controls.alarms == 0


async def test_a_value_that_only_one_side_has_counts_though_it_varies() -> None:
    """A nonce that only Edge Side Code sends is a difference; one that both send is not."""
    count = itertools.count()

    def answer(request: Request) -> Answer:
        more = {} if without(request) else {"x_nonce": f"n{next(count)}"}
        return http(200, PAGE, x_request_id=f"r{next(count)}", **more)

    report, _, _ = await probed(pages(answer))
    assert [(one.what, one.before, one.after) for one in report.differences] == [
        ("x-nonce", "(varies)", "(none)")
    ]
    assert "header x-request-id" in report.noise


@pytest.mark.parametrize("silence,limit", [(Hang(), "50ms"), (Reset(), "5s")], ids=["hangs", "resets"])
async def test_a_host_that_does_not_answer_is_a_failure_that_is_named(silence: Answer, limit: str) -> None:
    """It is no error of the probe: the URLs are named, the zone counts as not probed, and it ends soon."""
    report, baseline, asked = await probed(
        lambda _: silence, timeout=limit, urls=[f"/{number}" for number in range(9)], rounds=2
    )
    assert len(report.failures) == 10
    assert report.differences == ()
    assert (report.coverage.zones_probed, report.coverage.hosts_reached) == (0, ())
    assert max(Counter(one.path for one in asked).values()) <= 5
    assert len(baseline.urls) == 10


async def test_a_url_that_only_answers_with_edge_side_code_is_a_difference() -> None:
    """No answer with the cookie, an answer without: it is told, with the kind of the failure."""
    report, _, _ = await probed(pages(lambda one: Reset() if without(one) else http(200, PAGE)), rounds=2)
    (found,) = report.differences
    assert (found.kind, found.before, found.feature) == ("status", "200", "serverless function")
    assert found.after.startswith("no answer (")


async def test_bodies_are_read_to_their_limit() -> None:
    """Of an endless page a mebibyte is compared; a difference past it is not seen."""
    page = "<p>x</p>\n" * 200_000

    def answer(request: Request) -> Answer:
        return http(200, page + ("end" if without(request) else "fin"), content_type="text/html")

    report, _, _ = await probed(pages(answer), rounds=2)
    assert report.differences == ()


async def test_sitemaps_are_read_within_the_zone_and_within_bounds() -> None:
    """Index, compressed and named in robots.txt; other zones' URLs, document types and loops are left out."""
    start = '<?xml version="1.0"?>'

    def listed(*urls: str, index: bool = False) -> str:
        outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
        places = "".join(f"<{inner}><loc>{url}</loc></{inner}>" for url in urls)
        return f'{start}<{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</{outer}>'

    files: dict[str, bytes] = {
        "/robots.txt": b"User-agent: *\nSitemap: https://shop.example/index.xml\n",
        "/index.xml": listed(
            "https://shop.example/index.xml",
            "https://shop.example/a.xml.gz",
            "https://shop.example/bomb.xml",
            "https://other.example/b.xml",
            index=True,
        ).encode(),
        "/a.xml.gz": gzip.compress(
            listed("https://shop.example/1", "https://other.example/2", "https://shop.example/3").encode()
        ),
        "/bomb.xml": b'<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>/&a;</loc></url></urlset>',
    }
    report, baseline, _ = await probed(
        lambda one: http(200, files.get(one.path, PAGE.encode())) if one.path != "/sitemap.xml" else http(404)
    )
    assert {one.url.path for one in baseline.urls} == {"/", "/1", "/3"}
    assert report.coverage.notes == ("shop.example/bomb.xml is no sitemap that can be read",)


async def test_a_site_at_another_host_of_the_zone_is_found() -> None:
    """Where the zone's own name sends clients to its www, the links there are followed."""

    def answer(request: Request) -> Answer:
        if request.headers["host"] == "shop.example":
            return http(301, location="https://www.shop.example/")
        if request.path == "/":
            return http(302, location="/en/")
        links = '<a href="../cart">c</a><a href="/logout">l</a><a href="https://else.example/">e</a>'
        return http(200, links, content_type="text/html")

    report, baseline, _ = await probed(pages(answer))
    assert {one.url.place for one in baseline.urls} == {
        ("shop.example", "/"),
        ("www.shop.example", "/"),
        ("www.shop.example", "/cart"),
    }
    assert report.coverage.hosts_reached == ("shop.example", "www.shop.example")


async def test_a_change_that_nobody_agreed_to_is_worse() -> None:
    """Watched, a header that is as neither side was is named; a page that changed a little is not."""
    state = {"csp": "strict", "news": "old"}

    def answer(request: Request) -> Answer:
        lines = "\n".join(f"<p>{word}</p>" for word in ("one", "two", "three", state["news"]))
        return http(200, lines, content_type="text/html", x_policy=state["csp"])

    async with (
        raw_service(at_edge(pages(answer))) as edge,
        Prober(spec_for(edge), clock=StillClock()) as prober,
    ):
        agreed, baseline = await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
        state["news"] = "new"
        news = await prober.observe(baseline, lambda done, total: None)
        state["csp"] = "open"
        open_now = await prober.observe(baseline, lambda done, total: None)
    assert agreed.differences == ()
    assert worse(agreed, news, 0.0) == []
    assert worse(agreed, open_now, 0.0) == ["shop.example/: header x-policy: strict → open"]

"""The probe against a site that wants it to fail, to freeze, or to tell the scope's secret."""

from __future__ import annotations

import asyncio
import html
import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from pydantic import SecretStr

from edgeshift.areas.esc.probe import summary
from edgeshift.areas.esc.sampling import ProbeUrl, Source
from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.probes import Prober
from edgeshift.probes.fetch import Cookie, Fetcher
from edgeshift.probes.sources import MOST_URLS, find_urls
from tests.service.raw_service import Answer, Request, at_edge, http, raw_service
from tests.service.test_probes_requests import PAGE, ZONE, StillClock, pages, spec_for

SECRET = "abc/defghijk&mn"
JSON = "application/json"
ECHO = {"host": "h", "path": "/", "method": "GET"}


def off(request: Request) -> bool:
    """Whether Edge Side Code is off for the request."""
    return request.headers.get("cookie") == f"disable_esc={SECRET}"


async def kept(script: Callable[[Request], Answer], **more: Any) -> tuple[Any, Any]:
    """A probe of the zone, with the least of rounds: report and baseline."""
    async with (
        raw_service(at_edge(script)) as edge,
        Prober(spec_for(edge, rounds=2, **more), clock=StillClock()) as prober,
    ):
        return await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)


def slashed(cookie: str) -> Answer:
    body = json.dumps({**ECHO, "headers": {"x-original-cookie": cookie}}).replace("/", "\\/")
    return http(200, body, content_type=JSON)


@pytest.mark.parametrize(
    "said",
    [
        slashed,
        lambda cookie: http(200, f"it was {html.escape(cookie)}", content_type="text/html"),
        lambda cookie: http(200, PAGE, x_seen=cookie.replace("&", "%26")),
        lambda cookie: http(200, {**ECHO, "host": json.dumps({"k": cookie}).replace("/", "\\/")}),
        lambda cookie: http(200, PAGE, x_seen=cookie.partition("=")[2].upper().replace("/", "&sol;")),
        lambda cookie: http(200, PAGE, **{"x_" + cookie.partition("=")[2].replace("/", "%2f"): "1"}),
    ],
    ids=["json-slash", "html", "some-percent", "json-in-json", "entity-upper", "header-name"],
)
async def test_a_secret_that_a_site_writes_in_its_own_way_is_kept_nowhere(
    said: Callable[[str], Answer],
) -> None:
    """Only without Edge Side Code, so that it is a difference, with the value that differs."""
    report, baseline = await kept(
        pages(lambda one: said(one.headers["cookie"]) if off(one) else http(200, PAGE))
    )
    assert report.differences
    written = report.model_dump_json() + baseline.model_dump_json() + repr(report) + str(summary(report))
    assert "defghijk" not in written.lower()


RAISING: dict[str, Answer] = {
    "charset undefined": http(200, "hi", content_type="text/html; charset=undefined"),
    "charset idna": http(200, "hi", content_type="text/html; charset=idna"),
    "charset of escapes": http(200, "\\ud800", content_type="text/html; charset=unicode_escape"),
    "markup": http(200, "<![<![x", content_type="text/html"),
    "long surrogates": http(200, '{"' + "\\ud800" * 200 + '":1}', content_type=JSON),
    "a surrogate": http(200, '{"\\ud800":1}', content_type=JSON),
    "surrogates past the parts": http(200, json.dumps(["x"] * 4_001 + [{"\ud800": 1}]), content_type=JSON),
    "a surrogate of the request": http(200, {**ECHO, "headers": {"\ud800": "\ud800"}}, content_type=JSON),
    "deep": http(200, "[" * 50_000 + "]" * 50_000, content_type=JSON),
    "location": http(302, location="https://[x"),
    "echoed path": http(200, {**ECHO, "path": "//["}, content_type=JSON),
    "echoed port": http(200, {**ECHO, "path": "//x:99999999/\ud800"}, content_type=JSON),
    "packed": http(200, b"\x1f\x8b nonsense", content_encoding="gzip"),
}


@pytest.mark.parametrize("side", ["both", "on", "off"])
@pytest.mark.parametrize("name", sorted(RAISING))
async def test_no_answer_makes_the_probe_fail(name: str, side: str) -> None:
    """On both sides it is no difference, on one it is: it never raises, and can be archived."""
    script = pages(
        lambda one: RAISING[name] if side == "both" or (side == "off") is off(one) else http(200, PAGE)
    )
    async with (
        raw_service(at_edge(script)) as edge,
        Prober(spec_for(edge, rounds=2), clock=StillClock()) as prober,
    ):
        report, baseline = await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
        now = await prober.observe(baseline, lambda done, total: None)
    assert bool(report.differences) is (side != "both")
    assert now.differences == ()
    assert report.model_dump_json() and baseline.model_dump_json()


async def test_a_host_that_cannot_be_named_is_no_answer() -> None:
    """A name that DNS cannot even be asked for: an observation with an error."""
    async with Fetcher(ProbeSpec(), clock=StillClock(), secret=SecretStr(SECRET)) as fetcher:
        for host in ("a" * 64 + ".shop.example", "a..shop.example"):
            seen = await fetcher.observe(ProbeUrl("https", host, "/"), Cookie.SECRET)
            assert seen.error


async def test_the_secret_never_goes_by_plain_http() -> None:
    """Where no edge is named, a URL that says http is asked by https; asked as it is, it is not asked."""
    asked: list[tuple[str, str | None]] = []

    def proxy(request: Request) -> Answer:
        asked.append((request.method, request.headers.get("cookie")))
        return http(502)

    spec = ProbeSpec(urls=("http://shop.example/a",), rounds=2, per_second=1000)
    async with raw_service(proxy) as way:
        address = f"http://127.0.0.1:{way.port}"
        async with Prober(spec, clock=StillClock(), proxy=address) as prober:
            report, _ = await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
        async with Fetcher(spec, clock=StillClock(), proxy=address, secret=SecretStr(SECRET)) as fetcher:
            plain = ProbeUrl("http", "shop.example", "/a")
            refused = [await fetcher.observe(plain, cookie) for cookie in (Cookie.SECRET, Cookie.DECOY)]
            without = await fetcher.observe(plain, Cookie.NONE)
    assert "shop.example/a" in report.failures
    assert [one.error for one in refused] == ["not by plain http"] * 2
    assert without.status == 502
    assert asked.pop() == ("GET", None)
    assert set(asked) == {("CONNECT", None)}


async def test_a_line_without_end_holds_nobody_up() -> None:
    """Twenty thousand letters, and a name of 100,000 with as many leaves, in no more time than others."""
    longest = {"k" * 100_000: [1] * 100_000}
    letters = http(200, "a" * 20_000, content_type="text/html")
    slow = pages(lambda one: http(200, longest, content_type=JSON) if one.path == "/j" else letters)
    began = perf_counter()
    await kept(slow, urls=("/j",))
    assert perf_counter() - began < 30


async def test_ten_megabytes_of_sitemap_hold_nobody_up() -> None:
    """Others have their turns while it is read, and reading ends with the last URL that is taken."""
    entry = "<url><loc>https://shop.example/{}</loc></url>"
    whole = f"<urlset>{''.join(entry.format(number) for number in range(200_000))}</urlset>"
    assert 9 << 20 < len(whole) < 10 << 20
    script = {
        "/sitemap.xml": http(200, whole),
        "/": http(200, "<a href=/x>" * 90_000, content_type="text/html"),
    }
    longest, over = 0.0, False

    async def turns() -> None:
        nonlocal longest
        while not over:
            began = perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, perf_counter() - began)

    async with raw_service(lambda one: script.get(one.path, http(404))) as edge:
        spec = spec_for(edge, timeout="20s")
        async with Fetcher(spec, clock=StillClock()) as fetcher:
            watching = asyncio.create_task(turns())
            known = await find_urls(fetcher, spec, ZONE, [ZONE])
            over = True
            await watching
    assert len(known.urls[Source.SITEMAP]) == MOST_URLS
    assert known.notes == {f"more than {MOST_URLS} URLs in sitemaps: the rest was left out"}
    assert len(known.urls[Source.LINKS]) == MOST_URLS
    assert longest < 2.5

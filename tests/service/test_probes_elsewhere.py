"""Hosts whose DNS leads past the edge: nothing that they answer says what Edge Side Code does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pydantic import SecretStr

from edgeshift.areas.esc.difference_texts import doubts
from edgeshift.areas.esc.probe import ProbeReport, from_edge, summary
from edgeshift.areas.esc.sampling import ProbeUrl
from edgeshift.probes import Prober
from edgeshift.probes.fetch import Cookie, Fetcher
from tests.service.raw_service import Answer, Request, Reset, at_edge, http, raw_service
from tests.service.test_probes_requests import (
    PAGE,
    SECRET,
    ZONE,
    StillClock,
    pages,
    probed,
    spec_for,
    without,
)

WWW = "https://www.shop.example/"


def marks(request: Request) -> Answer:
    """Edge Side Code that marks each answer."""
    return http(200, PAGE) if without(request) else http(200, PAGE, x_esc="1")


def past_the_edge(*hosts: str) -> Callable[[Request], Answer]:
    """An edge with Edge Side Code, beside which these hosts answer by themselves, alike to everybody."""
    edge, origin = at_edge(pages(marks)), pages(lambda _: http(200, PAGE))
    return lambda request: (origin if request.headers["host"] in hosts else edge)(request)


def told_to(asked: list[Request]) -> set[str]:
    """The hosts that were sent the scope's secret."""
    return {one.headers["host"] for one in asked if SECRET in str(one.headers)}


async def test_a_zone_that_is_not_at_the_edge_is_not_probed() -> None:
    """It answers, and yet nothing is known: that is told, signed as something else, and costs no secret."""
    report, baseline, asked = await probed(past_the_edge("shop.example"), mark=False)
    assert told_to(asked) == set()
    assert report.differences == ()
    coverage = report.coverage
    assert (coverage.zones_covered, coverage.zones_probed) == (1, 0)
    assert (coverage.hosts_reached, coverage.hosts_unmarked) == ((), ("shop.example",))
    assert doubts(report) == [
        "1 of 1 zone gave the probe no answer from the edge",
        "1 host answers without the mark of the edge (CF-Ray): shop.example",
    ]
    nothing, _, _ = await probed(pages(lambda _: http(200, PAGE)))
    assert doubts(nothing) == [] and nothing.differences == ()
    assert summary(report) != summary(nothing)
    # What is watched is what it was, as far as it goes.
    assert [one.url.path for one in baseline.urls] == ["/"] and not baseline.urls[0].failed


async def test_a_host_beside_the_edge_is_named_and_gets_no_secret() -> None:
    """The zone's own name is at the edge, and what Edge Side Code does there is found; its www is not."""
    report, _, asked = await probed(past_the_edge("www.shop.example"), mark=False, urls=(WWW,))
    assert told_to(asked) == {"shop.example"}
    assert {(one.host, one.what) for one in report.differences} == {("shop.example", "x-esc")}
    assert report.coverage.hosts_reached == ("shop.example",)
    assert doubts(report) == ["1 host answers without the mark of the edge (CF-Ray): www.shop.example"]
    assert summary(report)["hosts"] == ["shop.example"]


async def test_the_mark_costs_no_requests() -> None:
    """The first request without the secret tells it: twice ``rounds`` to a URL at the edge, and no more."""
    quiet = pages(lambda _: http(200, PAGE))
    _, _, asked = await probed(quiet, urls=(WWW,), rounds=3)
    www = [one.headers.get("cookie") for one in asked if one.headers["host"] == "www.shop.example"]
    assert www[0] is None and Counter(www) == {None: 3, f"disable_esc={SECRET}": 3}


async def test_a_host_that_leaves_the_edge_midway_gets_no_further_secret() -> None:
    """From the first answer without the mark on; what was found by then is no comparison."""
    edge, origin, count = at_edge(pages(marks)), pages(marks), Counter[str]()

    def leaving(request: Request) -> Answer:
        count[request.path] += 1
        return (origin if count["/b"] > 3 else edge)(request)

    report, _, asked = await probed(leaving, mark=False, urls=("/b",), sample=2)
    assert [one.headers.get("cookie") for one in asked if one.path == "/b"][4:].count(None) >= 1
    last = max(at for at, one in enumerate(asked) if SECRET in str(one.headers))
    assert sum(one.path == "/b" for one in asked[: last + 1]) <= 4
    assert report.coverage.hosts_unmarked == ("shop.example",)
    assert report.coverage.hosts_reached == () and "shop.example" in doubts(report)[-1]
    assert {one.path for one in report.differences} <= {"/"}


async def test_a_host_that_is_silent_at_first_is_compared_once_it_answers() -> None:
    """Without an answer nobody knows whether it is at the edge: no secret until then."""
    edge, count = at_edge(pages(marks)), Counter[str]()

    def waking(request: Request) -> Answer:
        host = request.headers["host"]
        count[host] += 1
        return Reset() if host == "www.shop.example" and count[host] < 2 else edge(request)

    urls = (WWW, f"{WWW}b")
    report, _, asked = await probed(waking, mark=False, urls=urls, rounds=2)
    www = [one for one in asked if one.headers["host"] == "www.shop.example"]
    assert [one.headers.get("cookie") for one in www[:2]] == [None, None]
    assert {one.path for one in www if SECRET in str(one.headers)} == {"/", "/b"}
    assert ("www.shop.example", "x-esc") in {(one.host, one.what) for one in report.differences}
    assert doubts(report) == []


async def test_the_secret_is_not_sent_to_whom_nobody_knows() -> None:
    """Whoever asks for it: before an answer with the mark, and after one without, it does not go."""
    async with raw_service(past_the_edge("www.shop.example")) as server:
        fetcher = Fetcher(spec_for(server), clock=StillClock(), secret=SecretStr(SECRET))
        async with fetcher:
            for host, sent in (("shop.example", 1), ("www.shop.example", 0)):
                url = ProbeUrl("http", host, "/")
                assert (await fetcher.observe(url, Cookie.SECRET)).error == "not from the edge"
                await fetcher.observe(url, Cookie.NONE)
                await fetcher.observe(url, Cookie.SECRET)
                assert sum(SECRET in str(one.headers) for one in server.requests) == sent
                server.requests.clear()


async def test_a_watch_says_which_hosts_have_left_the_edge() -> None:
    """What they answer says nothing of what was agreed for them."""
    place = {"is": past_the_edge()}
    async with (
        raw_service(lambda request: place["is"](request)) as server,
        Prober(spec_for(server, urls=(WWW,)), clock=StillClock()) as prober,
    ):
        agreed, baseline = await prober.probe([ZONE], SecretStr(SECRET), lambda done, total: None)
        place["is"] = past_the_edge("www.shop.example")
        now = await prober.observe(baseline, lambda done, total: None)
    assert agreed.coverage.hosts_unmarked == ()
    assert now.coverage.hosts_unmarked == ("www.shop.example",)
    assert {one.host for one in agreed.differences} == {"shop.example", "www.shop.example"}
    assert {one.host for one in from_edge(agreed, now).differences} == {"shop.example"}


def test_a_report_of_before_is_read_as_it_was_signed() -> None:
    """It knows nothing of the mark, and its summary is the one that people signed."""
    document = {"made_at": "2023-10-01T00:00:00Z", "rounds": 3}
    coverage = {"hosts_tried": ["a.example"], "hosts_reached": ["a.example"], "zones_covered": 1}
    before = ProbeReport.model_validate(document | {"coverage": coverage | {"zones_probed": 1}})
    assert before.coverage.hosts_unmarked == () and doubts(before) == []
    assert summary(before) == {
        "differences": [],
        "hosts": ["a.example"],
        "sources": [],
        "zones": {"covered": 1, "probed": 1},
    }

"""The probe's judgement: one cause is one difference with the right feature; noise is none."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.esc.observation import facts_of, masked
from edgeshift.areas.esc.probe import (
    CONFIRMING,
    Coverage,
    Difference,
    Feature,
    Kind,
    Observation,
    ProbeReport,
    compare,
    controls,
    still_seen,
    summary,
    worse,
)
from edgeshift.areas.esc.sides import ABSENT, VARIES
from edgeshift.model.digests import canonical_bytes, fingerprint
from edgeshift.model.fleet import Plan, Zone

HOST = "shop.example"
Told = list[tuple[str, str, str]]
"""Kind, what and feature of differences."""


def answer(
    status: int = 200,
    body: Any = "<p>hello</p>",
    cookies: tuple[str, ...] = (),
    url: str = "/a",
    error: str = "",
    **headers: str,
) -> Observation:
    """An answer; in names of headers ``_`` stands for ``-``; what is no text is written as JSON."""
    lines = [(name.replace("_", "-"), value) for name, value in headers.items()]
    lines += [("set-cookie", cookie) for cookie in cookies]
    text = body if isinstance(body, str) else json.dumps(body)
    return Observation(
        url=url, host=HOST, with_cookie=False, status=status, headers=tuple(lines), body=text, error=error
    )


def echo(status: int = 200, more: dict[str, str] | None = None, **changed: Any) -> Observation:
    """An origin's answer that says what it was asked."""
    asked = {
        "method": "GET",
        "host": HOST,
        "sni": HOST,
        "resolved_host": HOST,
        "path": "/a",
        "query": "",
        "headers": {"accept": "*/*", **(more or {})},
    }
    return answer(status, asked | changed)


def told(a: Observation, b: Observation, rounds: int = CONFIRMING) -> Told:
    """What is found where every answer of a side is the same."""
    return [(one.kind.value, one.what, one.feature.value) for one in compare([a] * rounds, [b] * rounds)]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (answer(302, "", location="/x"), answer(x_origin="1"), ("redirect", "location", "redirect rule")),
        (
            answer(302, "", location="/x"),
            answer(302, "", location="/y"),
            ("redirect", "location", "redirect rule"),
        ),
        (
            answer(302, "", location="/x"),
            answer(404, "<p>none</p>", x_origin="1"),
            ("redirect", "location", "serverless function"),
        ),
        (
            answer(200),
            answer(301, "", location=f"https://{HOST}/a"),
            ("redirect", "location", "configuration rule"),
        ),
        (echo(sni="b.example"), echo(), ("origin", "sni", "origin rule")),
        (echo(resolved_host="b.example"), echo(), ("origin", "resolved_host", "origin rule")),
        (echo(host="b.example"), echo(), ("origin", "host", "origin rule")),
        (echo(path="/b"), echo(), ("rewrite", "path", "URL rewrite rule")),
        (echo(path="/b", query="c=1"), echo(), ("rewrite", "path and query", "URL rewrite rule")),
        (echo(path="/b"), echo(404), ("rewrite", "path", "URL rewrite rule")),
        (echo(more={"x-r": "1"}), echo(), ("request_header", "x-r", "request header transform rule")),
        (echo(), echo(more={"x-r": "1"}), ("request_header", "x-r", "request header transform rule")),
        (
            answer(body='<a href="mailto:a@b.example">a</a>'),
            answer(body='<a class="__cf_email__" data-cfemail="0af1">b</a>'),
            ("body", "page", "configuration rule"),
        ),
        (
            answer(body='<img src="http://shop.example/a.png">'),
            answer(body='<img src="https://shop.example/a.png">'),
            ("body", "page", "configuration rule"),
        ),
        (
            answer(body="<p>a</p>\n\n<p>b</p>"),
            answer(body="<p>a</p><p>b</p>"),
            ("body", "layout", "configuration rule"),
        ),
        (
            answer(503, "<p>back soon</p>", content_type="text/html", x_origin="1"),
            answer(503, {"error": 1}, content_type="application/json", etag="z", x_origin="1"),
            ("body", "error page", "custom error response"),
        ),
        (
            answer(x_frame_options="DENY"),
            answer(),
            ("header", "x-frame-options", "response header transform rule"),
        ),
        (answer(), answer(x_powered_by="1"), ("header", "x-powered-by", "response header transform rule")),
        (
            answer(cookies=("a=1; Secure",)),
            answer(cookies=("a=1",)),
            ("cookie", "a", "response header transform rule"),
        ),
        (
            answer(cookies=("a=1",)),
            answer(cookies=("a=2",)),
            ("cookie", "a", "response header transform rule"),
        ),
        (answer(body="one"), answer(body="two", etag="x"), ("body", "text", "serverless function")),
        (
            answer(body=[1, {"price": 2}]),
            answer(body=[1, {"price": 3}]),
            ("body", "/*/price", "serverless function"),
        ),
        (answer(200), answer(403, "<p>no</p>", x_a="1"), ("status", "status", "serverless function")),
        (answer(), answer(0, error="timeout"), ("status", "status", "serverless function")),
    ],
)
def test_one_behaviour_is_one_difference_of_its_feature(
    a: Observation, b: Observation, expected: tuple[str, str, str]
) -> None:
    """What follows from a behaviour is folded under it."""
    assert told(a, b) == [expected]


def test_behaviours_that_have_nothing_to_do_with_each_other_are_told_apart() -> None:
    """A changed request header, an SNI and a response header on one URL are three differences."""
    a = echo(sni="b.example", more={"x-r": "1"})
    a = a.model_copy(update={"headers": (("x-new", "1"),)})
    assert {kind for kind, _, _ in told(a, echo())} == {"origin", "request_header", "header"}


def test_a_removed_header_on_an_error_page_of_ones_own_is_still_seen() -> None:
    """A page that keeps most of the origin's headers, and lost one, had it removed."""
    own = answer(503, "<p>own</p>", x_a="1", x_b="1", x_c="1")
    found = told(own, answer(503, "<p>origin</p>", x_a="1", x_b="1", x_c="1", x_d="1"))
    assert [what for _, what, _ in found] == ["error page", "x-d"]


def test_the_same_answers_have_no_difference() -> None:
    """Whatever the answer, it does not differ from itself."""
    for one in (answer(), echo(), answer(503), answer(301, "", location="/"), answer(0, error="timeout")):
        assert told(one, one) == []


@given(st.lists(st.sampled_from("ab"), min_size=2, max_size=20))
def test_a_value_seen_on_both_sides_is_never_a_difference(values: list[str]) -> None:
    """Whatever the order: one value in common is enough to call it noise."""
    side = [answer(x_v=value, cookies=(f"c={value}",), body=f"<p>{value}</p>") for value in values]
    assert compare(side, [*side[1:], side[0]]) == []


@given(st.lists(st.uuids(), min_size=CONFIRMING * 2, max_size=CONFIRMING * 2, unique=True))
def test_values_that_are_new_each_time_are_no_difference_unless_one_side_has_none(values: list[Any]) -> None:
    """Nonces in headers, cookies, lines and JSON: noise on both sides, a difference on one."""
    page = '<input name="csrf" value="{0}">\n<p>at 12:{1}</p>'
    made = [
        answer(x_id=str(value), cookies=(f"s={value}",), body=page.format(value, number))
        for number, value in enumerate(values)
    ]
    a, b = made[::2], made[1::2]
    assert compare(a, b) == []
    alone = compare(a, [answer(body="<p>at 12:0</p>")] * CONFIRMING)
    assert [(one.kind.value, one.what) for one in alone] == [
        ("body", "text"),
        ("header", "x-id"),
        ("cookie", "s"),
    ]
    assert alone[1].before == VARIES
    assert alone[1].after == ABSENT


def test_like_with_like_raises_no_alarm_once_noise_is_known() -> None:
    """Controls of noisy answers are empty; a change in every other answer is an alarm."""
    noisy = [answer(x_id=f"n{number}", body=f"<p>{number % 3}</p>") for number in range(12)]
    assert controls(noisy) == []
    every_other = [answer(x_v="ab"[number % 2]) for number in range(12)]
    assert [one.what for one in controls(every_other)] == ["x-v"]


def test_ignored_headers_never_count() -> None:
    """Named by the campaign, on the way to the origin and back."""
    a, b = echo(more={"x-r": "1"}), echo()
    a = a.model_copy(update={"headers": (("x-h", "1"), ("date", "now"))})
    assert compare([a] * 3, [b] * 3, frozenset({"x-r", "x-h"})) == []


def test_values_are_short_and_sensitive_ones_masked() -> None:
    """At most 120 characters; two long values that differ at their end differ as shown, too."""
    long = "x" * 500
    (one,) = compare([answer(csp=long + "a")] * 3, [answer(csp=long + "b")] * 3)
    assert len(one.before) <= 120
    assert one.before != one.after
    (own,) = compare([answer(authorization="Bearer 123")] * 3, [answer()] * 3)
    assert "123" not in own.before.replace("(", "").split(" ")[0]
    assert "Bearer" not in own.before


@given(st.text(st.sampled_from("aA1-/. é٣_"), max_size=24))
def test_what_looks_random_or_counts_is_masked(text: str) -> None:
    """Numbers, and eight characters of a word and more with a digit or a capital within it."""
    looks_ahead = r"(?=[\w+/=-]*(?:\d|[a-z][A-Z]))[\w+/=-]{8,}|\d+"
    assert masked(text) == re.sub(looks_ahead, "#", text)


def test_a_word_takes_time_by_its_length() -> None:
    """Twenty thousand letters took eight seconds, and a megabyte of them hours."""
    began = perf_counter()
    assert masked("a" * 20_000) == "a" * 20_000
    assert perf_counter() - began < 2
    assert masked("a" * (1 << 20) + "1") == "#"


def test_a_document_takes_time_by_its_length() -> None:
    """However long its names, and however deep it is, each leaf costs the same; what is too deep is text."""
    began = perf_counter()
    facts_of(answer(body={"k" * 300_000: [1] * 20_000}))
    facts_of(answer(body="[" * 900 + "1," * 200_000 + "1" + "]" * 900))
    assert perf_counter() - began < 10
    assert not any(fact.kind == "leaf" for fact in facts_of(answer(body="[" * 5_000 + "]" * 5_000)).values)


def test_a_body_says_no_more_of_the_request_than_there_is_room_for() -> None:
    """A thousand headers that the origin says it got are content."""
    many = echo(more={f"x-{number}": "1" for number in range(1_000)})
    assert not any(fact.kind == "request_header" for fact in facts_of(many).values)
    assert any(fact.kind == "request_header" for fact in facts_of(echo()).values)


def test_an_answer_has_no_more_headers_and_cookies_than_there_is_room_for() -> None:
    """Thousands of them on one side alone would each be a difference that people sign."""
    headers: dict[str, Any] = {f"x_{number}": "1" for number in range(5_000)}
    many = answer(cookies=tuple(f"c{number}=1" for number in range(5_000)), **headers)
    assert len(compare([many] * 3, [answer()] * 3)) == 400


def difference(**more: Any) -> Difference:
    given = {
        "host": HOST,
        "path": "/a",
        "kind": Kind.HEADER,
        "what": "x-a",
        "feature": Feature.RESPONSE_HEADER_RULE,
        "before": "strict",
        "after": ABSENT,
    }
    return Difference.model_validate(given | more)


def report(
    *differences: Difference, urls: int = 10, failures: tuple[str, ...] = (), hour: int = 0
) -> ProbeReport:
    return ProbeReport(
        differences=differences,
        coverage=Coverage(urls=urls, hosts_reached=(HOST,), zones_covered=1, zones_probed=1),
        failures=failures,
        made_at=datetime(2023, 10, 1, hour, tzinfo=UTC),
        rounds=3,
    )


def test_what_is_signed_depends_on_behaviours_alone() -> None:
    """Not on the order, the time, noise, or what stood in a page."""
    first = difference(path="/b"), difference(), difference(kind=Kind.BODY, what="text", before="<p>x</p>")
    again = difference(kind=Kind.BODY, what="text", before="<p>y</p>", extent=0.3), difference(), first[0]
    one = report(*first).model_copy(update={"noise": ("header x-id",)})
    assert canonical_bytes(summary(one)) == canonical_bytes(summary(report(*again, hour=5)))
    other = summary(report(*first, difference(what="x-b")))
    assert canonical_bytes(summary(one)) != canonical_bytes(other)
    assert [each["paths"] for each in summary(one)["differences"]] == [["/a"], ["/a", "/b"]]


def test_zones_that_behave_alike_have_equal_fingerprints() -> None:
    """The zone's name stands as a whole host in what is signed, so that it can be taken out."""

    def of(name: str, digit: str) -> str:
        redirect = {"kind": Kind.REDIRECT, "what": "location", "feature": Feature.REDIRECT_RULE}
        one = difference(host=f"www.{name}", before=f"301 https://www.{name}/new", after="200", **redirect)
        made = report(one)
        zone = Zone(id=digit * 32, name=name, account="0" * 32, plan=Plan.ENTERPRISE)
        named = summary(made.model_copy(update={"coverage": Coverage(hosts_reached=(name,))}))
        return fingerprint({"name": "disable_esc", "rules": [named]}, zone)

    assert of("one.example", "1") == of("two.example", "2")


def test_what_was_agreed_is_not_worse_and_what_was_not_is() -> None:
    """By host, path, kind, name and what it becomes."""
    agreed = report(difference())
    assert worse(agreed, report(difference()), 0.0) == []
    assert worse(agreed, report(), 0.0) == []
    assert worse(agreed, report(difference(path="/b")), 0.0) == [f"{HOST}/b: header x-a: strict → (none)"]
    assert worse(agreed, report(difference(after="lax")), 0.0) == [
        f"{HOST}/a: header x-a: strict → lax (agreed: (none))"
    ]


def test_a_site_at_work_is_not_worse() -> None:
    """Less than half of a page, a version that counted up: people publish. A page that is gone is worse."""
    body = {"kind": Kind.BODY, "what": "text"}
    now = report(difference(**body, extent=0.4), difference(what="x-build", before="v12", after="v13"))
    assert worse(report(), now, 0.0) == []
    assert len(worse(report(), report(difference(**body, extent=0.6)), 0.0)) == 1
    assert len(worse(report(), report(difference(kind=Kind.BODY, what="error page", extent=0.1)), 0.0)) == 1


def test_values_of_an_interface_are_not_worse_and_a_lost_shape_is() -> None:
    """Other prices in the same JSON: the share that came or went is none."""
    items = [{"name": f"n{number}", "price": number} for number in range(9)]
    dearer = [{"name": f"m{number}", "price": number + 1} for number in range(9)]
    (values,) = compare([answer(body=items)] * 3, [answer(body=dearer)] * 3)
    (shape,) = compare([answer(body=items)] * 3, [answer(body={"error": "gone"})] * 3)
    assert worse(report(), report(values), 0.0) == []
    assert len(worse(report(), report(shape), 0.0)) == 1


def test_what_has_recovered_is_not_worse() -> None:
    """A URL that failed while Edge Side Code was on, and answers now."""
    status = {"kind": Kind.STATUS, "what": "status"}
    assert worse(report(), report(difference(before="no answer (timeout)", after="200", **status)), 0.0) == []
    assert len(worse(report(), report(difference(before="200", after="404", **status)), 0.0)) == 1


def test_a_page_of_another_url_is_a_rewrite_though_parts_of_it_vary() -> None:
    """Matched with what the other URL shows without ESC; two pages of one shape are not mixed up."""
    page = '<h1>{0}</h1>\n<script nonce="{1}">'
    a = [answer(body=page.format("Login", f"qwertzuiop{number}"), url="/a") for number in range(10)]
    b = [answer(body=page.format("About", f"asdfghjkl{number}"), url="/a") for number in range(10)]
    there = [answer(body=page.format("Login", f"yxcvbnmqwe{number}"), url="/login") for number in range(3)]
    (found,) = compare(a, b + there)
    assert (found.kind, found.feature) == (Kind.REWRITE, Feature.URL_REWRITE_RULE)
    assert (found.before, found.after) == ("/login", "/a")
    one, two = (answer(body=f"<p>Item {number}</p>", url=f"/{number}") for number in (1, 2))
    (other,) = compare([one.model_copy(update={"body": "<p>Item 7</p>"})] * 3, [one, two] * 3)
    assert other.feature is Feature.SERVERLESS


@pytest.mark.parametrize(
    ("tolerance", "failed", "reasons"), [(0.0, 1, 1), (0.1, 1, 0), (0.1, 2, 1), (0.5, 5, 0)]
)
def test_failures_count_beyond_the_tolerance(tolerance: float, failed: int, reasons: int) -> None:
    """The share of all URLs that fail and did not before; those that failed before do not count."""
    known = (f"{HOST}/always",)
    fresh = tuple(f"{HOST}/{number}" for number in range(failed))
    down = [difference(kind=Kind.STATUS, what="status", path=f"/{n}", after="503") for n in range(failed)]
    now = report(*down, failures=known + fresh)
    assert len(worse(report(failures=known), now, tolerance)) == reasons


def test_a_failure_that_was_agreed_to_is_none() -> None:
    """A URL of which people know that its origin fails without Edge Side Code."""
    down = difference(kind=Kind.REDIRECT, what="location", before="302 /x", after="503")
    assert worse(report(down), report(down, failures=(f"{HOST}/a",)), 0.0) == []


def test_back_is_back_when_nothing_agreed_is_seen() -> None:
    """Of the agreed differences, those that still show; what else changed does not matter."""
    agreed = report(difference(), difference(what="x-b"))
    assert still_seen(agreed, report(difference())) == [difference()]
    assert still_seen(agreed, report(difference(what="x-c"))) == []

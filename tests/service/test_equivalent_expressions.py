"""The rules language of the simulator."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.testbed.simulator.expressions import ExpressionError, compile_expression, quoted

REQUEST = {
    "http.host": "shop.example",
    "http.request.method": "POST",
    "http.request.uri.path": "/api/v1/orders",
    "http.request.full_uri": "https://shop.example/api/v1/orders?x=1",
    "http.user_agent": "Mozilla/5.0",
    "ip.src": "198.51.100.7",
    "ip.geoip.country": "DE",
    "ip.geoip.asnum": 64500,
    "ssl": True,
}

TRUE = [
    "true",
    "not false",
    "ssl",
    "(ssl and true) or false",
    "false or true and ssl",
    "true xor false",
    '!(http.host ne "shop.example") && ssl',
    'http.host eq "shop.example"',
    'http.request.method in {"GET" "POST"}',
    'starts_with(http.request.uri.path, "/api/")',
    'ends_with(lower(http.host), ".example")',
    'http.request.uri.path matches "^/api/v[0-9]+/"',
    'http.request.uri.path ~ "orders$"',
    'http.request.full_uri wildcard "http*://SHOP.example/api/*"',
    'http.request.uri.path contains "v1"',
    "ip.src in {192.0.2.0/24 198.51.100.0/24}",
    "ip.src eq 198.51.100.7",
    "ip.src ne 198.51.100.8",
    "ip.geoip.asnum in {64496..64511}",
    "ip.geoip.asnum ge 64500",
    "len(http.host) == 12",
    r'http.user_agent contains r#"Mozilla/5"#',
    'not http.cookie contains "session"',
    "  ssl\n and\tssl ",
]
FALSE = [
    "false",
    "not ssl",
    'http.host eq "Shop.example"',
    "ip.src in {192.0.2.0/24}",
    "ssl xor ssl",
    "ip.src in {}",
]
WRONG = [
    "",
    "(true",
    "true)",
    "true true",
    "http.host",
    'http.hots eq "x"',
    "http.host eq x",
    "http.host eq",
    'http.host matches "("',
    'ip.src eq "x"',
    "ip.src contains 198.51.100.7",
    "ip.geoip.asnum eq many",
    "ssl eq true",
    'http.host eq "open',
    "http.host in {",
    "not",
    "(" * 200 + "ssl" + ")" * 200,
    'starts_with(http.host "x")',
    "\x00",
]


@pytest.mark.parametrize("text", TRUE)
def test_what_matches(text: str) -> None:
    """Every operator and function, on one request."""
    assert compile_expression(text)(REQUEST) is True


@pytest.mark.parametrize("text", FALSE)
def test_what_does_not_match(text: str) -> None:
    """And what they leave out."""
    assert compile_expression(text)(REQUEST) is False


@pytest.mark.parametrize("text", WRONG)
def test_an_invalid_expression_is_named_so(text: str) -> None:
    """The error says where and what was expected, in a short text."""
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)
    assert len(str(caught.value)) < 120


@given(st.text(max_size=60))
def test_no_text_does_worse_than_an_error(text: str) -> None:
    """Any text is either valid or an ExpressionError."""
    with suppress(ExpressionError):
        compile_expression(text)(REQUEST)


@given(st.text(max_size=40))
def test_a_quoted_string_means_itself(text: str) -> None:
    """Whatever is quoted is compared as it was."""
    assert compile_expression(f"http.host eq {quoted(text)}")({"http.host": text})


def test_it_says_whether_it_looks_at_the_client() -> None:
    """Only such an expression must be judged for each client."""
    assert compile_expression("not (ssl and ip.src in {10.0.0.0/8})").by_client
    assert not compile_expression("ssl").by_client

"""The rules language of the simulator."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.testbed.simulator.expressions import ExpressionError, compile_expression, quoted
from edgeshift.testbed.simulator.ruleset_checks import expression_problem

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


SENTENCES = [
    "ip.src in $office",
    "ip.src in {10.0.0.0/8 fe80::/10 192.0.2.1..192.0.2.9}",
    'any(http.request.headers["x"][*] contains "y") or all(http.request.headers["x"][*] in {"b" "c"})',
    'any(lower(http.request.headers.names[*])[*] == "x") && http.request.headers["x"][0] matches r#"a"b"#',
    'concat("a", http.host, lookup_json_string(http.request.body.raw, "a", 0)) eq "b"',
    'substring(http.host, -5, -1) ne "x" and sha256(http.host)[0] eq 1',
    'http.request.uri.path strict wildcard r"/a/*"',
    "tcp.flags & 2 or tcp.flags bitwise_and 0x02 or http.request.body.raw eq 61:62:63",
    "f() and !(g(h(a), not b and c eq 1))",
    "nonsense eq 5",
    *(r'http.host contains r"C:\"', 'http.host eq r##"a"#b"##', 'http.host matches r"("'),
    pytest.param("(" * 5_000 + "nonsense" + ")" * 5_000, id="deep"),
]
NO_SENTENCES = [
    *("true true", "nonsense ~~ 5", 'http.host is "x"', "http.host eq", 'eq "x"', '"x"', 'http.host "x"'),
    *('http.host eq "x" "y"', "http.host AND ssl", "ssl and", "ssl or or ssl", "(ssl) (ssl)", "()"),
    *('http.host in "x"', 'http.host eq {"x"}', "f(a b)", "f(a,)", "a, b", "x[]", 'x["a" "b"]', "a eq and b"),
    *("http.host in {", "f(a", "not", 'http.host strict "x"', "ssl;", "ssl = 1", "", " ", "ssl)", "(f(a]"),
    *('http.host eq "x', r'http.host eq "x\"', 'http.host eq r#"x"', "x[0", "ssl}"),
]


@pytest.mark.parametrize("text", [*TRUE, *FALSE, *SENTENCES])
def test_a_sentence_is_one_whatever_it_names(text: str) -> None:
    """What the simulator evaluates is a sentence, and so is what it does not know but the service may."""
    assert expression_problem(text) is None


@pytest.mark.parametrize("text", NO_SENTENCES)
def test_what_is_no_sentence_is_told(text: str) -> None:
    """Operands that nothing joins, operators that do not exist, and what is missing."""
    assert expression_problem(text)

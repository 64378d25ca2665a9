"""The part of the rules language that firewall rules and skip rules of a fleet use, compiled and evaluated.

Supported: `true`, `false`, `and`, `or`, `not`, `xor` (and `&&`, `||`, `!`, `^^`), parentheses, the fields of
`FIELDS`, the comparisons `eq ne lt le gt ge contains matches wildcard in` (and `== != < <= > >= ~`), the
functions `starts_with`, `ends_with`, `lower`, `upper`, `len`, strings, raw strings, integers, addresses,
networks and sets of them. Anything else is an `ExpressionError`, as the service refuses an invalid expression
(docs/service.md §7).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

Values = Mapping[str, Any]
Test = Callable[[Values], bool]
Term = Callable[[Values], Any]

FIELDS = frozenset(
    {
        "http.host",
        "http.request.method",
        "http.request.uri",
        "http.request.uri.path",
        "http.request.uri.query",
        "http.request.full_uri",
        "http.user_agent",
        "http.cookie",
        "http.referer",
        "http.x_forwarded_for",
        "http.request.version",
        "ip.src",
        "ip.geoip.country",
        "ip.geoip.asnum",
        "cf.client.bot",
        "cf.threat_score",
        "cf.edge.server_port",
        "http.response.code",
        "ssl",
    }
)
BOOLEAN = frozenset({"ssl", "cf.client.bot"})
NUMERIC = frozenset({"ip.geoip.asnum", "cf.threat_score", "cf.edge.server_port", "http.response.code"})
BY_CLIENT = frozenset({"ip.src", "ip.geoip.country", "ip.geoip.asnum"})
DEEPEST = 64

_TOKEN = re.compile(
    r"""\s+
    | (?P<raw>r(?P<hashes>\#*)"(?P<rawtext>.*?)"(?P=hashes))
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<op>&&|\|\||\^\^|==|!=|<=|>=|<|>|~|!|&|\(|\)|\{|\}|\[|\]|,|\.\.)
    | (?P<word>(?:[$A-Za-z0-9_:/*-]|\.(?!\.))+)
    """,
    re.VERBOSE | re.DOTALL,
)
_SAME = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "~": "matches"}
_LOGIC = {"&&": "and", "||": "or", "^^": "xor", "!": "not"}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "contains": lambda a, b: b in a,
}
_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "starts_with": (2, lambda text, start: text.startswith(start)),
    "ends_with": (2, lambda text, end: text.endswith(end)),
    "lower": (1, lambda text: text.lower()),
    "upper": (1, lambda text: text.upper()),
    "len": (1, len),
}
_KIND_OF_CALL = {"starts_with": "boolean", "ends_with": "boolean", "len": "number"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class ExpressionError(ValueError):
    """An expression that is not valid; the text says where and what was expected, never the expression
    itself.
    """


@dataclass(frozen=True)
class Expression:
    """A compiled expression. `by_client`: whether it looks at the client's address."""

    test: Test
    by_client: bool

    def __call__(self, values: Values) -> bool:
        """Whether a request (its fields by name, docs/fleet-format.md) matches. A field it lacks is empty."""
        return self.test(values)


@lru_cache(maxsize=8192)
def compile_expression(text: str) -> Expression:
    """Compile an expression. Raises ExpressionError."""
    parser = _Parser(text)
    test = parser.disjunction(0)
    parser.finish()
    return Expression(test, bool(parser.used & BY_CLIENT))


def wildcard_pattern(pattern: str) -> re.Pattern[str]:
    """What `wildcard "pattern"` matches: the whole text, without case, `*` for anything."""
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.IGNORECASE | re.DOTALL)


def quoted(text: str) -> str:
    """A string literal of the rules language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def tokens(text: str) -> list[tuple[str, str, int]]:
    """Kind (`string`, `op`, `word`), value and place (from 1) of each token. Raises ExpressionError."""
    found: list[tuple[str, str, int]] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ExpressionError(f"unexpected character at {place + 1}")
        if kind := match.lastgroup:
            kind = "string" if match["raw"] or match["string"] else kind
            if match["raw"]:
                value = match["rawtext"]
            elif match["string"]:
                value = _ESCAPE.sub(r"\1", match["string"][1:-1])
            else:
                value = match[0]
            found.append((kind, value, place + 1))
        place = match.end()
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = tokens(text)
        self.at = 0
        self.used: set[str] = set()

    def peek(self) -> tuple[str, str]:
        kind, value, _ = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "", 0)
        return kind, (_LOGIC.get(value, value) if kind == "op" else value)

    def take(self, value: str) -> bool:
        kind, found = self.peek()
        if kind in ("op", "word") and found == value:
            self.at += 1
            return True
        return False

    def expected(self, what: str) -> ExpressionError:
        if self.at >= len(self.tokens):
            return ExpressionError(f"expected {what} at the end")
        return ExpressionError(f"expected {what} at {self.tokens[self.at][2]}")

    def finish(self) -> None:
        if self.at < len(self.tokens):
            raise self.expected("'and', 'or' or the end")

    def disjunction(self, depth: int) -> Test:
        if depth > DEEPEST:
            raise ExpressionError(f"nested deeper than {DEEPEST}")
        tests = [self.exclusive(depth)]
        while self.take("or"):
            tests.append(self.exclusive(depth))
        return tests[0] if len(tests) == 1 else lambda values: any(test(values) for test in tests)

    def exclusive(self, depth: int) -> Test:
        tests = [self.conjunction(depth)]
        while self.take("xor"):
            tests.append(self.conjunction(depth))
        return tests[0] if len(tests) == 1 else lambda values: sum(test(values) for test in tests) % 2 == 1

    def conjunction(self, depth: int) -> Test:
        tests = [self.negation(depth)]
        while self.take("and"):
            tests.append(self.negation(depth))
        return tests[0] if len(tests) == 1 else lambda values: all(test(values) for test in tests)

    def negation(self, depth: int) -> Test:
        turned = False
        while self.take("not"):
            turned = not turned
        test = self.primary(depth)
        return (lambda values: not test(values)) if turned else test

    def primary(self, depth: int) -> Test:
        if self.take("("):
            test = self.disjunction(depth + 1)
            if not self.take(")"):
                raise self.expected("')'")
            return test
        for word, answer in (("true", True), ("false", False)):
            if self.take(word):
                return lambda _values, answer=answer: answer  # type: ignore[misc]
        kind, name = self.peek()
        if kind != "word":
            raise self.expected("a field, a function or '('")
        term, kind = self.term()
        operator = self.operator()
        if operator is None:
            if kind != "boolean":
                raise self.expected(f"a comparison after {name[:40]}")
            return lambda values: bool(term(values))
        return self.comparison(term, kind, operator)

    def term(self) -> tuple[Term, str]:
        """A field or a call, and its kind: boolean, number, address or text."""
        kind, name = self.peek()
        if kind != "word":
            raise self.expected("a field")
        if name in _FUNCTIONS:
            self.at += 1
            return self.call(name), _KIND_OF_CALL.get(name, "text")
        if name not in FIELDS:
            raise self.expected(f"a known field instead of {name[:40]!r}")
        self.at += 1
        self.used.add(name)
        kind = "boolean" if name in BOOLEAN else "number" if name in NUMERIC else "text"
        return (lambda values: values.get(name, "")), "address" if name == "ip.src" else kind

    def call(self, name: str) -> Term:
        count, function = _FUNCTIONS[name]
        if not self.take("("):
            raise self.expected(f"'(' after {name}")
        first, _ = self.term()
        second = ""
        if count == 2:
            if not self.take(","):
                raise self.expected("','")
            second = self.text()
        if not self.take(")"):
            raise self.expected("')'")
        if count == 2:
            return lambda values: function(str(first(values)), second)
        return lambda values: function(str(first(values)))

    def operator(self) -> str | None:
        kind, value = self.peek()
        name = _SAME.get(value, value) if kind == "op" else value if kind == "word" else ""
        if name in _COMPARE or name in ("matches", "wildcard", "in"):
            self.at += 1
            return name
        return None

    def text(self) -> str:
        kind, value = self.peek()
        if kind != "string":
            raise self.expected("a string in double quotes")
        self.at += 1
        return value

    def comparison(self, term: Term, kind: str, operator: str) -> Test:
        if operator == "matches" or operator == "wildcard":
            written = self.text()
            try:
                pattern = wildcard_pattern(written) if operator == "wildcard" else re.compile(written)
            except re.error as error:
                raise ExpressionError(f"not a regular expression: {error.msg}") from None
            find = pattern.fullmatch if operator == "wildcard" else pattern.search
            return lambda values: find(str(term(values))) is not None
        if operator == "in":
            return self.membership(term, kind)
        literal = self.literal(kind)
        if isinstance(literal, IPv4Network | IPv6Network):
            if operator not in ("eq", "ne"):
                raise self.expected("eq, ne or in before an address")
            return lambda values: _within(term(values), [literal]) is (operator == "eq")
        compare = _COMPARE[operator]
        if operator == "contains" and kind != "text":
            raise self.expected("a text field before contains")
        if kind == "number":
            return lambda values: compare(int(term(values) or 0), literal)
        return lambda values: compare(str(term(values)), literal)

    def membership(self, term: Term, kind: str) -> Test:
        if not self.take("{"):
            raise self.expected("'{' after in")
        literals: list[Any] = []
        while not self.take("}"):
            first = self.literal(kind)
            if self.take(".."):
                last = self.literal(kind)
                if not (isinstance(first, int) and isinstance(last, int)) or last - first > 100_000:
                    raise self.expected("a range of integers")
                literals += range(first, last + 1)
            else:
                literals.append(first)
        networks = [one for one in literals if isinstance(one, IPv4Network | IPv6Network)]
        others = frozenset(one for one in literals if not isinstance(one, IPv4Network | IPv6Network))
        return lambda values: (found := term(values)) in others or bool(networks and _within(found, networks))

    def literal(self, of: str) -> Any:
        """A value that fits a term of this kind."""
        kind, value = self.peek()
        if of == "text":
            return self.text()
        if of == "number" and kind == "word" and value.lstrip("-").isdigit():
            self.at += 1
            return int(value)
        if of == "address" and kind == "word":
            try:
                network = ip_network(value, strict=False)
            except ValueError:
                raise self.expected("an address or a network") from None
            self.at += 1
            return network
        raise self.expected(
            {"number": "an integer", "address": "an address or a network"}.get(of, "no comparison")
        )


def _within(value: Any, networks: list[IPv4Network | IPv6Network]) -> bool:
    try:
        address = ip_address(str(value))
    except ValueError:
        return False
    return any(address in network for network in networks)

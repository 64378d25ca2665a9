"""URL patterns of page rules, and which of them an expression is about (docs/service.md §2.4). Pure.

How the service words the expression of a skip rule is not documented. What is read here is what can be
compared with a pattern part by part: scheme, host, and path with query. Whatever else an expression says, it
is about no pattern, and one skip rule more is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_SCHEMES = frozenset({"http", "https"})


def apart(pattern: str) -> tuple[str, str]:
    """The scheme that a pattern names, empty where it names none, and the rest. A query may have a URL."""
    found = re.match(r"([a-zA-Z*]*)://", pattern)
    return (found[1].lower(), pattern[found.end() :]) if found else ("", pattern)


def schemes_of(scheme: str) -> frozenset[str]:
    """Those of ``http`` and ``https`` that a pattern's scheme names, with stars: both where it names none."""
    return _named(scheme or "*") or _SCHEMES


def _named(scheme: str) -> frozenset[str]:
    # Stars that follow each other would each be tried with every length.
    named = re.compile(one_star(scheme).replace("*", ".*"))
    return frozenset(one for one in _SCHEMES if named.fullmatch(one))


def without_case(text: str) -> str:
    """As ``lower()`` of the rules language makes it, which leaves what is not ASCII."""
    return re.sub("[A-Z]+", lambda found: found[0].lower(), text)


def is_about(expression: str, pattern: str, before: Sequence[str] = ()) -> bool:
    """Whether an expression holds for every URL of a page rule's pattern, but for those of the patterns
    ``before``: of page rules that come first. In doubt it does not.

    Slashes count: ``/admin*`` has URLs that ``/admin/*`` has not.
    """
    schemes, host, path = _parts(pattern)
    about = [
        one.schemes
        for one in _read(expression)
        if one.host.says(host)
        and one.path.says(path)
        and all(_is_of(excepted, before) for excepted in one.excepted)
    ]
    return schemes in about or frozenset[str]().union(*about) == schemes


def _is_of(excepted: _Urls | None, before: Sequence[str]) -> bool:
    """Whether what is excepted can be read, and is a pattern of these, or has less than one."""
    # A path without its query has more URLs than the same text with it, but where its end is anything.
    if excepted is None or (excepted.path.field == _PATH and not excepted.path.pattern.endswith("*")):
        return False
    return any(
        excepted.schemes <= schemes and excepted.host.says(host) and excepted.path.says(path)
        for schemes, host, path in map(_parts, before)
    )


@lru_cache(maxsize=512)
def _parts(pattern: str) -> tuple[frozenset[str], str, str]:
    """Schemes, host and path of a pattern, once for all the page rules of a zone."""
    scheme, rest = apart(pattern)
    return schemes_of(scheme), *host_and_path(rest)


def host_and_path(rest: str) -> tuple[str, str]:
    """Both parts of a pattern that has no scheme, the second for path and query; without a path it is the
    root alone, and a star alone is everything.

    A star that ends the host may stand for the beginning of the path as well, so that the path of
    ``shop.example*/x`` is ``*/x``, and that of ``shop.example*`` is ``*/``.
    """
    host, slash, path = one_star(rest).partition("/")
    if not slash and host in ("", "*"):
        return "*", "/*"
    return host or "*", _from_the_root(f"*/{path}" if host.endswith("*") else f"/{path}")


def one_star(pattern: str) -> str:
    """The same pattern with one star wherever several follow each other."""
    return re.sub(r"\*+", "*", pattern)


def _from_the_root(pattern: str) -> str:
    """The same pattern of paths in one form: each begins with a slash, so that neither ``*a`` nor ``*/*a``
    has any other than ``/*a``. (``/*/a`` has fewer than ``*/a``, which ``/a`` fits, too.)
    """
    if pattern.startswith("*/*"):
        return pattern[1:]
    return f"/{pattern}" if re.match(r"\*(?!/)", pattern) else pattern


# --- which have a URL in common


def may_overlap(one: str, other: str) -> bool:
    """Whether a URL may fit both patterns; false only where none can.

    What can be written in several ways (percent signs, letters that are not ASCII) is not compared.
    """
    if not (one + other).isascii() or "%" in one + other:
        return True
    first, second = _schemes_and_text(one), _schemes_and_text(other)
    return bool(first[0] & second[0]) and _have_a_text(first[1], second[1])


def _schemes_and_text(pattern: str) -> tuple[frozenset[str], str]:
    """The schemes of a pattern's URLs, and a pattern for what follows these: of nothing less, with a port and
    without one.
    """
    scheme, rest = apart(without_case(pattern))
    host = re.split("[/?]", rest, maxsplit=1)[0]
    path = rest[len(host) :]
    if ":" in host:
        # Whether a pattern without a port fits a URL that has one is not documented. A star before it may
        # stand for a port as well.
        host = re.split("[*:]", host, maxsplit=1)[0] + "*"
    if not path and host.strip("*"):
        path = "/"
    elif path.startswith("?"):
        path = "*"
    # A star of the scheme may stand for a whole URL, of which the rest is in the query.
    begin = "*" if "*" in scheme or not host else ""
    return frozenset({scheme}) if scheme in _SCHEMES else _SCHEMES, f"{begin}{host}{path}"


def _have_a_text(one: str, other: str) -> bool:
    """Whether a text fits both patterns, exactly."""
    first, second = one.split("*"), other.split("*")
    if len(first) == 1:
        return _fits(one, second)
    if len(second) == 1:
        return _fits(other, first)
    # What either has between its stars, a star of the other takes: only the ends count.
    begins = first[0].startswith(second[0]) or second[0].startswith(first[0])
    return begins and (first[-1].endswith(second[-1]) or second[-1].endswith(first[-1]))


def _fits(text: str, parts: list[str]) -> bool:
    """Whether a text is these parts, with anything between them: each is taken where it comes first."""
    if len(parts) == 1:
        return text == parts[0]
    begin, *between, end = parts
    place = len(begin)
    if not text.startswith(begin) or not text.endswith(end):
        return False
    for part in between:
        if (found := text.find(part, place)) < 0:
            return False
        place = found + len(part)
    return place <= len(text) - len(end)


# --- what the tests of an expression say


class _NotRead(ValueError):
    """An expression that says something which is not known here."""


@dataclass(frozen=True)
class _Test:
    """That a field fits a pattern. ``folded``: without case, so that the pattern is in lower case. Without a
    field: that none of the alternatives ``excepted`` holds.
    """

    field: str
    pattern: str
    folded: bool = True
    excepted: tuple[tuple[_Test, ...], ...] = ()

    def says(self, wanted: str) -> bool:
        """Whether it is this pattern of a page rule, which is without case itself: what an expression tests
        with case is taken for it as it is written.
        """
        return self.pattern == (without_case(wanted) if self.folded else wanted)


@dataclass(frozen=True)
class _Urls:
    schemes: frozenset[str]
    host: _Test
    path: _Test
    excepted: tuple[_Urls | None, ...] = ()


@lru_cache(maxsize=512)
def _read(expression: str) -> tuple[_Urls, ...]:
    """What it is about, once for all the page rules of a zone; nothing where it cannot be read."""
    try:
        alternatives = _Reader(expression).alternatives()
    except _NotRead:
        return ()
    return tuple(urls for tests in alternatives if (urls := _urls(tests)) is not None)


_HTTPS, _HTTP = _Test("ssl", "https"), _Test("ssl", "http")
_HOST, _URI, _PATH, _WHOLE = (
    "http.host",
    "http.request.uri",
    "http.request.uri.path",
    "http.request.full_uri",
)
_FIELDS = frozenset({_HOST, _URI, _PATH, _WHOLE})


def _urls(tests: tuple[_Test, ...]) -> _Urls | None:
    """The URLs for which all these tests hold, but for those that they except; None where they are not those
    of a pattern.
    """
    said = {test.field: test for test in tests if test.field}
    if not said or len(said) < sum(bool(test.field) for test in tests):
        return None
    excepted = tuple(_urls(one) for test in tests for one in test.excepted)
    schemes = frozenset({said["ssl"].pattern}) if "ssl" in said else _SCHEMES
    if (whole := said.get(_WHOLE)) is not None:
        return _of_whole(whole, schemes, excepted) if said.keys() <= {_WHOLE, "ssl"} else None
    if _URI in said and _PATH in said:
        return None
    path = said.get(_URI) or said.get(_PATH) or _Test(_URI, "*")
    if path.field == _PATH and re.search(r"\?|\*.", path.pattern):
        # A star of a page rule's may stand for the question mark, and what follows is in the query then.
        return None
    path = _Test(path.field, _from_the_root(path.pattern), path.folded)
    return _Urls(schemes, said.get(_HOST) or _Test(_HOST, "*"), path, excepted)


def _of_whole(test: _Test, schemes: frozenset[str], excepted: tuple[_Urls | None, ...]) -> _Urls | None:
    """The same of a pattern for the whole URL, which has a slash after its host."""
    found = re.match(r"([a-z*]+)://", test.pattern)
    rest = test.pattern[found.end() :] if found else test.pattern
    if (not found and not rest.startswith("*")) or ("/" not in rest and not rest.endswith("*")):
        return None
    if found:
        schemes &= _named(found[1])
    host, path = host_and_path(rest)
    return _Urls(schemes, _Test(_HOST, host, test.folded), _Test(_URI, path, test.folded), excepted)


# --- reading an expression

_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([a-z_][\w.]*)|(&&|\|\||==|[()!,~]))', re.DOTALL)
_ANCHORED = re.compile(r"\^((?:\.\*|\\[^\w\s*]|[^\\^$.|?*+()\[\]{}])*)\$")
_SAME = {"&&": "and", "||": "or", "!": "not", "==": "eq", "~": "matches"}
_MOST_NESTED = 32
_MOST_ALTERNATIVES = 256


class _Reader:
    """Reads an expression as alternatives, each of tests that all have to hold."""

    def __init__(self, expression: str) -> None:
        self._tokens = list(_tokens(expression))
        self._place = 0

    def alternatives(self) -> list[tuple[_Test, ...]]:
        """Raises _NotRead."""
        found = self._any(0)
        if self._place < len(self._tokens):
            raise _NotRead
        return found

    def _any(self, nested: int) -> list[tuple[_Test, ...]]:
        if nested > _MOST_NESTED:
            raise _NotRead
        found = self._all(nested)
        while self._take("or"):
            found = found + self._all(nested)
        return found

    def _all(self, nested: int) -> list[tuple[_Test, ...]]:
        found = self._one(nested)
        while self._take("and"):
            more = self._one(nested)
            if len(found) * len(more) > _MOST_ALTERNATIVES:
                raise _NotRead
            found = [(*first, *second) for first in found for second in more]
        return found

    def _one(self, nested: int) -> list[tuple[_Test, ...]]:
        if self._take("not"):
            turned = self._one(nested + 1)
            if turned == [(_HTTPS,)]:
                return [(_HTTP,)]
            if any(not {test.field for test in tests} & _FIELDS for tests in turned):
                raise _NotRead
            return [(_Test("", "", excepted=tuple(turned)),)]
        if self._take("("):
            found = self._any(nested + 1)
            self._expect(")")
            return found
        if self._take("ssl"):
            return [(_HTTPS,)]
        return [(self._test(),)]

    def _test(self) -> _Test:
        for call in ("starts_with", "ends_with"):
            if self._take(call):
                self._expect("(")
                field, folded = self._field()
                self._expect(",")
                text = _literal(self._text())
                self._expect(")")
                return _Test(field, one_star(f"{text}*" if call == "starts_with" else f"*{text}"), folded)
        field, folded = self._field()
        if self._take("eq"):
            return _Test(field, _literal(self._text()), folded)
        if self._take("contains"):
            return _Test(field, one_star(f"*{_literal(self._text())}*"), folded)
        if self._take("matches"):
            return _Test(field, _of_regex(self._text()), folded)
        strict = self._take("strict")
        self._expect("wildcard")
        pattern = one_star(self._text())
        if "\\" in pattern:
            raise _NotRead
        return _Test(field, pattern, folded) if strict else _Test(field, without_case(pattern))

    def _field(self) -> tuple[str, bool]:
        if folded := self._take("lower"):
            self._expect("(")
        field = self._next()
        if field not in _FIELDS:
            raise _NotRead
        if folded:
            self._expect(")")
        return field, folded

    def _text(self) -> str:
        text = self._next()
        if not text.startswith('"'):
            raise _NotRead
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)

    def _next(self) -> str:
        if self._place == len(self._tokens):
            raise _NotRead
        self._place += 1
        return self._tokens[self._place - 1]

    def _take(self, token: str) -> bool:
        found = self._tokens[self._place : self._place + 1] == [token]
        self._place += found
        return found

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise _NotRead


def _tokens(expression: str) -> Iterator[str]:
    place, text = 0, expression.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise _NotRead
        token = found[0].lstrip()
        yield _SAME.get(token, token)
        place = found.end()


def _literal(text: str) -> str:
    """A text that is no pattern: one with a star of its own cannot be compared with one."""
    if "*" in text:
        raise _NotRead
    return text


def _of_regex(text: str) -> str:
    """The pattern that an anchored regular expression of literals and ``.*`` is."""
    found = _ANCHORED.fullmatch(text)
    if found is None:
        raise _NotRead
    return one_star(re.sub(r"\\(.)|\.\*", lambda part: part[1] or "*", found[1]))

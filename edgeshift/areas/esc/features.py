"""The features that replace Edge Side Code, and which of them a difference asks for. Pure.

One behaviour of Edge Side Code shows in several facts of an answer: a redirect changes status, headers and
body at once. So facts that differ are folded under their cause, and the cause names the feature that
docs/service.md §1 lists for it; what fits nowhere is a complex case for the serverless function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.esc.observation import (
    BODY,
    CONTENT_KINDS,
    ECHO_KINDS,
    LAYOUT,
    LINE_KINDS,
    LOCATION,
    STATUS,
    Fact,
    path_of,
)
from edgeshift.areas.esc.sides import ABSENT, VARIES, Side

DERIVED = frozenset(
    {
        "accept-ranges",
        "content-encoding",
        "content-language",
        "content-length",
        "content-md5",
        "content-type",
        "digest",
        "etag",
        "last-modified",
        "repr-digest",
        "vary",
    }
)
"""Response headers that follow from the body: they count only where the body is the same."""

_MARKS = re.compile(
    r"/cdn-cgi/|__cf_email__|data-cfemail|email-protection|rocket-?loader|data-cf-settings|data-cfasync"
    r"|[\"'][\w#]+-text/javascript|data-cfsrc|data-cf-beacon|mailto:",
    re.IGNORECASE,
)
"""What a feature of the edge leaves in a page that it rewrites, or takes out of it."""

_FEATURE_HEADERS = frozenset({"cf-bgj", "cf-polished"})


class Feature(StrEnum):
    """What replaces a behaviour of Edge Side Code (docs/service.md §1)."""

    REDIRECT_RULE = "redirect rule"
    ORIGIN_RULE = "origin rule"
    URL_REWRITE_RULE = "URL rewrite rule"
    REQUEST_HEADER_RULE = "request header transform rule"
    CONFIGURATION_RULE = "configuration rule"
    CUSTOM_ERROR = "custom error response"
    RESPONSE_HEADER_RULE = "response header transform rule"
    SERVERLESS = "serverless function"


class Kind(StrEnum):
    """What of an answer differs."""

    STATUS = "status"
    REDIRECT = "redirect"
    HEADER = "header"
    COOKIE = "cookie"
    BODY = "body"
    ORIGIN = "origin"
    REQUEST_HEADER = "request_header"
    REWRITE = "rewrite"


class Difference(BaseModel):
    """One thing that Edge Side Code does to a URL.

    ``path``: with its query. ``what``: the name of the header, cookie or field. ``before``: with Edge Side
    Code, ``after``: without, 120 characters at most; cookie values and sensitive headers are masked.
    ``extent``: the share of the body's lines or leaves that one side alone has; 1 for all else.
    """

    model_config = ConfigDict(frozen=True)

    host: str
    path: str
    kind: Kind
    what: str
    feature: Feature
    before: str
    after: str
    extent: float = 1.0

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is a difference of, whatever the values: host, path, kind, what."""
        return self.host, self.path, self.kind.value, self.what


def explain(host: str, url: str, facts: Iterable[Fact], a: Side, b: Side) -> list[Difference]:
    """Fold facts of one URL that differ under their causes, and name the feature of each."""
    return _Case(host, url, list(facts), a, b).differences()


class _Case:
    """One URL, with what differs there."""

    def __init__(self, host: str, url: str, facts: list[Fact], a: Side, b: Side) -> None:
        self._host, self._url, self._facts, self._a, self._b = host, url, facts, a, b

    def differences(self) -> list[Difference]:
        if not self._facts:
            return []
        if self._a.redirects or self._b.redirects:
            return self._of_redirects()
        if not (self._a.statuses and self._b.statuses):
            return (
                [self._fact(Kind.STATUS, "status", Feature.SERVERLESS, STATUS)] if self._has(STATUS) else []
            )
        if self._a.fails and self._b.fails and not (self._a.echoes and self._b.echoes):
            return self._of_error_pages()
        return self._of_answers()

    def _of_redirects(self) -> list[Difference]:
        a, b = self._a, self._b
        if a.redirects and b.redirects:
            found = []
            if self._has(LOCATION) or self._has(STATUS):
                feature = Feature.REDIRECT_RULE
                found.append(self._made(Kind.REDIRECT, "location", feature, _answer(a), _answer(b)))
            return found + self._headers(without=DERIVED) + self._cookies()
        if not (self._has(LOCATION) or self._has(STATUS)):
            return []
        if a.redirects:
            feature = Feature.SERVERLESS if b.fails or not b.statuses else Feature.REDIRECT_RULE
        else:
            feature = Feature.CONFIGURATION_RULE if self._upgraded() else Feature.SERVERLESS
        return [self._made(Kind.REDIRECT, "location", feature, _answer(a), _answer(b))]

    def _upgraded(self) -> bool:
        """Without Edge Side Code the edge sends the client to the same place by https."""
        try:
            to = urlsplit(self._b.said(LOCATION))
        except ValueError:
            return False
        there = to.path + (f"?{to.query}" if to.query else "")
        return (to.scheme, to.hostname, there or "/") == ("https", self._host, self._url)

    def _of_error_pages(self) -> list[Difference]:
        content = self._has(STATUS) or any(fact.kind in CONTENT_KINDS | ECHO_KINDS for fact in self._facts)
        if not content:
            return self._headers() + self._cookies()
        page = self._made(
            Kind.BODY, "error page", Feature.CUSTOM_ERROR, _answer(self._a), _answer(self._b), self._extent()
        )
        rest = self._headers(DERIVED) + self._cookies()
        gone = [one for one in rest if one.before == ABSENT]
        carried = [fact for fact in self._b.values if fact.kind == "header" and fact.name not in DERIVED]
        if 2 * len(gone) > len(carried):
            # An answer of one's own, without anything that the origin's carried.
            rest = [one for one in rest if one not in gone]
        return [page, *rest]

    def _of_answers(self) -> list[Difference]:
        found = self._on_the_way()
        moved = any(one.kind in (Kind.REWRITE, Kind.ORIGIN) for one in found)
        if self._has(STATUS):
            # Another answer altogether: its headers and body say nothing more.
            return found or [self._fact(Kind.STATUS, "status", Feature.SERVERLESS, STATUS)]
        content = self._content()
        if content and not moved:
            found.append(content)
        changed = moved or content is not None or any(one.kind is Kind.REQUEST_HEADER for one in found)
        return found + self._headers(DERIVED if changed else frozenset()) + self._cookies()

    def _on_the_way(self) -> list[Difference]:
        """What the origin got otherwise."""
        if not self._a.echoes:
            return []
        if not self._b.echoes:
            path = Fact("rewrite", "path")
            seen = self._a.said(path)
            if path_of(seen) == path_of(self._url) or seen in (ABSENT, VARIES):
                return []
            return [self._made(Kind.REWRITE, "path", Feature.URL_REWRITE_RULE, seen, path_of(self._url))]
        found = []
        for fact in self._facts:
            if fact.kind == "origin":
                found.append(self._fact(Kind.ORIGIN, fact.name, Feature.ORIGIN_RULE, fact))
            elif fact.kind == "request_header":
                feature = Feature.REQUEST_HEADER_RULE
                found.append(self._fact(Kind.REQUEST_HEADER, fact.name, feature, fact))
        rewritten = [fact for fact in self._facts if fact.kind == "rewrite"]
        if rewritten:
            before, after = (" ".join(side.said(fact) for fact in rewritten) for side in (self._a, self._b))
            what = " and ".join(fact.name for fact in rewritten)
            found.append(self._made(Kind.REWRITE, what, Feature.URL_REWRITE_RULE, before, after))
        return found

    def _content(self) -> Difference | None:
        parts = [fact for fact in self._facts if fact.kind in CONTENT_KINDS]
        if self._a.echoes != self._b.echoes:
            parts += [fact for fact in self._facts if fact.kind in ECHO_KINDS]
        if not parts:
            return None
        gone, come = self._excerpt(self._a, self._b), self._excerpt(self._b, self._a)
        if parts == [LAYOUT]:
            feature, what = Feature.CONFIGURATION_RULE, "layout"
            gone, come = (f"{side.said(LAYOUT)} lines" for side in (self._a, self._b))
        elif self._rewritten_links() or any(_MARKS.search(text) for text in self._texts()):
            feature, what = Feature.CONFIGURATION_RULE, "page"
        else:
            feature = Feature.SERVERLESS
            leaves = sorted(
                {re.sub(r"/\d+(?=/|$)", "/*", fact.name) for fact in parts if fact.kind == "leaf"}
            )
            what = ", ".join(leaves[:3]) or ("length" if parts == [BODY] else "text")
        return self._made(Kind.BODY, what[:100], feature, gone, come, self._extent())

    def _extent(self) -> float:
        """The share of the body's parts that came or went; a part that has another value is still there."""
        apart = [fact for fact in self._facts if {None} in (self._a.of(fact), self._b.of(fact))]
        counts = [
            sum(1 for fact in facts if fact.kind in CONTENT_KINDS)
            for facts in (apart, {*self._a.values, *self._b.values})
        ]
        return round(counts[0] / max(1, counts[1]), 2)

    def _texts(self) -> list[str]:
        names = [fact.name for fact in self._facts if fact.kind in LINE_KINDS]
        return [text for name in names for text in (self._a.texts.get(name), self._b.texts.get(name)) if text]

    def _rewritten_links(self) -> bool:
        """Whether lines differ in the scheme of their links alone."""
        sides = [
            {
                side.texts[f.name].replace("http://", "https://")
                for f in self._facts
                if self._only(f, side, other)
            }
            for side, other in ((self._a, self._b), (self._b, self._a))
        ]
        return bool(sides[0]) and sides[0] == sides[1]

    @staticmethod
    def _only(fact: Fact, here: Side, there: Side) -> bool:
        shown = fact.kind in ("line", "exact") and fact.name in here.texts
        return shown and None not in here.of(fact) and None in there.of(fact)

    def _excerpt(self, here: Side, there: Side) -> str:
        """A line that is on this side alone; its shape where the line itself varies."""
        for kind in LINE_KINDS:
            for text, name in sorted(
                (here.texts.get(f.name, ""), f.name) for f in self._facts if f.kind == kind
            ):
                if text and None not in here.of(Fact(kind, name)) and None in there.of(Fact(kind, name)):
                    return text
        return ABSENT

    def _headers(self, without: frozenset[str] = frozenset()) -> list[Difference]:
        found = []
        for fact in self._facts:
            if fact.kind == "header" and fact.name not in without:
                feature = Feature.RESPONSE_HEADER_RULE
                if fact.name in _FEATURE_HEADERS:
                    feature = Feature.CONFIGURATION_RULE
                found.append(self._fact(Kind.HEADER, fact.name, feature, fact))
        return found

    def _cookies(self) -> list[Difference]:
        feature = Feature.RESPONSE_HEADER_RULE
        return [
            self._fact(Kind.COOKIE, one.name, feature, one) for one in self._facts if one.kind == "cookie"
        ]

    def _has(self, fact: Fact) -> bool:
        return fact in self._facts

    def _fact(self, kind: Kind, what: str, feature: Feature, fact: Fact) -> Difference:
        return self._made(kind, what, feature, self._a.said(fact), self._b.said(fact))

    def _made(
        self, kind: Kind, what: str, feature: Feature, before: str, after: str, extent: float = 1.0
    ) -> Difference:
        return Difference(
            host=self._host,
            path=self._url,
            kind=kind,
            what=what,
            feature=feature,
            before=before[:120],
            after=after[:120],
            extent=extent,
        )


def _answer(side: Side) -> str:
    """A side's status with where it sends to, or what type of body it has."""
    fact = LOCATION if side.redirects else Fact("header", "content-type")
    parts = [side.said(STATUS), side.said(fact)]
    return " ".join(part for part in parts if part != ABSENT)

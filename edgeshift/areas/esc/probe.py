"""The differential probe's judgement: what changes for a scope when Edge Side Code is turned off. Pure.

The same URL is asked with Edge Side Code (side A) and without (side B). A difference counts if no value of
one side was ever seen on the other and one side is constant; what varies by itself is noise, unless only one
side has it. A/A halves judged in the same way say whether noise was taken for a difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from edgeshift.areas.esc.features import Difference, Feature, Kind, explain
from edgeshift.areas.esc.observation import (
    CONTENT_KINDS,
    ECHO_KINDS,
    LOCATION,
    STATUS,
    Fact,
    Facts,
    Observation,
    facts_of,
)
from edgeshift.areas.esc.report import (
    Controls,
    Coverage,
    ProbeReport,
    SourceCoverage,
    from_edge,
    still_seen,
    summary,
    unmarked,
    worse,
)
from edgeshift.areas.esc.sides import ABSENT, VARIES, Side, differing, same_content, side_of, varying

__all__ = [
    "CONFIRMING",
    "Controls",
    "Coverage",
    "Difference",
    "Feature",
    "Kind",
    "Observation",
    "ProbeReport",
    "SourceCoverage",
    "alarms",
    "compare",
    "compare_sides",
    "compare_watched",
    "controls",
    "from_edge",
    "noise",
    "rewrite_targets",
    "still_seen",
    "summary",
    "unmarked",
    "worse",
]

Place = tuple[str, str]
"""Host, and path with query."""

CONFIRMING = 10
"""Answers of each side that a difference has to hold in before it counts."""


def compare(
    a: Sequence[Observation], b: Sequence[Observation], ignore: frozenset[str] = frozenset()
) -> list[Difference]:
    """The differences between answers with Edge Side Code (``a``) and without (``b``), URL by URL.

    ``ignore``: header names, lower case, that never count. Of URLs that one side alone was asked for there
    are none; but where another URL's page is shown, that URL explains the difference.
    """
    return compare_sides(_sides(a, ignore), _sides(b, ignore))


def compare_sides(before: Mapping[Place, Side], after: Mapping[Place, Side]) -> list[Difference]:
    """As ``compare``, of answers that are together already."""
    found: list[Difference] = []
    for place in sorted(before.keys() & after.keys()):
        one, other = before[place], after[place]
        differences = explain(*place, differing(one, other), one, other)
        found += _from_elsewhere(differences, one, place, after)
    return found


def rewrite_targets(differences: Iterable[Difference]) -> list[Place]:
    """Host and path of the URLs that requests were rewritten to: asked for without Edge Side Code, they tell
    what of an answer comes from there.
    """
    found = []
    for one in differences:
        if one.kind is Kind.REWRITE and one.before.startswith("/") and "…" not in one.before:
            path, _, query = one.before.partition(" ")
            kept = one.path.partition("?")[2] if one.what == "path" else query
            found.append((one.host, f"{path}?{kept}" if kept and kept not in (ABSENT, VARIES) else path))
        elif one.kind is Kind.REWRITE and one.what == "query":
            path = one.path.partition("?")[0]
            found.append((one.host, path if one.before in (ABSENT, VARIES) else f"{path}?{one.before}"))
    return found


def _from_elsewhere(
    found: list[Difference], seen: Side, place: Place, after: Mapping[Place, Side]
) -> list[Difference]:
    """The differences, less those that come of showing another URL of the host."""
    target = next((there for there in rewrite_targets(found) if there in after), None)
    if target is None:
        page = next((one for one in found if _is_unexplained(one)), None)
        if page is None or same_content(seen, after[place]):
            return found
        here = sorted(there for there in after if there[0] == place[0] and there != place)
        target = next((there for there in here if same_content(seen, after[there])), None)
        if target is None:
            return found
        change = {"kind": Kind.REWRITE, "what": "path", "feature": Feature.URL_REWRITE_RULE}
        rewrite = page.model_copy(update={**change, "before": target[1], "after": place[1], "extent": 1.0})
        found = [rewrite if one is page else one for one in found]
    facts = {Kind.HEADER: "header", Kind.COOKIE: "cookie"}
    return [
        one
        for one in found
        if one.kind not in facts or one.before != after[target].said(Fact(facts[one.kind], one.what))
    ]


def _is_unexplained(one: Difference) -> bool:
    return one.kind in (Kind.BODY, Kind.STATUS) and one.feature is Feature.SERVERLESS


def compare_watched(
    place: Place, before: Side, after: Side, agreed: Sequence[Difference], now: Side
) -> list[Difference]:
    """The differences between what a URL was with Edge Side Code (``before``) and what it is ``now``.

    ``after``: what it was without. ``agreed``: the differences of that URL that people agreed to; those that
    are seen now are told in their words, and what is as neither side was is told as it is.
    """
    from_before, from_after = differing(before, now), set(differing(after, now))
    as_agreed = [fact for fact in from_before if fact not in from_after]
    found = [one for one in agreed if any(_shows(one, fact) for fact in as_agreed)]
    return found + explain(*place, [fact for fact in from_before if fact in from_after], before, now)


def _shows(one: Difference, fact: Fact) -> bool:
    """Whether a difference may be seen by a fact."""
    match one.kind:
        case Kind.HEADER | Kind.COOKIE | Kind.REQUEST_HEADER | Kind.ORIGIN:
            return fact == Fact(one.kind.value, one.what)
        case Kind.STATUS | Kind.REDIRECT:
            return fact in (STATUS, LOCATION)
        case Kind.REWRITE:
            return fact == STATUS or fact.kind == "rewrite" or fact.kind in CONTENT_KINDS
        case Kind.BODY:
            return fact == STATUS or fact.kind in CONTENT_KINDS | ECHO_KINDS


def controls(observations: Iterable[Observation], ignore: frozenset[str] = frozenset()) -> list[Difference]:
    """What a comparison of like with like takes for a difference: every other answer with Edge Side Code
    against the rest, URL by URL, after the noise that the halves and the other side show was taken out.
    """
    found: list[Difference] = []
    for place, seen in sorted(_by_url(observations).items()):
        like, other = (
            [facts_of(one, ignore) for one in seen if one.with_cookie is flag] for flag in (False, True)
        )
        found += alarms(place, like, other)
    return found


def alarms(place: Place, like: Sequence[Facts], other: Sequence[Facts]) -> list[Difference]:
    """As ``controls``, of one URL: ``like``, its answers with Edge Side Code, ``other``, those without."""
    if len(like) < 2:
        return []
    halves = (side_of(like[::2]), side_of(like[1::2]))
    learnt = {fact for side in (*halves, side_of(other)) for fact in varying(side)}
    # What came once, like a line with a nonce, is known to vary without having varied within a half.
    met = Counter(fact for one in like for fact in one.values)
    facts = [fact for fact in differing(*halves) if fact not in learnt and met[fact] > 1]
    return explain(*place, facts, *halves)


def noise(sides: Iterable[Side]) -> set[str]:
    """The names of what varies within a side: ``header x-request-id``, ``cookie sid``, ``body``."""
    facts = (fact for side in sides for fact in varying(side))
    return {"body" if fact.kind in CONTENT_KINDS else f"{fact.kind} {fact.name}".strip() for fact in facts}


def _by_url(observations: Iterable[Observation]) -> dict[Place, list[Observation]]:
    found: defaultdict[Place, list[Observation]] = defaultdict(list)
    for one in observations:
        found[(one.host, one.url)].append(one)
    return found


def _sides(observations: Iterable[Observation], ignore: frozenset[str]) -> dict[Place, Side]:
    asked = _by_url(observations).items()
    return {place: side_of(facts_of(one, ignore) for one in seen) for place, seen in asked}

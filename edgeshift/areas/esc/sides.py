"""What all answers of one side say together, and which facts differ between two sides. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from edgeshift.areas.esc.observation import (
    CONTENT_KINDS,
    ECHO_KINDS,
    LOCATION,
    NO_ANSWER,
    STATUS,
    Fact,
    Facts,
)

ABSENT = "(none)"
VARIES = "(varies)"


class Side:
    """What all answers of one side say: for each fact the values it had, None where it was absent."""

    def __init__(self, values: Mapping[Fact, frozenset[str | None]], texts: Mapping[str, str]) -> None:
        self.values = values
        self.texts = texts

    def of(self, fact: Fact) -> frozenset[str | None]:
        """The values of a fact."""
        return self.values.get(fact, frozenset({None}))

    def said(self, fact: Fact) -> str:
        """The value of a fact, for people."""
        values = self.of(fact)
        return (next(iter(values)) or ABSENT) if len(values) == 1 else VARIES

    @property
    def statuses(self) -> frozenset[int]:
        """The statuses of its answers; empty where one had none."""
        found = [value for value in self.of(STATUS) if value and not value.startswith(NO_ANSWER)]
        return frozenset(map(int, found)) if len(found) == len(self.of(STATUS)) else frozenset()

    @property
    def answered(self) -> bool:
        """Whether there was any answer."""
        return any(value and not value.startswith(NO_ANSWER) for value in self.of(STATUS))

    @property
    def redirects(self) -> bool:
        """Whether every answer sends the client elsewhere."""
        return self._all(300, 399) and None not in self.of(LOCATION)

    @property
    def fails(self) -> bool:
        """Whether every answer is an error."""
        return self._all(400, 599)

    @property
    def echoes(self) -> bool:
        """Whether every answer says what request the origin got."""
        echo = [fact for fact in self.values if fact.kind in ECHO_KINDS]
        return any(None not in self.of(fact) for fact in echo)

    def _all(self, least: int, most: int) -> bool:
        return bool(self.statuses) and all(least <= status <= most for status in self.statuses)


def differing(a: Side, b: Side) -> list[Fact]:
    """The facts that differ: no value of one side ever on the other, and one side at least constant.

    For a value that varies by itself, alike on both sides, n answers of each side look so with a
    probability of 4^(1-n) at most: 1 in 250,000 for the ten that a difference is confirmed with.
    """
    return [
        fact
        for fact in sorted({*a.values, *b.values})
        if not a.of(fact) & b.of(fact) and (len(a.of(fact)) == 1 or len(b.of(fact)) == 1)
    ]


def same_content(a: Side, b: Side) -> bool:
    """Whether two sides may show the same page: no part of one that the other never has, but for what looks
    random or counts.
    """
    parts = [fact for fact in {*a.values, *b.values} if fact.kind in CONTENT_KINDS - {"exact"}]
    return (
        bool(a.statuses)
        and a.statuses == b.statuses
        and any(None not in a.of(fact) | b.of(fact) for fact in parts)
        and all(a.of(fact) & b.of(fact) for fact in parts)
    )


def side_of(facts: Iterable[Facts]) -> Side:
    """Answers of one URL, together. One that failed says nothing but that."""
    everything = list(facts)
    answered = [one for one in everything if not one.values[STATUS].startswith(NO_ANSWER)]
    names = {name for one in answered for name in one.values}
    values: dict[Fact, frozenset[str | None]] = {
        name: frozenset(one.values.get(name) for one in answered) for name in names
    }
    values[STATUS] = frozenset(one.values[STATUS] for one in everything)
    return Side(values, {key: text for one in answered for key, text in one.texts.items()})


def failing(side: Side) -> bool:
    """Whether every answer is missing, or an error of the server."""
    return all(value is None or value.startswith((NO_ANSWER, "5")) for value in side.of(STATUS))


def varying(side: Side) -> list[Fact]:
    """The facts that do not keep to one value."""
    return [fact for fact, values in side.values.items() if len(values) > 1]

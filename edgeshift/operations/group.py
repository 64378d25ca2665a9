"""The zones that share a fingerprint: how each stands to the one whose proposal is shown. What is sent is the
same; what a zone loses by it, what it has already and what was seen of it may be other. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from edgeshift.model.body_view import Mark
from edgeshift.operations.parts import PROPOSALS
from edgeshift.operations.preview import Preview

MARK_WORDS = {Mark.ADDED: "added", Mark.REMOVED: "removed", Mark.CHANGED: "changed", Mark.SAME: "as it is"}


@dataclass(frozen=True)
class Otherwise:
    """Zones of which other things are true than of the one that is shown, the same for each of them.
    ``zones``: their names; ``more``: what is true of them alone; ``less``: of the shown one alone.
    """

    zones: tuple[str, ...]
    more: tuple[str, ...]
    less: tuple[str, ...]


@dataclass(frozen=True)
class Rest:
    """The zones that a decision on a fingerprint reaches beside the one that is shown. ``same``: how many of
    them are told by it, ``otherwise``: those that are not, the most first. ``unseen``: how many wait and were
    not compared. ``evidence``: what was seen of all of them, in sentences.
    """

    same: int = 0
    otherwise: tuple[Otherwise, ...] = ()
    unseen: int = 0
    evidence: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many zones there are beside the shown one."""
        return self.same + sum(len(some.zones) for some in self.otherwise) + self.unseen


def chosen_example(shown: Sequence[Preview]) -> Preview:
    """The zone that is shown for all: one of which something was seen at work, where there is one; of these,
    the first of those that are as most are.
    """
    some = [one for one in shown if one.evidence is not None] or shown
    facts = [tuple(_facts(one)) for one in some]
    usual, _ = Counter(facts).most_common(1)[0]
    return some[facts.index(usual)]


def rest_of(example: Preview, shown: Sequence[Preview], unseen: int = 0) -> Rest:
    """Compare every zone with the one that is shown. ``shown``: all that were read, with that one."""
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    same = 0
    for one in shown:
        if one is example:
            continue
        more, less = differences(example, one)
        if more or less:
            found.setdefault((more, less), []).append(one.zone)
        else:
            same += 1
    ranked = sorted(found.items(), key=lambda item: -len(item[1]))
    seen = {one.zone: one.evidence for one in shown}
    evidence = PROPOSALS.of(example.area).seen_of_all(seen) if len(seen) > 1 else ()
    return Rest(
        same=same,
        otherwise=tuple(Otherwise(tuple(names), more, less) for (more, less), names in ranked),
        unseen=unseen,
        evidence=tuple(evidence),
    )


def differences(example: Preview, other: Preview) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is true of the other zone alone, and of the example alone, each in the order in which it is shown.
    A thing that the other does not have is named without its properties.
    """
    mine, theirs = list(_facts(example)), list(_facts(other))
    less = _without(mine, Counter(theirs))
    gone = {fact.names for fact in mine} - {fact.names for fact in theirs}
    return (
        tuple(fact.text for fact in _without(theirs, Counter(mine))),
        tuple(fact.text for fact in less if not fact.of or fact.of not in gone),
    )


@dataclass(frozen=True)
class _Fact:
    """Something that is shown of a zone, without its name. ``names``: the thing whose first line it is;
    ``of``: the one that it is a property of. A property that two zones have is the same, whether the thing is
    changed in one of them and as it was in the other.
    """

    text: str
    names: str = field(default="", compare=False)
    of: str = field(default="", compare=False)


def _without(some: Sequence[_Fact], others: Counter[_Fact]) -> list[_Fact]:
    left = Counter(others)
    found = []
    for fact in some:
        if left[fact] > 0:
            left[fact] -= 1
        else:
            found.append(fact)
    return found


def _facts(shown: Preview) -> Iterator[_Fact]:
    part = PROPOSALS.of(shown.area)
    name = re.compile(rf"(?<![\w-]){re.escape(shown.zone)}(?![\w-])")

    def plain(text: str) -> str:
        return part.without_own_names(name.sub("ZONE", text))

    for item in shown.items:
        title = plain(item.title)
        yield _Fact(f"{MARK_WORDS[item.mark]}: {title}", names=title)
        for line in item.lines:
            before = "" if line.before is None else f"{plain(line.before)} → "
            yield _Fact(f"{title}, {plain(line.label)}: {before}{plain(line.text)}", of=title)
    # What is added beside the body is among its things, or follows from them.
    for label, lines in (
        ("lost", shown.losses),
        ("carried over", shown.carried_over),
        ("to compare", shown.compare),
        ("to know", shown.warnings),
    ):
        for text in lines:
            yield _Fact(f"{label}: {plain(text)}")

"""What became of a ruleset that several people write: whose write overwrote whose, and what to put so that
nothing is lost (docs/service.md §2.2, §4.2). Pure.

The service has no precondition: a ``PUT`` replaces whatever is there. But every version is kept, and our own
rule says in its description over which version it was written. A version that carries that mark was built on
ours; one that does not was built on what was there before. So it can be told what the rules would be if we
had never written (the *rest*), and our change is made to those.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edgeshift.areas.log_fields.names import Kind
from edgeshift.areas.log_fields.rules import (
    OUR_REF,
    Rule,
    fields_of_rule,
    is_effective,
    is_marked_over,
    is_ours,
    mark_of,
    our_place,
    with_fields,
)

Rules = Sequence[Rule]


@dataclass(frozen=True)
class Version:
    """A version of the ruleset, with its rules as the service stores them."""

    number: int
    rules: Rules


@dataclass(frozen=True)
class OwnWrite:
    """A write of ours: the version that it was made over, and its rules."""

    over: int
    rules: Rules


@dataclass(frozen=True)
class Reconciled:
    """What the versions tell.

    ``written``: the versions that are ours. ``overwritten``: versions of others that ours replaced without
    having read them. ``unread``: versions that could not be read, so that what they changed is not known.
    ``rest``: the rules as they would be without us. ``put``: the rules to put, or None where the present
    ones are right.
    """

    written: tuple[int, ...]
    overwritten: tuple[int, ...]
    unread: tuple[int, ...]
    rest: list[Rule]
    put: list[Rule] | None


def reconcile(
    base: Version, sent: Sequence[OwnWrite], since: Sequence[Version], change: Callable[[Rules], list[Rule]]
) -> Reconciled:
    """What is to be put, given every version since ``base``, the one that we read first.

    ``sent``: what we have sent since, whether it was answered or not. ``change``: ours, as made to any rules:
    merge, or rollback. What others added, changed and took out holds, whether we replaced it or they us; a
    version in which our rule is missing replaced all that was there, as its writer's ``PUT`` did.
    """
    rest: Rules = base.rules
    found: dict[str | None, list[tuple[Version, Rules]]] = {}
    written: list[int] = []
    overwritten: list[int] = []
    ordered = sorted(since, key=lambda version: version.number)
    unseen = list(sent)
    for version in ordered:
        mark = mark_of(version.rules)
        ours = next((item for item in unseen if _is_write(item, version, mark)), None)
        if ours is not None:
            unseen.remove(ours)
            found.setdefault(mark, []).insert(0, (version, rest))
            between = range(ours.over + 1, version.number)
            overwritten += [number for number in between if number not in written]
            written.append(version.number)
        elif mark in found:
            # Writes that took our rule out have no mark: it was built on the one that it differs least from.
            first, without_us = min(found[mark], key=lambda pair: _distance(pair[0].rules, version.rules))
            rest = three_way(first.rules, version.rules, without_us)
            if mark is None:
                found[mark].insert(0, (version, rest))
        else:
            rest = version.rules
    present = ordered[-1] if ordered else base
    target = change(rest)
    known = {base.number, *(version.number for version in ordered)}
    return Reconciled(
        written=tuple(written),
        overwritten=tuple(dict.fromkeys(overwritten)),
        unread=tuple(number for number in range(base.number, present.number) if number not in known),
        rest=list(rest),
        put=None if same_rules(target, present.rules) else target,
    )


def _is_write(sent: OwnWrite, version: Version, mark: str | None) -> bool:
    """Whether a version is this write of ours: by the mark that it made, and by its rules where it made none.
    A rollback puts the mark of an earlier write back, which whoever had read that one has too.
    """
    if version.number <= sent.over or mark != mark_of(sent.rules):
        return False
    made = mark is not None and is_marked_over(mark, sent.over)
    return made or same_rules(sent.rules, version.rules)


def same_rules(one: Rules, other: Rules) -> bool:
    """Whether two lists of rules do and say the same, but for what the service assigns and our marks."""
    return [_essence(rule, marks=False) for rule in one] == [_essence(rule, marks=False) for rule in other]


def three_way(base: Rules, theirs: Rules, mine: Rules) -> list[Rule]:
    """``mine`` with what ``theirs`` changed of ``base``: rules added, taken out, changed and moved.

    Where both changed one rule, what they did to different parts of it holds, and on the same part theirs.
    """
    at_base, at_theirs, at_mine = _by_key(base), _by_key(theirs), _by_key(mine)
    kept: dict[str, Rule] = {}
    for key in dict.fromkeys((*at_mine, *at_theirs)):
        rule = _merged(at_base.get(key), at_theirs.get(key), at_mine.get(key))
        if rule is not None:
            kept[key] = rule
    moved = [key for key in at_theirs if key in at_base] != [key for key in at_base if key in at_theirs]
    leading, following = (at_theirs, at_mine) if moved else (at_mine, at_theirs)
    return [kept[key] for key in _woven(list(leading), list(following)) if key in kept]


def _distance(one: Rules, other: Rules) -> int:
    """How many rules differ."""
    first, second = _by_key(one), _by_key(other)
    return sum(not _same(first.get(key), second.get(key)) for key in first.keys() | second.keys())


def _woven(leading: list[str], following: list[str]) -> list[str]:
    """The keys in the order of the first list; what only the second has comes after its neighbour there, and
    after what the first has there.
    """
    order = list(leading)
    place = 0
    for key in following:
        if key in order:
            place = order.index(key) + 1
            continue
        while 0 < place < len(order) and order[place] not in following:
            place += 1
        order.insert(place, key)
        place += 1
    return order


def _merged(base: Rule | None, theirs: Rule | None, mine: Rule | None) -> Rule | None:
    if _same(theirs, base):
        return mine
    if _same(mine, base):
        return theirs
    if theirs is None:
        return None
    if mine is None:
        if base is None:
            return theirs
        if not is_ours(theirs):
            # Taken out by somebody; the one who changed it saw it only because we had put it back.
            return None
        # Our own rule is no part of the rest; what somebody else put into it is.
        added = [field for field in fields_of_rule(theirs) if field not in fields_of_rule(base)]
        return with_fields(theirs, added) if added else None
    return _merged_parts(base or {}, theirs, mine)


def _merged_parts(base: Mapping[str, Any], theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> Rule:
    found: Rule = {}
    for key in dict.fromkeys((*mine, *theirs)):
        was, there, here = base.get(key), theirs.get(key), mine.get(key)
        if there == was:
            value = here
        elif here == was:
            value = there
        elif isinstance(there, Mapping) and isinstance(here, Mapping):
            value = _merged_parts(was if isinstance(was, Mapping) else {}, there, here)
        elif key in set(Kind):
            value = _merged_names(was, there, here)
        else:
            value = there
        if value is not None:
            found[key] = copy.deepcopy(value)
    return found


def _merged_names(was: Any, there: Any, here: Any) -> list[Any] | None:
    """Lists of named fields: what theirs added is in, what theirs took out is out."""
    before, now = _names(was), _names(there)
    kept = [item for item in here or () if item["name"] in now or item["name"] not in before]
    known = _names(kept)
    return [*kept, *(item for name, item in now.items() if name not in before and name not in known)] or None


def _names(items: Any) -> dict[str, Any]:
    return {item["name"]: item for item in items or ()}


def _same(one: Rule | None, other: Rule | None) -> bool:
    if one is None or other is None:
        return one is other
    return _essence(one) == _essence(other)


def _essence(rule: Mapping[str, Any], *, marks: bool = True) -> Rule:
    hidden = {"id", "version", "last_updated"}
    if not marks and is_ours(rule):
        # Of our own rule only what it does counts: the service may store it in other words.
        return {"fields": sorted(fields_of_rule(rule)), "effective": is_effective(rule)}
    # A rule that was sent without these has them once it is stored.
    return {"enabled": True, "description": "", **{k: v for k, v in rule.items() if k not in hidden}}


def _by_key(rules: Rules) -> dict[str, Rule]:
    """The rules by what names them from one version to the next: the ref, which a rule keeps when it is put
    again after it was lost, while its id does not.
    """
    ours = our_place(rules)
    found: dict[str, Rule] = {}
    for place, rule in enumerate(rules):
        key = OUR_REF if place == ours else str(rule.get("ref") or rule.get("id") or f"#{place}")
        # The service lets several rules share a ref; none of them is lost over it.
        found[key if key not in found else str(rule.get("id") or f"#{place}")] = rule
    return found

"""What of a proposal is other than in an earlier one: what people see where a zone has drifted. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from edgeshift.areas.digests import Body, canonical_bytes, essence

LONGEST = 120
"""Characters of a value that a line tells."""


def changes(before: Body, after: Body) -> tuple[str, ...]:
    """A line for each rule that was removed, added or changed, and for each other key, in their order. Empty
    where both have the same digest.
    """
    old, new = essence(before), essence(after)
    keys = [key for key in dict.fromkeys((*old, *new)) if key != "rules"]
    found = [_said(key, old.get(key), new.get(key)) for key in keys if _other(old.get(key), new.get(key))]
    return (*found, *_rules(old.get("rules") or [], new.get("rules") or []))


def _rules(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Iterator[str]:
    matcher = SequenceMatcher(None, list(map(canonical_bytes, old)), list(map(canonical_bytes, new)), False)
    for kind, first, end, first_new, end_new in matcher.get_opcodes():
        if kind == "equal":
            continue
        pairs = min(end - first, end_new - first_new)
        for place in range(pairs):
            yield from _changed(first_new + place, old[first + place], new[first_new + place])
        for place in range(first + pairs, end):
            yield f"removed: rule {place + 1}, {_rule(old[place])}"
        for place in range(first_new + pairs, end_new):
            yield f"added: rule {place + 1}, {_rule(new[place])}"


def _changed(place: int, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Key by key where it is the same rule; as another one where it does or looks at something else."""
    keys = [key for key in dict.fromkeys((*old, *new)) if _other(old.get(key), new.get(key))]
    if {"action", "expression"} <= set(keys):
        yield f"replaced: rule {place + 1}, {_rule(old)} by {_rule(new)}"
        return
    for key in keys:
        yield f"changed: rule {place + 1}, {_said(key, old.get(key), new.get(key))}"


def _other(old: object, new: object) -> bool:
    return canonical_bytes(old) != canonical_bytes(new)


def _said(key: str, old: object, new: object) -> str:
    return f"{key}: {_short(old)} → {_short(new)}"


def _rule(rule: Mapping[str, Any]) -> str:
    described = f" ({_cut(str(rule['description']))})" if rule.get("description") else ""
    return f"{rule.get('action')} on {_cut(str(rule.get('expression')))}{described}"


def _short(value: object) -> str:
    return "nothing" if value is None else _cut(canonical_bytes(value).decode())


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

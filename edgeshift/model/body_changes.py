"""What of a proposal is other than in an earlier one: what people see where a zone has drifted. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from edgeshift.model.counts import counted
from edgeshift.model.digests import Body, canonical_bytes, essence

LONGEST = 100
"""Characters of a value that a line tells."""

BEFORE = 20
"""Characters that a line tells of what is still the same, before what differs."""


def changes(before: Body, after: Body) -> tuple[str, ...]:
    """A line for each rule that was removed or added, and for each place at which a rule, or something else
    of the body, is other than before, in their order. Empty where both have the same digest.
    """
    old, new = essence(before), essence(after)
    old_rules, new_rules = old.pop("rules", None) or [], new.pop("rules", None) or []
    return (*_differences("", old, new), *_rules(old_rules, new_rules))


def paired(old: Sequence[Any], new: Sequence[Any]) -> Iterator[tuple[int | None, int | None]]:
    """Which rule of ``new`` each rule of ``old`` has become, by their places, in the order of ``new``: the
    same one, or one that does the same, or does it at the same place. None: it was removed, or added.
    """
    for first, second in _aligned(old, new):
        apart = first is not None and second is not None and not _is_one(old[first], new[second])
        yield from ((first, None), (None, second)) if apart else ((first, second),)


def _aligned(old: Sequence[Any], new: Sequence[Any]) -> Iterator[tuple[int | None, int | None]]:
    """Places of rules that are equal, or stand at the same place between equal ones."""
    matcher = SequenceMatcher(None, list(map(canonical_bytes, old)), list(map(canonical_bytes, new)), False)
    for _, first, end, first_new, end_new in matcher.get_opcodes():
        pairs = min(end - first, end_new - first_new)
        yield from ((first + place, first_new + place) for place in range(pairs))
        yield from ((place, None) for place in range(first + pairs, end))
        yield from ((None, place) for place in range(first_new + pairs, end_new))


def _rules(old: list[Any], new: list[Any]) -> Iterator[str]:
    for first, second in _aligned(old, new):
        if second is None and first is not None:
            yield f"removed: rule {first + 1}, {_rule(old[first])}"
        elif first is None and second is not None:
            yield f"added: rule {second + 1}, {_rule(new[second])}"
        elif first is not None and second is not None:
            yield from _changed(second, old[first], new[second])


def _changed(place: int, old: Any, new: Any) -> Iterator[str]:
    """Place by place where it is the same rule; as another one where it does and looks at something else."""
    found = list(_differences("", old, new))
    if isinstance(old, Mapping) and isinstance(new, Mapping) and found and not _is_same(old, new):
        found = [f"{_rule(old)} → {_rule(new)}"]
    yield from (f"changed: rule {place + 1}, {said}" for said in found)


def _is_one(old: Any, new: Any) -> bool:
    mappings = isinstance(old, Mapping) and isinstance(new, Mapping)
    return _equal(old, new) or (mappings and _is_same(old, new))


def _is_same(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two rules are one that was changed: what it does or where it does it is the same."""
    return any(_equal(old.get(key), new.get(key)) for key in ("action", "expression"))


def _differences(path: str, old: Any, new: Any) -> Iterator[str]:
    """A line for each place at which two values differ."""
    if _equal(old, new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _differences(f"{path}.{key}" if path else str(key), old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) == len(new):
            for place, (one, other) in enumerate(zip(old, new, strict=True)):
                yield from _differences(f"{path}[{place}]", one, other)
            return
        had, has = list(map(canonical_bytes, old)), list(map(canonical_bytes, new))
        gone = [item for item, known in zip(old, had, strict=True) if known not in has]
        came = [item for item, known in zip(new, has, strict=True) if known not in had]
        yield from (f"{path}: without {_cut(_text(item))}" for item in gone)
        yield from (f"{path}: with {_cut(_text(item))}" for item in came)
        if not gone and not came:
            yield f"{path}: {len(old)} → {counted(len(new), 'item')}"
    else:
        before, after = _text(old), _text(new)
        pairs = enumerate(zip(before, after, strict=False))
        differs = next((place for place, (one, other) in pairs if one != other), min(len(before), len(after)))
        same = max(0, differs - BEFORE)
        yield f"{path}: {_cut(before, same)} → {_cut(after, same)}"


def _equal(old: object, new: object) -> bool:
    return canonical_bytes(old) == canonical_bytes(new)


def _rule(rule: Any) -> str:
    if not isinstance(rule, Mapping):
        return _cut(_text(rule))
    override = rule.get("override")
    if isinstance(override, Mapping):
        urls = override.get("urls")
        return f"{rule.get('action')} {override.get('id')} {_cut(_text(urls)) if urls else ''}".rstrip()
    described = f" ({_cut(str(rule['description']))})" if rule.get("description") else ""
    return f"{rule.get('action')} on {_cut(str(rule.get('expression')))}{described}"


def _text(value: object) -> str:
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else canonical_bytes(value).decode()


def _cut(text: str, first: int = 0) -> str:
    """What a line tells of a text, from ``first`` on where that leaves anything out."""
    shown = f"…{text[first:]}" if first else text
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"

"""Mutations of one value of an answer: another type, another value, none at all. Pure."""

from __future__ import annotations

import copy
import re
from typing import Any

from edgeshift.testbed.simulator.poison_brew import Brew, Mutation, Place

LONG = 1_000_000
DEEP = (100, 900, 5_000, 100_000)
_MARK = "\ufdd0"
_ID = re.compile(r"[0-9a-f]{32}")
_ODD_WORDS = ("phase_three", "ADAPTIVE", "interrogate", "", " ", "null", "true", "enabled\x00", "ünbekannt")
_ODD_NUMBERS = (-1, 0, 2**31, 2**53 + 1, 10**30, -(10**15), 0.5, -0.0)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and bool(_ID.fullmatch(value))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def another_type(brew: Brew) -> None:
    """A value of another type."""
    place = brew.some()
    kinds: list[Any] = ["text", 7, 1.5, True, None, [], {}, ["text"], {"value": 1}, [[]], [None]]
    place.put(brew.chance.choice([one for one in kinds if type(one) is not type(place.value)]))


def null(brew: Brew) -> None:
    """Null."""
    brew.some().put(None)


def missing(brew: Brew) -> None:
    """A key or an item that is not there."""
    place = brew.some(lambda value: True)
    if place.key == "":
        place.put({})
    else:
        del place.parent[place.key]


def doubled_key(brew: Brew) -> None:
    """A key that an object has twice, with different values."""
    place = brew.some(lambda value: _is_object(value) and bool(value))
    if not isinstance(place.value, dict) or not place.value:
        return
    key = brew.chance.choice(list(place.value))
    other = brew.chance.choice([None, "enabled", "disabled", True, [], place.value[key], "complete", "on"])
    items = list(place.value.items())
    items.insert(brew.chance.randint(0, len(items)), (f"{key}{_MARK}", other))
    place.put(dict(items))


def unknown_word(brew: Brew) -> None:
    """A word that nobody knows."""
    brew.some(_is_text).put(brew.chance.choice(_ODD_WORDS))


def foreign_id(brew: Brew) -> None:
    """Somebody else's identifier."""
    place = brew.some(_is_id)
    made = f"{brew.chance.getrandbits(128):032x}"
    place.put(brew.chance.choice([*brew.others, made]))


def swapped(brew: Brew) -> None:
    """Two texts that have changed places."""
    found = brew.places(_is_text)
    if len(found) < 2:
        return null(brew)
    one, other = brew.chance.sample(found, 2)
    brew.at(one)
    held = one.value
    one.put(other.value)
    other.put(held)


def swapped_ids(brew: Brew) -> None:
    """Two identifiers that have changed places."""
    found = brew.places(_is_id)
    if len(found) < 2:
        return foreign_id(brew)
    one, other = brew.chance.sample(found, 2)
    brew.at(one)
    held = one.value
    one.put(other.value)
    other.put(held)


def odd_number(brew: Brew) -> None:
    """A number that is negative, huge or broken."""
    brew.some(_is_number).put(brew.chance.choice(_ODD_NUMBERS))


def endless_number(brew: Brew) -> None:
    """A number past everything that a computer has: 1e999, or five thousand digits."""
    raw = brew.chance.choice([b"1e999", b"-1e999", b"9" * 5_000, b"0." + b"3" * 5_000])
    brew.some().put(brew.raw(raw))


def not_a_number(brew: Brew) -> None:
    """NaN, Infinity: no JSON, and many parsers take them."""
    brew.some().put(brew.raw(brew.chance.choice([b"NaN", b"Infinity", b"-Infinity"])))


def deep(brew: Brew) -> None:
    """Lists or objects in each other, deeper than a stack is."""
    depth = brew.chance.choice(DEEP)
    begin, end = brew.chance.choice([(b"[", b"]"), (b'{"a":', b"}")])
    brew.some().put(brew.raw(begin * depth + b"null" + end * depth))


def long_text(brew: Brew) -> None:
    """A text of a million characters."""
    brew.some(_is_text).put(brew.chance.choice(["x", "ä", '"', "\x00", "(", "' is not a valid value"]) * LONG)


def many_items(brew: Brew) -> None:
    """A list of a hundred thousand."""
    place = brew.some(_is_list)
    item: Any = brew.chance.choice([0, None, {}, [], ""])
    # Each its own: what another mutation puts into one of them is not to be there a hundred thousand times.
    place.put([copy.copy(item) for _ in range(100_000)])


def lone_surrogate(brew: Brew) -> None:
    """Half a character, which JSON can write and UTF-8 cannot."""
    raw = brew.chance.choice([rb'"\ud800"', rb'"a\udfffb"', rb'"\uDC00\uD800"'])
    brew.some(_is_text).put(brew.raw(raw))


def invalid_utf8(brew: Brew) -> None:
    """Bytes that are no UTF-8."""
    raw = brew.chance.choice([b'"\xff\xfe"', b'"\xc3"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"'])
    brew.some(_is_text).put(brew.raw(raw))


def array_for_object(brew: Brew) -> None:
    """A list where an object was, or around it."""
    place = brew.some(_is_object)
    held = place.value
    place.put(brew.chance.choice([[], [held], list(held.values()) if isinstance(held, dict) else [held]]))


def object_for_array(brew: Brew) -> None:
    """An object where a list was."""
    place = brew.some(lambda value: isinstance(value, list))
    held = place.value if isinstance(place.value, list) else [place.value]
    place.put(brew.chance.choice([{}, {str(number): one for number, one in enumerate(held)}]))


def extra_fields(brew: Brew) -> None:
    """Fields that nobody knows, some with names that mean something elsewhere."""
    place = brew.some(_is_object)
    names = [
        "unknown",
        "__proto__",
        "__class__",
        "raw",
        "model_config",
        "result",
        "success",
        "",
        "a" * 10_000,
    ]
    if isinstance(place.value, dict):
        for name in brew.chance.sample(names, 3):
            place.value.setdefault(name, brew.chance.choice([None, {}, [1], "text"]))


def doubled_items(brew: Brew) -> None:
    """Items of a list twice, the second time as they are or changed."""
    place = brew.some(_is_list)
    if not _is_list(place.value):
        return
    again = copy.deepcopy(place.value)
    if brew.chance.random() < 0.5 and isinstance(again[0], dict) and again[0]:
        again[0][brew.chance.choice(list(again[0]))] = None
    place.value.extend(again)


def shuffled(brew: Brew) -> None:
    """A list in another order."""
    place = brew.some(_is_list)
    if isinstance(place.value, list):
        brew.chance.shuffle(place.value)


def odd_rule(brew: Brew) -> None:
    """A rule without its action, with another one, with none of its parameters, or not enabled."""
    found = [
        Place(rules.value, number, f"{rules.name}.{number}")
        for rules in brew.places(_is_list)
        for number, rule in enumerate(rules.value)
        if isinstance(rule, dict) and {"action", "expression", "filter", "actions"} & set(rule)
    ]
    if not found:
        return missing(brew)
    rule = brew.at(brew.chance.choice(found)).value
    change = brew.chance.choice(["none", "other", "action", "parameters", "enabled", "expression"])
    if change == "none":
        rule.clear()
    elif change in ("other", "action"):
        rule.pop("action", None)
        if change == "other":
            rule["action"] = brew.chance.choice(["log", "skip", "block", "interrogate", "execute", 1])
    elif change == "parameters":
        rule["action_parameters"] = brew.chance.choice([None, {}, [], "none", {"overrides": []}])
    elif change == "enabled":
        rule["enabled"] = brew.chance.choice([False, "false", 0, None, not rule.get("enabled", True)])
    else:
        rule["expression"] = brew.chance.choice(["false", "", None, ["true"], "true "])


VALUES: dict[str, Mutation] = {
    "another-type": another_type,
    "null": null,
    "missing": missing,
    "doubled-key": doubled_key,
    "unknown-word": unknown_word,
    "foreign-id": foreign_id,
    "swapped": swapped,
    "swapped-ids": swapped_ids,
    "odd-number": odd_number,
    "endless-number": endless_number,
    "not-a-number": not_a_number,
    "deep": deep,
    "long-text": long_text,
    "many-items": many_items,
    "lone-surrogate": lone_surrogate,
    "invalid-utf8": invalid_utf8,
    "array-for-object": array_for_object,
    "object-for-array": object_for_array,
    "extra-fields": extra_fields,
    "doubled-items": doubled_items,
    "shuffled": shuffled,
    "odd-rule": odd_rule,
}

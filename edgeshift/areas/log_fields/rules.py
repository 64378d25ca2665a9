"""Rules of the custom log fields: reading them, putting ours beside those of others, taking it out again
(docs/service.md §2.2, §4.2, §8). Pure.

A ``PUT`` replaces every rule of the ruleset, so everything that somebody else wrote is sent along as it was
read. Ours is one rule, known by its ``ref``.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from edgeshift.areas.log_fields.names import CustomField, Kind, fields_of
from edgeshift.areas.log_fields.terms import FieldSet

PHASE = "http_log_custom_fields"
ACTION = "log_custom_field"
EXPRESSION = "true"
OUR_REF = "edgeshift-log-fields"
DESCRIPTION = "Custom log fields, kept by edgeshift"
RULESET = {
    "name": "Custom log fields",
    "kind": "zone",
    "phase": PHASE,
    "description": "Custom fields of the zone's request logs",
}
"""The body of a zone's first ruleset of the phase (docs/service.md §4.2)."""

Rule = dict[str, Any]


def is_ours(rule: Mapping[str, Any]) -> bool:
    """Whether a rule is the one that edgeshift keeps: by its ref, or by its description where the ref was
    lost.
    """
    return rule.get("ref") == OUR_REF or str(rule.get("description") or "").startswith(DESCRIPTION)


def our_place(rules: Sequence[Mapping[str, Any]]) -> int | None:
    """Where our rule is. Of several that look like it, the one with the ref is it."""
    places = [place for place, rule in enumerate(rules) if is_ours(rule)]
    by_ref = [place for place in places if rules[place].get("ref") == OUR_REF]
    return next(iter(by_ref or places), None)


def our_rule(rules: Sequence[Rule]) -> Rule | None:
    """Our rule, or None."""
    place = our_place(rules)
    return None if place is None else rules[place]


def mark_of(rules: Sequence[Rule]) -> str | None:
    """The description of our rule, in which each write leaves its own mark; None where there is no such
    rule.
    """
    rule = our_rule(rules)
    return None if rule is None else str(rule.get("description") or "")


def marked(label: str, over: str) -> str:
    """The description of our rule as one write makes it: for whom, and over which version."""
    return f"{DESCRIPTION} ({label[:100]}, over version {over})"


def over_version(number: int, earlier: int) -> str:
    """How a write names the version that it is made over: no two of them alike. ``earlier``: writes over the
    same version before this one.
    """
    return f"{number}, write {earlier + 1}" if earlier else str(number)


def is_marked_over(mark: str, number: int) -> bool:
    """Whether a mark was made by a write over this version."""
    return re.search(rf", over version {number}(, write \d+)?\)$", mark) is not None


def fields_of_rule(rule: Mapping[str, Any]) -> tuple[CustomField, ...]:
    """The custom fields that a rule names, each once, whether it is enabled or not."""
    parameters = rule.get("action_parameters") or {}
    return tuple(
        dict.fromkeys(
            CustomField(kind, str(item["name"])) for kind in Kind for item in parameters.get(kind.value) or ()
        )
    )


RAW_RESPONSE = "raw_response_fields"
"""In rules of others: response headers that are logged with their original values (docs/service.md §8)."""


def raw_fields(rule: Mapping[str, Any]) -> tuple[CustomField, ...]:
    """The response headers that a rule has logged with their original values."""
    items = (rule.get("action_parameters") or {}).get(RAW_RESPONSE) or ()
    return tuple(CustomField(Kind.RESPONSE, str(item["name"])) for item in items)


def is_effective(rule: Mapping[str, Any]) -> bool:
    """Whether a rule has its fields logged: enabled, with the action and the expression of the phase."""
    return (
        rule.get("enabled", True) is not False
        and rule.get("action") == ACTION
        and str(rule.get("expression") or "").strip("() ") == EXPRESSION
    )


def carried(rules: Sequence[Mapping[str, Any]]) -> frozenset[CustomField]:
    """The fields that are logged by one rule or another, with whichever of their values."""
    return frozenset(
        field for rule in rules if is_effective(rule) for field in (*fields_of_rule(rule), *raw_fields(rule))
    )


def missing(rules: Sequence[Mapping[str, Any]], wanted: FieldSet) -> tuple[CustomField, ...]:
    """The wanted fields that no rule has logged."""
    have = carried(rules)
    return tuple(field for field in dict.fromkeys(fields_of(wanted)) if field not in have)


def count(rules: Sequence[Mapping[str, Any]]) -> int:
    """How many custom fields the rules take of what a zone may have. Each entry of each rule counts, also of
    one that is disabled: whether the service counts more kindly is not known.
    """
    return sum(
        len((rule.get("action_parameters") or {}).get(kind.value) or ()) for rule in rules for kind in Kind
    )


def sendable(rule: Mapping[str, Any]) -> Rule:
    """A rule as it is sent back: as it was read, but for what each write makes anew."""
    return {
        key: copy.deepcopy(value) for key, value in rule.items() if key not in ("version", "last_updated")
    }


def merge(rules: Sequence[Rule], wanted: FieldSet, description: str = DESCRIPTION) -> list[Rule]:
    """The rules to put: those that are there, in their order, and ours with what is wanted beside them.

    Fields that somebody else's rule has logged are not repeated; what ours had from an earlier run stays,
    but not where somebody has turned it off. Where nothing is missing the rules are those that are there.
    """
    place = our_place(rules)
    ours = rules[place] if place is not None else None
    sent = [sendable(rule) for rule in rules]
    if not missing(rules, wanted):
        return sent
    others = [rule for index, rule in enumerate(rules) if index != place]
    changed = sendable(ours or {})
    if ours and not is_effective(ours):
        # Nobody signs that what was turned off is logged again: it is, where it is wanted now.
        changed.pop("action_parameters", None)
    changed = with_fields(changed, (*fields_of_rule(changed), *missing(others, wanted)))
    changed |= {
        "ref": OUR_REF,
        "action": ACTION,
        "expression": EXPRESSION,
        "description": description,
        "enabled": True,
    }
    if place is None:
        return [*sent, changed]
    sent[place] = changed
    return sent


def rollback(before: Sequence[Rule], present: Sequence[Rule], ours: FieldSet) -> list[Rule]:
    """The rules to put so that what was added is out again and nothing else: what others have written since
    stays, and our own rule keeps what it had before, or is off again as it was.

    ``before``: the rules of the snapshot. ``ours``: the fields of the body that was signed.
    """
    sent = [sendable(rule) for rule in present]
    place, was = our_place(present), our_rule(before)
    if place is None:
        return sent
    had = fields_of_rule(was) if was else ()
    added = set(fields_of(ours)) - set(had)
    left = [field for field in fields_of_rule(present[place]) if field not in added]
    if was and is_effective(present[place]) and not is_effective(was):
        # What was turned off has been left out of it.
        its_id = {key: value for key, value in sent[place].items() if key == "id"}
        sent[place] = with_fields({**sendable(was), **its_id}, (*had, *left))
        return sent
    if not left:
        del sent[place]
        return sent
    sent[place] = with_fields(sent[place], left)
    if was:
        sent[place] |= {key: was[key] for key in ("description", "enabled") if key in was}
    return sent


def with_fields(rule: Rule, fields: Sequence[CustomField]) -> Rule:
    """The rule with these fields and no others; entries that it has already stay as they are."""
    parameters = dict(rule.get("action_parameters") or {})
    for kind in Kind:
        known = {item["name"]: item for item in parameters.pop(kind.value, None) or ()}
        names = dict.fromkeys(field.name for field in fields if field.kind is kind)
        if names:
            parameters[kind.value] = [known.get(name, {"name": name}) for name in names]
    return {**rule, "action_parameters": parameters}


def unsound(rules: object) -> str | None:
    """Why rules that were read cannot be sent back and counted, or None. Anything odd fails closed."""
    if not isinstance(rules, Sequence) or isinstance(rules, str):
        return "the ruleset has no list of rules"
    for place, rule in enumerate(rules):
        if not isinstance(rule, Mapping):
            return f"rules[{place}] is not an object"
        name = f"rules[{place}] ({str(rule.get('ref') or rule.get('id') or 'no id')[:40]})"
        if not isinstance(rule.get("action"), str) or not isinstance(rule.get("expression"), str):
            return f"{name} has no action or no expression"
        parameters = rule.get("action_parameters")
        if parameters is None:
            continue
        if not isinstance(parameters, Mapping):
            return f"{name}: action_parameters is not an object"
        for array in (*(kind.value for kind in Kind), RAW_RESPONSE):
            items = parameters.get(array)
            if items is not None and not _are_names(items):
                return f"{name}: action_parameters.{array} is not a list of objects with a name"
    return None


def _are_names(items: object) -> bool:
    return isinstance(items, Sequence) and all(
        isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in items
    )

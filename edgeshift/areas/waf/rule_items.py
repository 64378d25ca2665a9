"""The rules that a migration would write, as people read them before they sign: what each does, where, and
what it overrides, beside the rules that the zone has (docs/service.md §2.4, §4.3). Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from edgeshift.areas.waf.names import Names, named
from edgeshift.model.body_changes import paired
from edgeshift.model.body_view import Item, Line, Mark, as_text, compared, lines_of
from edgeshift.model.digests import Body, essence

DELETION = "delete_overrides"
"""The name of a body whose overrides are deleted."""

EVERYWHERE = "every request"

Properties = list[tuple[str, str]]


def items(body: Body, before: Mapping[str, Any] | None, names: Names | None = None) -> tuple[Item, ...]:
    """What the body would do, rule by rule in its order, as a difference from the rules that the zone has.

    ``before``: the entry point of the zone's snapshot, or None where it has none. ``names``: what rules are
    called, by their identifiers, where something was read that says it. Every key of a rule is in its item,
    but for what the service assigns.
    """
    known = names or {}
    new = _rules(body)
    if body.get("name") == DELETION:
        return tuple(_deleted(rule) for rule in new)
    old = _rules(before or {})
    return tuple(_items(old, new, known))


def _rules(body: Mapping[str, Any]) -> list[Any]:
    return list(essence(body)["rules"]) if body.get("rules") else []


def _items(old: Sequence[Any], new: Sequence[Any], names: Names) -> Iterator[Item]:
    for first, second in paired(old, new):
        if second is None and first is not None:
            yield _item(Mark.REMOVED, first, old[first], names)
        elif first is None and second is not None:
            yield _item(Mark.ADDED, second, new[second], names)
        elif first is not None and second is not None:
            had, has = properties(old[first], names), properties(new[second], names)
            lines = _besides_title(compared(had, has))
            same = old[first] == new[second]
            title = f"rule {second + 1}: {_does(new[second], names)}"
            yield Item(mark=Mark.SAME if same else Mark.CHANGED, title=title, lines=lines)


def _item(mark: Mark, place: int, rule: Any, names: Names) -> Item:
    title = f"rule {place + 1}: {_does(rule, names)}"
    return Item(mark=mark, title=title, lines=_besides_title(lines_of(properties(rule, names))))


def _besides_title(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Lines that say more than the title does."""
    return tuple(line for line in lines if line.before is not None or line.label not in ("action", "runs"))


def _does(rule: Any, names: Names) -> str:
    """What a rule does, on one line: ``execute the OWASP core ruleset (4814…)``."""
    if not isinstance(rule, Mapping):
        return as_text(rule)
    action, parameters = str(rule.get("action")), rule.get("action_parameters")
    target = parameters.get("id") if isinstance(parameters, Mapping) else None
    off = ", turned off" if rule.get("enabled", True) is False else ""
    return f"{action} {named(str(target), names)}{off}" if target else f"{action}{off}"


def properties(rule: Any, names: Names) -> Properties:
    """Everything that a rule says, in the order in which people read it."""
    if not isinstance(rule, Mapping):
        return [("value", as_text(rule))]
    found: Properties = []
    expression = rule.get("expression")
    if expression is not None:
        said = str(expression)
        found.append(("on", EVERYWHERE if said.strip("() ") == "true" else said))
    found.append(("action", str(rule.get("action"))))
    if rule.get("description"):
        found.append(("description", str(rule["description"])))
    if "enabled" in rule and rule["enabled"] is not True:
        found.append(("enabled", "no" if rule["enabled"] is False else as_text(rule["enabled"])))
    handled = {"expression", "action", "description", "enabled", "action_parameters"}
    parameters = rule.get("action_parameters")
    if isinstance(parameters, Mapping):
        found += _parameters(parameters, names)
    elif parameters is not None:
        found.append(("action_parameters", as_text(parameters)))
    found += [(str(key), as_text(value)) for key, value in rule.items() if key not in handled]
    return found


def _parameters(parameters: Mapping[str, Any], names: Names) -> Properties:
    found: Properties = []
    for key, value in parameters.items():
        if key == "id":
            found.append(("runs", named(str(value), names)))
        elif key == "overrides" and isinstance(value, Mapping):
            found += _overrides(value, names)
        elif key == "ruleset":
            current = "the rules after it in this ruleset"
            found.append(("skips", current if value == "current" else named(str(value), names)))
        elif key == "rulesets" and isinstance(value, list):
            found.append(("skips", ", ".join(named(str(one), names) for one in value)))
        elif key == "rules" and isinstance(value, Mapping):
            found += [
                (f"skips rules of {named(str(ruleset), names)}", _listed(rules, names))
                for ruleset, rules in value.items()
            ]
        else:
            found.append((str(key), as_text(value)))
    return found


def _listed(rules: Any, names: Names) -> str:
    return ", ".join(named(str(one), names) for one in rules) if isinstance(rules, list) else as_text(rules)


def _overrides(overrides: Mapping[str, Any], names: Names) -> Properties:
    """What a rule overrides of the ruleset that it runs: of all its rules, of categories, of single rules."""
    whole = {key: value for key, value in overrides.items() if key not in ("rules", "categories")}
    found: Properties = [("all of its rules", _set(whole))] if whole else []
    for key, noun, identity in (("categories", "category", "category"), ("rules", "rule", "id")):
        listed = overrides.get(key)
        if not isinstance(listed, list):
            found += [(key, as_text(listed))] if listed is not None else []
            continue
        for item in listed:
            if not isinstance(item, Mapping):
                found.append((noun, as_text(item)))
                continue
            name = named(str(item.get(identity)), names)
            found.append((f"{noun} {name}", _set({k: v for k, v in item.items() if k != identity})))
    return found


def _set(values: Mapping[str, Any]) -> str:
    """Settings of an override: ``action log, off``."""
    said = []
    for key, value in values.items():
        if key == "enabled" and isinstance(value, bool):
            said.append("on" if value else "off")
        elif key in ("action", "score_threshold", "sensitivity_level") and isinstance(value, (str, int)):
            said.append(f"{key.replace('_', ' ')} {value}")
        else:
            said.append(f"{key} {as_text(value)}")
    return ", ".join(said) or "nothing"


def _deleted(rule: Any) -> Item:
    override = rule.get("override") if isinstance(rule, Mapping) else None
    if not isinstance(override, Mapping):
        return Item(mark=Mark.REMOVED, title="URI-based override", lines=lines_of([("value", as_text(rule))]))
    lines = [
        (key, ", ".join(map(str, value)) if key == "urls" and isinstance(value, list) else as_text(value))
        for key, value in override.items()
        if key != "id"
    ]
    title = f"URI-based override {override.get('id')}"
    return Item(mark=Mark.REMOVED, title=title, lines=lines_of(lines))

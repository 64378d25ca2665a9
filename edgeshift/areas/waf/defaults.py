"""What the rules of a managed ruleset do where nobody has set anything, and so which of them only log by a
body as it is (docs/service.md §2.4, §4.3). Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from edgeshift.areas.waf.answers import objects


@dataclass(frozen=True)
class Default:
    """One rule: its action, and the categories that it is in."""

    action: str
    categories: tuple[str, ...]


@dataclass(frozen=True)
class Defaults:
    """The rules of a managed ruleset by their identifiers, in the version that was read. Without rules it was
    not read, or is none of this service.
    """

    version: str = ""
    rules: Mapping[str, Default] = field(default_factory=dict)


UNKNOWN = Defaults()


def defaults_of(ruleset: Mapping[str, Any]) -> Defaults:
    """Those of a managed ruleset as the service answers it. What of it cannot be read is left out."""
    found = {}
    for rule in objects(ruleset.get("rules")):
        identifier, action, categories = rule.get("id"), rule.get("action"), rule.get("categories") or []
        if isinstance(identifier, str) and isinstance(action, str) and isinstance(categories, list):
            named = tuple(one for one in categories if isinstance(one, str))
            found[identifier] = Default(action, named)
    return Defaults(str(ruleset.get("version") or ""), found)


def logs_anyway(
    body: Mapping[str, Any], ruleset: str, rule: str, managed: Mapping[str, Defaults] | None = None
) -> bool:
    """Whether a rule of a managed ruleset only logs in the body as it is, not by its shadow alone: by its own
    override, its categories', the ruleset's, or by default. ``managed``: what is known of the managed
    rulesets; of a rule that it does not have, neither categories nor default count, and in doubt it acts.
    """
    known = (managed or {}).get(ruleset, UNKNOWN)
    found = False
    for execute in body["rules"]:
        parameters = execute.get("action_parameters") or {}
        if execute.get("action") != "execute" or parameters.get("id") != ruleset:
            continue
        if _action(parameters, rule, known) != "log":
            return False
        found = True
    return found


def _action(parameters: Mapping[str, Any], rule: str, known: Defaults) -> object:
    """The action of a rule by an execute rule's parameters; None where it is not known."""
    overrides = parameters.get("overrides") or {}
    listed: list[dict[str, Any]] = overrides.get("rules") or []
    own = next((item for item in listed if item.get("id") == rule), {})
    if own.get("action") is not None:
        return own["action"]
    # Another version may have another default.
    same = parameters.get("version") in (None, "", "latest", known.version)
    default = known.rules.get(rule) if same else None
    if default is not None:
        set_to = [
            item["action"]
            for item in overrides.get("categories") or ()
            if item.get("category") in default.categories and item.get("action") is not None
        ]
        if set_to:
            # Which of several counts is not said.
            return next((action for action in set_to if action != "log"), "log")
    whole = overrides.get("action")
    return whole if whole is not None or default is None else default.action

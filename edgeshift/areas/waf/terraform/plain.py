"""A ruleset body without what says nothing, so that two that do the same are equal. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.model.digests import Body, essence

LATEST = "latest"
"""The version of a managed ruleset that is run where none is named."""

EMPTY: tuple[object, ...] = (None, [], {})
"""What is the same as nothing."""


def plain(body: Mapping[str, Any]) -> Body:
    """The body without what the service assigns, without null and without empty lists and objects; a rule
    that does not say whether it is enabled is. Lists of texts are sets at the service, and sorted here.
    """
    found = essence(
        {**body, "rules": [rule for rule in body.get("rules") or () if isinstance(rule, Mapping)]}
    )
    return {"name": found["name"], "rules": [_rule(rule) for rule in found["rules"]]}


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"enabled": True, "description": "", **_object(rule)}
    parameters = found.get("action_parameters")
    if isinstance(parameters, dict) and parameters.get("version") == LATEST:
        found["action_parameters"] = {key: value for key, value in parameters.items() if key != "version"}
        if not found["action_parameters"]:
            del found["action_parameters"]
    return found


def _object(value: Mapping[str, Any]) -> dict[str, Any]:
    cleaned = {key: _value(item) for key, item in value.items()}
    return {key: item for key, item in cleaned.items() if item not in EMPTY}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _object(value)
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return sorted(set(value))
        # An object in a list keeps its place, also where nothing is left of it.
        return [_value(item) for item in value]
    return value

"""A ruleset body without what says nothing, so that two that do the same are equal. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from edgeshift.model.digests import Body, essence

LATEST = "latest"
"""The version of a managed ruleset that is run where none is named."""

EMPTY: tuple[object, ...] = (None, [], {})
"""What is the same as nothing."""


def plain(body: Mapping[str, Any]) -> Body:
    """The body without what the service assigns, without null and without empty lists and objects; a rule
    that does not say whether it is enabled is, and a skip rule that does not say whether it is logged is
    logged. Lists of texts are sets at the service, and sorted here.
    """
    found = essence(
        {**body, "rules": [rule for rule in body.get("rules") or () if isinstance(rule, Mapping)]}
    )
    return {"name": found["name"], "rules": [_rule(rule) for rule in found["rules"]]}


def without_given(stored: Mapping[str, Any], signed: Mapping[str, Any]) -> Body:
    """The stored body without versions of managed rulesets that the service may have given itself: those of
    execute rules whose signed counterpart, the rule in the same place, names none. Whether it gives any is
    not documented (docs/service.md §2.4). A version that was signed counts.
    """
    return _for_given(stored, signed, _unversioned)


def given_as_latest(stored: Mapping[str, Any], signed: Mapping[str, Any]) -> Body:
    """The stored body with ``latest`` in place of each version that ``without_given`` leaves out."""
    return _for_given(stored, signed, lambda rule: _versioned(rule, LATEST))


def given_numbers(stored: Mapping[str, Any], signed: Mapping[str, Any]) -> bool:
    """Whether a version that ``without_given`` leaves out is another one than ``latest``."""
    beside = signed.get("rules") or ()
    return any(
        given_version(rule, own) not in (None, LATEST)
        for rule, own in zip(stored.get("rules") or (), beside, strict=False)
    )


def _for_given(
    stored: Mapping[str, Any],
    signed: Mapping[str, Any],
    instead: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> Body:
    """The stored body with ``instead`` of each rule whose version its signed counterpart does not name."""
    beside = list(signed.get("rules") or ())
    found = []
    for place, rule in enumerate(stored.get("rules") or ()):
        own = beside[place] if place < len(beside) else None
        found.append(instead(rule) if given_version(rule, own) is not None else rule)
    return {**stored, "rules": found}


def given_version(stored: object, signed: object) -> object:
    """The version of its managed ruleset that a stored execute rule names and its signed counterpart does
    not; None where there is no such.
    """
    if not isinstance(stored, Mapping) or not isinstance(signed, Mapping):
        return None
    if stored.get("action") != "execute" or signed.get("action") != "execute":
        return None
    return _version(stored) if _version(signed) is None else None


def _version(rule: Mapping[str, Any]) -> object:
    parameters = rule.get("action_parameters")
    return parameters.get("version") if isinstance(parameters, Mapping) else None


def _versioned(rule: Mapping[str, Any], version: str) -> dict[str, Any]:
    return {**rule, "action_parameters": {**rule["action_parameters"], "version": version}}


def _unversioned(rule: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in rule["action_parameters"].items() if key != "version"}
    return {**rule, "action_parameters": kept}


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"enabled": True, "description": "", **_object(rule)}
    if found.get("action") == "skip" and _as_given(found.get("logging")):
        del found["logging"]
    parameters = found.get("action_parameters")
    if isinstance(parameters, dict) and parameters.get("version") == LATEST:
        found["action_parameters"] = {key: value for key, value in parameters.items() if key != "version"}
        if not found["action_parameters"]:
            del found["action_parameters"]
    return found


def _as_given(logging: object) -> bool:
    """Whether it is the ``logging`` that the service gives a skip rule (docs/service.md §2.4, observed)."""
    return isinstance(logging, Mapping) and logging.keys() == {"enabled"} and logging["enabled"] is True


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

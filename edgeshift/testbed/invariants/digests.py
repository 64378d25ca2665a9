"""Digests and fingerprints of what people sign, computed here anew so that they check the campaign's own.

The definitions are those of docs/service.md §4.3: the canonical JSON (RFC 8785) of name and rules without
what the service assigns, or of all of a body that is no ruleset; for the fingerprint, the zone's name (as a
host name or a parent of one) and identifier are replaced, each by its own stand-in; a NUL is doubled before
that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import rfc8785

from edgeshift.testbed.invariants.installed import bodies

_ASSIGNED = ("id", "version", "ref", "last_updated")
SIGNABLE = frozenset({"disable_esc", "log_fields"})
"""The names of bodies that are no rulesets, of the areas of edgeshift itself."""

_NAME = "\x00@\x00"
_IDENTIFIER = "\x00#\x00"


def body_digest(body: dict[str, Any]) -> str:
    """The digest of a body."""
    return _hash(_kept(body))


def body_fingerprint(body: dict[str, Any], zone_id: str, zone_name: str) -> str:
    """The digest of a body without what names the zone."""
    return _hash(_without(_kept(body), zone_id, zone_name))


def by_digest(bodies: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Bodies by their digests. What is neither a ruleset body nor one of an area is left out: nothing was
    ever signed like it.
    """
    return {body_digest(body): body for body in bodies if is_signable(body)}


def without_versions(body: dict[str, Any]) -> dict[str, Any]:
    """A stored body as it may have been sent: the service may name the version of a managed ruleset where
    what it was sent did not.
    """
    rules = body.get("rules")
    return {**body, "rules": [_unversioned(rule) for rule in rules]} if isinstance(rules, list) else body


def _unversioned(rule: Any) -> Any:
    parameters = rule.get("action_parameters") if isinstance(rule, dict) else None
    if not isinstance(parameters, dict) or rule.get("action") != "execute":
        return rule
    return {**rule, "action_parameters": {key: parameters[key] for key in parameters if key != "version"}}


def is_signable(body: dict[str, Any]) -> bool:
    """Whether a document is a body that people sign."""
    if "rules" in body:
        return isinstance(body["rules"], list)
    return body.get("name") in SIGNABLE | bodies()


def _kept(body: dict[str, Any]) -> dict[str, Any]:
    if "rules" not in body:
        return body
    rules = [{key: rule[key] for key in rule if key not in _ASSIGNED} for rule in body["rules"]]
    return {"name": body.get("name", "default"), "rules": rules}


def _hash(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def _without(value: Any, zone_id: str, zone_name: str) -> Any:
    if isinstance(value, str):
        return _replace_name(value.replace("\x00", "\x00\x00").replace(zone_id, _IDENTIFIER), zone_name)
    if isinstance(value, list):
        return [_without(item, zone_id, zone_name) for item in value]
    if isinstance(value, dict):
        return {
            _without(key, zone_id, zone_name): _without(item, zone_id, zone_name)
            for key, item in value.items()
        }
    return value


def _replace_name(text: str, name: str) -> str:
    """``text`` with the host name replaced where it stands whole, or as the parent of another host."""
    parts: list[str] = []
    place = 0
    while (found := text.find(name, place)) >= 0:
        end = found + len(name)
        if _begins_whole(text[:found][-1:]) and _ends_whole(text[end : end + 2]):
            parts += [text[place:found], _NAME]
            place = end
        else:
            parts.append(text[place : found + 1])
            place = found + 1
    return "".join([*parts, text[place:]])


def _begins_whole(before: str) -> bool:
    return not before or not (before.isalnum() or before in "_-")


def _ends_whole(after: str) -> bool:
    if not after:
        return True
    if after[0].isalnum() or after[0] in "_-":
        return False
    return not (after[0] == "." and len(after) > 1 and (after[1].isalnum() or after[1] == "_"))

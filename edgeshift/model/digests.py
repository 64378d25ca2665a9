"""Digests and fingerprints of proposals.

The digest of a proposal is the SHA-256 of its canonical JSON (RFC 8785) without what the service assigns to
a rule (``id``, ``version``, ``ref``, ``last_updated``): it says nothing of what the rule does, and may be
empty or change (docs/service.md §2.4). A commit is sent with it all the same, as the service gives it just
before: it may be left out for validation alone (§4.3). Identifiers inside ``action_parameters`` name managed
rulesets and rules, so they are part of the digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

import rfc8785

from edgeshift.model.fleet import Zone

Body = dict[str, Any]
"""What people sign: a ruleset body ``{"name": str, "rules": [rule, ...]}``, or another area's own."""

SERVICE_ASSIGNED = frozenset({"id", "version", "ref", "last_updated"})

_NAME = "\x00@\x00"
_IDENTIFIER = "\x00#\x00"
_PLACEHOLDER = re.compile("\x00(?:\x00|[@#]\x00)?")


class NotCanonical(ValueError):
    """A body that has no canonical JSON, such as one with a number past 2^53."""


def canonical_bytes(value: object) -> bytes:
    """The canonical JSON of ``value`` (RFC 8785). Raises NotCanonical."""
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as why:
        raise NotCanonical(f"the body has no canonical JSON: {type(why).__name__}") from None


def sha256(data: bytes) -> str:
    """SHA-256 in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def essence(body: Mapping[str, Any]) -> Body:
    """What counts of a body: of a ruleset its name and its rules, without what the service assigns; of any
    other body all of it. Raises NotCanonical where its rules are no list of objects: anybody who can write to
    the archive may have laid it there.
    """
    if "rules" not in body:
        return dict(body)
    if not isinstance(body["rules"], list) or not all(isinstance(rule, Mapping) for rule in body["rules"]):
        raise NotCanonical("the rules of the body are no list of objects")
    return {
        "name": body.get("name", "default"),
        "rules": [
            {key: value for key, value in rule.items() if key not in SERVICE_ASSIGNED}
            for rule in body["rules"]
        ],
    }


def digest(body: Mapping[str, Any]) -> str:
    """The digest of a body. Raises NotCanonical."""
    return sha256(canonical_bytes(essence(body)))


def fingerprint(body: Mapping[str, Any], zone: Zone) -> str:
    """The digest of a body without what names the zone: its name and its identifier, wherever they stand."""
    return sha256(canonical_bytes(anonymous(body, zone)))


def anonymous(body: Mapping[str, Any], zone: Zone) -> Body:
    """What counts of a body, with a placeholder where it names the zone. ``named`` undoes it.

    The name is replaced only as a whole host name or its parent domain, so that ``shop.example`` does not
    touch ``myshop.example`` or ``shop.example.org``. Name and identifier have a placeholder each, and a NUL
    in the body is doubled before, so that two bodies of one zone have equal fingerprints only if they are
    equal.
    """
    name = re.compile(rf"(?<![\w-]){re.escape(zone.name)}(?![\w-]|\.\w)")

    def without(text: str) -> str:
        return name.sub(_NAME, text.replace("\x00", "\x00\x00").replace(zone.id, _IDENTIFIER))

    found: Body = _each_text(essence(body), without)
    return found


def named(body: Mapping[str, Any], zone: Zone) -> Body:
    """The body of a zone, of one that names none. Raises ValueError where it has a placeholder of nothing."""
    names = {"\x00\x00": "\x00", _NAME: zone.name, _IDENTIFIER: zone.id}

    def put(found: re.Match[str]) -> str:
        if found[0] not in names:
            raise ValueError("a body with a placeholder that stands for nothing")
        return names[found[0]]

    found: Body = _each_text(body, lambda text: _PLACEHOLDER.sub(put, text))
    return found


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """JSON with each of its texts changed, names of fields too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(key): _each_text(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_each_text(item, change) for item in value]
    return value

"""Reads Terraform configuration as the provider would: parsed by python-hcl2, held against the provider's own
schema, and turned back into the service's JSON. It shares no code with what writes.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import hcl2

Json = dict[str, Any]

FACTS = json.loads((Path(__file__).parent / "provider_schema.json").read_text(encoding="utf-8"))
VERSIONS: dict[str, Json] = {version: facts["blocks"] for version, facts in FACTS["versions"].items()}
"""Each version's attributes by block: ``required``, ``optional`` or ``read-only``, and their type."""

SINGLE = frozenset(
    {
        "action_parameters",
        "overrides",
        "matched_data",
        "response",
        "logging",
        "ratelimit",
        "exposed_credential_check",
    }
)
"""Objects of which the service takes one."""

_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_TOKEN = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|\\(.)|([$%])\4\{|([$%])\{|(.)", re.DOTALL)


@dataclass(frozen=True)
class Resource:
    """A resource as it was read. ``rules``: as the service would have them. ``rest``: its other values."""

    label: str
    rules: list[Json]
    rest: Json


def versions_in(constraint: str) -> list[str]:
    """The versions with a known schema that a constraint of ``required_providers`` takes."""
    tests = [part.split() for part in constraint.split(",")]

    def takes(version: str) -> bool:
        return all(
            _number(version) >= _number(bound) if sign == ">=" else _number(version) < _number(bound)
            for sign, bound in tests
        )

    return [version for version in VERSIONS if takes(version)]


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def text_of(literal: str) -> str:
    """The text that a quoted literal stands for. Fails where a template would begin."""
    assert literal[0] == literal[-1] == '"' and len(literal) > 1, literal
    found = []
    for number, long, escape, sign, template, plain in _TOKEN.findall(literal[1:-1]):
        assert not template, f"a template begins in {literal}"
        assert plain != '"' and not (plain and plain < " "), literal
        if number or long:
            found.append(chr(int(number or long, 16)))
        else:
            found.append(_ESCAPED[escape] if escape else f"{sign}{{" if sign else plain)
    return "".join(found)


def parsed(text: str) -> Json:
    """The configuration as python-hcl2 has it."""
    return copy.deepcopy(_parsed(text))


@lru_cache(maxsize=8)
def _parsed(text: str) -> Json:
    return dict(hcl2.loads(text))


def resources(text: str, version: str) -> list[Resource]:
    """Every ruleset of a configuration, read by the schema of a version of the provider."""
    return [
        _resource(text_of(label), content, VERSIONS[version])
        for one in parsed(text).get("resource", [])
        for kind, labelled in one.items()
        for label, content in labelled.items()
        if text_of(kind) == "cloudflare_ruleset"
    ]


def _resource(label: str, content: Json, schema: Json) -> Resource:
    assert content.pop("__is_block__")
    (lifecycle,) = content.pop("lifecycle")
    assert lifecycle == {"prevent_destroy": True, "__is_block__": True}
    values = _object(content, "", schema)
    return Resource(label, values.pop("rules", []), values)


def _object(content: Json, path: str, schema: Json) -> Json:
    known: dict[str, str] = schema[path]
    found: Json = {}
    for name, value in content.items():
        if name == "__is_block__":
            continue
        mode, _, kind = known[name].partition(": ")
        assert mode != "read-only", f"{path}.{name} is read-only"
        assert "Deprecated" not in kind, f"{path}.{name} is deprecated: the provider drops it"
        key, read = _value(name, value, kind, f"{path}.{name}".lstrip("."), schema)
        found[key] = read
    return found


def _value(name: str, value: Any, kind: str, path: str, schema: Json) -> tuple[str, Any]:
    if kind.startswith(("Block", "Attributes")):
        blocks = kind.startswith("Block")
        listed = value if isinstance(value, list) else [value]
        assert all(("__is_block__" in one) is blocks for one in listed), path
        assert blocks or isinstance(value, list) is kind.startswith("Attributes List"), path
        read = [_object(one, path, schema) for one in listed]
        if name in SINGLE:
            assert len(read) == 1, path
            return name, read[0]
        return name, read
    if kind in ("Set of String", "List of String"):
        return name, [text_of(one) for one in value]
    if kind == "Map of String":
        return name, {text_of(key): text_of(one).split(",") for key, one in value.items()}
    if kind == "Map of List of String":
        return name, {text_of(key): [text_of(part) for part in one] for key, one in value.items()}
    if kind == "Boolean":
        assert isinstance(value, bool), path
        return name, value
    if kind == "Number":
        assert isinstance(value, int) and not isinstance(value, bool), path
        return name, value
    assert kind == "String", (path, kind)
    if name == "status":
        return "enabled", {"enabled": True, "disabled": False}[text_of(value)]
    return name, text_of(value)

"""A new campaign file with some options filled in: the text stays, with its comments. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_OPTION = re.compile(r"^(?P<indent> *)(?P<key>[a-z_]+):(?: .*)?$")


def filled(text: str, known: Mapping[str, Any]) -> str:
    """``text``, a file with every option, each on a line of its own, with the values of ``known`` in place of
    its defaults. What the file does not have is left out. JSON's scalars and lists are YAML too.
    """
    return "\n".join(_lines(text.splitlines(), known)) + "\n"


def _lines(lines: list[str], known: Mapping[str, Any]) -> Iterator[str]:
    path: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if (option := _OPTION.match(line)) is None:
            yield line
            continue
        depth = len(option["indent"]) // 2
        path = [*path[:depth], option["key"]]
        found, value = _at(known, path)
        if not found or isinstance(value, Mapping):
            yield line
            continue
        end = at
        while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > len(option["indent"]):
            end += 1
        at = end if lines[at - 1].rstrip().endswith(":") else at
        yield from _written(option["indent"], option["key"], value)


def _written(indent: str, key: str, value: Any) -> Iterator[str]:
    if not (isinstance(value, list) and value and isinstance(value[0], Mapping)):
        yield f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}"
        return
    yield f"{indent}{key}:"
    for item in value:
        for number, (name, one) in enumerate(item.items()):
            yield f"{indent}  {'- ' if not number else '  '}{name}: {json.dumps(one, ensure_ascii=False)}"


def _at(known: Mapping[str, Any], path: list[str]) -> tuple[bool, Any]:
    value: Any = known
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return False, None
        value = value[key]
    return True, value

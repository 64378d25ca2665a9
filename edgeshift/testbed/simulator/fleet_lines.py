"""On which line of a text a field stands: only needed once a file is known to be wrong."""

import json
import re
from typing import Any

from ruamel.yaml import YAML

from edgeshift.testbed.simulator.fleet_models import Where

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def line_in_yaml(text: str, where: Where) -> int | None:
    """The 1-based line of the deepest part of `where` that the text has."""
    node: Any = YAML(typ="safe", pure=True).compose(text)
    line = 1
    for part in where:
        if node is None:
            return line
        if node.id == "mapping":
            pairs = [(key, value) for key, value in node.value if key.value == str(part)]
            if not pairs:
                return line
            line, node = pairs[0][0].start_mark.line + 1, pairs[0][1]
        elif node.id == "sequence" and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            return line
    return line


def line_in_json(text: str, where: Where) -> int | None:
    """The 1-based line of the deepest part of `where` that the text has; the text is known to be JSON."""
    at = _skip(text, 0)
    for part in where:
        found = (
            _key(text, at, str(part))
            if text[at] == "{"
            else _item(text, at, part)
            if text[at] == "["
            else None
        )
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _key(text: str, at: int, wanted: str) -> int | None:
    at = _skip(text, at + 1)
    while text[at] == '"':
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if name == wanted:
            return at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
    return None


def _item(text: str, at: int, wanted: str | int) -> int | None:
    at = _skip(text, at + 1)
    number = 0
    while text[at] != "]":
        if number == wanted:
            return at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
        number += 1
    return None

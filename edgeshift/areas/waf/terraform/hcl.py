"""Terraform's language, as far as it is written here: texts, lists, maps, blocks. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from edgeshift.runtime.safe_text import hides

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TEMPLATE = re.compile(r"[$%](?=\{)")


def quoted(text: str) -> str:
    """A text in quotes. ``${`` and ``%{`` would begin a template there. To double the sign is read otherwise
    after another one, and by some readers without a ``}``, so it is written by its number. So is what a
    terminal would obey, or nobody would see.

    Raises ValueError for a text that Terraform would not keep as it is.
    """
    if why := unkept(text):
        raise ValueError(why)
    escaped = "".join(_escaped(sign) if sign in _ESCAPES or hides(sign) else sign for sign in text)
    return f'"{_TEMPLATE.sub(lambda found: _numbered(found[0]), escaped)}"'


def unkept(text: str) -> str | None:
    """Why Terraform would not keep a text as it is, or None."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    if not unicodedata.is_normalized("NFC", text):
        return "it is not in Unicode's normal form C, into which Terraform would bring it"
    return None


def _escaped(sign: str) -> str:
    return _ESCAPES.get(sign) or _numbered(sign)


def _numbered(sign: str) -> str:
    number = ord(sign)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def listed(values: Iterable[str]) -> str:
    """A list of texts, on one line."""
    return f"[{', '.join(map(quoted, values))}]"


def mapped(values: Mapping[str, str]) -> str:
    """A map on one line, from texts to values that are written already."""
    return f"{{ {', '.join(f'{quoted(key)} = {value}' for key, value in values.items())} }}"


@dataclass(frozen=True)
class Item:
    """One thing in a body: an attribute whose ``value`` is written already, or one that has ``bodies``.

    ``head``: its name, for a block with its labels. ``many``: whether its bodies are a list of objects.
    """

    head: str
    value: str = ""
    bodies: tuple[tuple[Item, ...], ...] = ()
    many: bool = False


def written(items: Sequence[Item], *, attributes: bool, indent: int = 0) -> list[str]:
    """The lines of a body as `terraform fmt` lays them out. ``attributes``: nested objects are written as
    attributes.
    """
    pad = " " * indent
    lines: list[str] = []
    chain: list[Item] = []
    for item in items:
        if not item.bodies:
            chain.append(item)
            continue
        lines += _aligned(chain, pad)
        chain = []
        if attributes:
            lines += _as_attribute(item, pad, indent)
            continue
        for body in item.bodies:
            inner = written(body, attributes=attributes, indent=indent + 2)
            lines += [f"{pad}{item.head} {{", *inner, f"{pad}}}"]
    return lines + _aligned(chain, pad)


def _as_attribute(item: Item, pad: str, indent: int) -> list[str]:
    if not item.many:
        inner = written(item.bodies[0], attributes=True, indent=indent + 2)
        return [f"{pad}{item.head} = {{", *inner, f"{pad}}}"]
    lines = [f"{pad}{item.head} = ["]
    for body in item.bodies:
        inner = written(body, attributes=True, indent=indent + 4)
        lines += [f"{pad}  {{", *inner, f"{pad}  }},"]
    return [*lines, f"{pad}]"]


def _aligned(chain: Sequence[Item], pad: str) -> list[str]:
    width = max((len(item.head) for item in chain), default=0)
    return [f"{pad}{item.head:<{width}} = {item.value}" for item in chain]


def block(head: str, *items: Item, attributes: bool = False) -> list[str]:
    """The lines of a block with a body of its own: ``head``: its type and labels."""
    return [f"{head} {{", *written(items, attributes=attributes, indent=2), "}"]

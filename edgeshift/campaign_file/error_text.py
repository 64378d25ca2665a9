"""What pydantic complains of in a campaign file, as people read it: where it is, what is wrong, what would be
right. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from edgeshift.campaign_file.options import field_at, keys_at, model_at, options
from edgeshift.model.validators import QUOTED, RIGHT, WHOLE, Where, place_of

MAY_BE_SECRET = frozenset(
    {
        *("token", "key", "secret", "proxy", "webhook", "base_url", "email", "ca_file"),
        *("destination", "challenge", "entries", "urls", "edge"),
    }
)
"""Fields whose value is never shown: they hold secrets, or URLs that can carry one."""

_EXAMPLES = {"name": "name: waf-2024", "targets": "targets: {all: true}"}
_YAML_TROUBLE = (
    (r"tab|'\\t'", "a tab stands where YAML takes spaces only"),
    (r"mapping values are not allowed", "a second `key:` in one line, or a line that is indented too far"),
    (r"undefined alias", "a value that begins with * must stand in quotes"),
    (r"cannot start any token", "a value that begins with this character must stand in quotes"),
    (r"quoted scalar|escape", "a quoted text is not closed, or has a wrong escape after \\"),
    (r"flow (sequence|mapping)", "a [ or { is not closed, or a comma is missing"),
    (r"expected <block end>", "the indentation does not fit the lines above"),
    (r"another document", "a campaign file is one document; remove the ---"),
    (r"could not find expected ':'", "a key needs a colon and a space after it"),
    (r"tag|anchor|alias", "a value that begins with ! & or * must stand in quotes"),
)


def parse_trouble(problem: str | None, context: str | None) -> str:
    """What the YAML parser complains of, without what stood there, since that may be a secret."""
    for text in (problem or "", context or ""):
        for pattern, said in _YAML_TROUBLE:
            if re.search(pattern, text):
                return f"not YAML: {said}"
    return "not YAML: the line cannot be read; look for a missing colon, quote or bracket"


def in_words(problem: ValidationError) -> list[tuple[Where, str]]:
    """Each complaint of the model, with its path, for people."""
    found: list[tuple[Where, str]] = []
    listed: set[tuple[str, ...]] = set()
    every = problem.errors(include_url=False)
    for item in every:
        where = place_of(item["loc"])
        message = item["msg"].removeprefix("Value error, ")
        kind = item["type"]
        if kind == "too_short" and any(
            other["loc"][: len(where)] == where for other in every if other is not item
        ):
            # Items that are wrong do not count for the model; they are complained of themselves.
            continue
        if kind == "extra_forbidden":
            found.append((_safe(where), _unknown_key(where, listed)))
        elif kind == "missing":
            example = _EXAMPLES.get(str(where[-1]))
            found.append((where, "must be given" + (f", such as `{example}`" if example else "")))
        elif kind in ("value_error", "rule"):
            found.append((where, message))
        else:
            found.append((where, _wrong(kind, where, item)))
    return found


def _wrong(kind: str, where: Where, item: Mapping[str, Any]) -> str:
    context = item.get("ctx") or {}
    value = item["input"]
    right, is_whole = _right(where)
    subject = _subject(where, value)
    wanted = {
        "string_type": "a text" + (" (in quotes)" if isinstance(value, (int, float)) else ""),
        "bool_type": "true or false" + (" (without quotes)" if value in ("true", "false") else ""),
        "int_type": "a whole number",
        "int_parsing": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "float_parsing": "a number",
        "finite_number": "a number",
        QUOTED: "a number (without quotes)",
        "tuple_type": "a list",
        "list_type": "a list",
        "model_type": f"a mapping with the keys {', '.join(keys_at(where))}",
        "model_attributes_type": f"a mapping with the keys {', '.join(keys_at(where))}",
        "greater_than_equal": f"at least {_number(context, 'ge')}",
        "greater_than": f"more than {_number(context, 'gt')}",
        "less_than_equal": f"at most {_number(context, 'le')}",
        "less_than": f"less than {_number(context, 'lt')}",
        "string_too_short": "not empty"
        if context.get("min_length") == 1
        else f"at least {context.get('min_length')} long",
        "string_too_long": f"at most {context.get('max_length')} characters long",
    }
    if kind == "string_type" and right:
        return f"{subject}; {right}"
    if kind in wanted:
        return f"{subject}; it must be {wanted[kind]}"
    if kind in ("enum", "literal_error"):
        expected = [part.strip(" '\"") for part in re.split(r",| or ", str(context.get("expected", "")))]
        near = get_close_matches(_text(value), expected, n=1) if where[-1] not in MAY_BE_SECRET else []
        return f"{subject}; it must be {_either(expected)}" + (f" (did you mean {near[0]}?)" if near else "")
    if kind in ("too_long", "too_short"):
        least, most, has = context.get("min_length"), context.get("max_length"), context.get("actual_length")
        return (
            f"has {has} items; it must have at {f'most {most}' if kind == 'too_long' else f'least {least}'}"
        )
    if right:
        # What is no reference is a secret in the wrong place: the sentence that says so needs no subject.
        return right if is_whole else f"{subject}; {right}"
    return f"{subject}; {str(item['msg']).removeprefix('Input ').removeprefix('Value ')}"


def _number(context: Mapping[str, Any], name: str) -> str:
    found = context.get(name)
    return (
        f"{found:g}"
        if isinstance(found, float) and abs(found) < 1e6
        else f"{found:,.0f}"
        if found
        else str(found)
    )


def _subject(where: Where, value: object) -> str:
    """What was given, shown only where it cannot be a secret."""
    if isinstance(value, Mapping):
        return "is a mapping"
    if isinstance(value, list):
        return "is a list"
    if value is None:
        return "is empty"
    if _secret(where):
        return "is not right (its value is not shown)"
    if isinstance(value, bool):
        return f"is {str(value).lower()}"
    text = repr(value) if isinstance(value, str) else _text(value)
    return f"is {text if len(text) <= 60 else text[:57] + '…'}"


def _text(value: object) -> str:
    """The value as text. Python writes out no number of thousands of digits."""
    huge = isinstance(value, int) and value.bit_length() > 200
    return "a number of more than 60 digits" if huge else str(value)


def _secret(where: Where) -> bool:
    """Whether what stands there may be a secret: also a text in place of a mapping that can hold one."""
    if "credentials" in where or any(part in MAY_BE_SECRET for part in where):
        return True
    model = model_at(where)
    return model is not None and any(
        option.path.rpartition(".")[2] in MAY_BE_SECRET for option in options(model)
    )


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _right(where: Where) -> tuple[str, bool]:
    """What would be right there, if the model says it of the field; whether it says what is wrong as well."""
    field = field_at(where)
    extra = field.json_schema_extra if field else None
    return (str(extra.get(RIGHT, "")), WHOLE in extra) if isinstance(extra, dict) else ("", False)


def _safe(where: Where) -> Where:
    """The path without an unknown key that does not look like one: it might be a secret in the wrong
    place. Among credentials any might be that is not like a known one.
    """
    last, around = str(where[-1]), where[:-1]
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,30}", last)
    if "credentials" in around:
        plain = plain if _near(where) else None
    return where if plain and not (_secret(around) and len(last) > 20) else around


def _near(where: Where) -> str:
    """The key that is known there and like this one; empty where none is."""
    found = get_close_matches(str(where[-1]).lower().replace("-", "_"), keys_at(where[:-1]), n=1)
    return found[0] if found else ""


def _unknown_key(where: Where, listed: set[tuple[str, ...]]) -> str:
    """That a key is unknown, with the one that is like it, or else with those that are known there. Such a
    list is given once, and noted in ``listed``: a file about other things has many keys.
    """
    known = keys_at(where[:-1])
    what = "unknown key" if _safe(where) == where else "an unknown key (not shown)"
    if near := _near(where):
        return f"{what}; did you mean {near}?"
    if (names := tuple(known)) in listed:
        return what
    listed.add(names)
    return f"{what}; known here are {', '.join(known)}"

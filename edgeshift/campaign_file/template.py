"""The commented campaign file that ``edgeshift init`` writes: every option of its area with its default
and what it means. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any, get_origin

from pydantic import BaseModel

from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.meanings import EXAMPLES, MAPPINGS, MEANINGS
from edgeshift.campaign_file.mistakes import model_in
from edgeshift.campaign_file.spec import SECTIONS, CampaignSpec, TargetSpec
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import Area

PLACEHOLDER = "www.shop.example"
"""The zone of no meaning that a new file has as its target."""

PLACEHOLDER_FIELD = "x-request-id"
"""The field that a new file of the area log-fields has, since one without any is refused."""

ONLY_WAF = ("tickets", "waits_for_support")
"""Parts that mean nothing where no zone needs the provider's support."""

_TOP = """\
# A campaign of edgeshift. Every option is here with its default and may be left out,
# but for {needed}. Durations are written as 90s, 10m, 72h, 14d or 1h30m.
#
#   edgeshift plan FILE      reads every zone and shows what would happen; it changes nothing
#   edgeshift start FILE     starts the campaign; {promise}
"""

_HEAD = {
    Area.WAF: _TOP.format(
        needed="name and targets", promise="nothing irreversible happens without a sign-off"
    ),
    Area.ESC: _TOP.format(
        needed="name, targets and area", promise="a test secret and a probe come before each sign-off"
    ),
    Area.LOG_FIELDS: _TOP.format(
        needed="name, targets, area and log_fields", promise="nothing is written without a sign-off"
    ),
}


def sections(area: Area) -> list[str]:
    """The parts of a campaign file that mean something in this area, in their order."""
    return [
        key
        for key in CampaignSpec.model_fields
        if SECTIONS.get(key, area) is area and (area is Area.WAF or key not in ONLY_WAF)
    ]


def template_spec(name: str, area: Area) -> CampaignSpec:
    """The campaign that ``campaign_text`` writes: every default, one zone and one field of no meaning."""
    fields = (
        LogFieldsSpec(request_headers=(PLACEHOLDER_FIELD,)) if area is Area.LOG_FIELDS else LogFieldsSpec()
    )
    targets = TargetSpec(include=(PLACEHOLDER,))
    return CampaignSpec(name=name, targets=targets, area=area, log_fields=fields)


def campaign_text(name: str, area: Area = Area.WAF) -> str:
    """A campaign file of this area, with every option that it has at its default."""
    spec = template_spec(name, area)
    lines = [_HEAD[area].replace("FILE", f"{name}.yaml").rstrip()]
    for key in sections(area):
        lines += ["", *_option(spec, key, "", 0)]
    return "\n".join(lines) + "\n"


def _mapping(model: BaseModel, path: str, depth: int) -> Iterator[str]:
    for key in type(model).model_fields:
        yield from _option(model, key, path, depth)


def _option(model: BaseModel, key: str, path: str, depth: int) -> Iterator[str]:
    pad = "  " * depth
    inner, value = f"{path}{key}", getattr(model, key)
    yield f"{pad}# {MEANINGS[inner]}"
    if isinstance(value, BaseModel):
        yield f"{pad}{key}:"
        yield from _mapping(value, f"{inner}.", depth + 1)
    elif inner in MAPPINGS:
        yield f"{pad}{key}: {_plain(value)}"
        yield from _example(type(model), key, inner, pad, [MAPPINGS[inner]], "")
    elif model_in(type(model).model_fields[key].annotation) is None:
        yield f"{pad}{key}: {_plain(value)}"
    elif value:
        yield f"{pad}{key}:"
        for item in value:
            yield from _item(item, f"{inner}.", depth + 1)
    else:
        yield f"{pad}{key}: []"
        yield from _example(type(model), key, inner, pad, EXAMPLES[inner], "- ")


def _item(model: BaseModel, path: str, depth: int) -> Iterator[str]:
    """One item of a list: its first line begins with a hyphen."""
    pad = "  " * depth
    first = True
    for line in _mapping(model, path, depth + 1):
        if first and not line.lstrip().startswith("#"):
            yield f"{pad}- {line.lstrip()}"
            first = False
        else:
            yield line


def _example(
    model: type[BaseModel], key: str, path: str, pad: str, examples: Sequence[Mapping[str, Any]], mark: str
) -> Iterator[str]:
    """What could be here, as comments that become the real thing without their ``# ``."""
    annotation = model.model_fields[key].annotation
    inner = model_in(annotation)
    assert inner is not None
    keyed = get_origin(annotation) is dict
    instead = "[]" if mark else "{}" if keyed else "null"
    which = "each" if mark or keyed else "it"
    yield f"{pad}# For example, in place of the {instead}; the keys of {which} are:"
    for field in inner.model_fields:
        yield f"{pad}#   {field}: {MEANINGS[f'{path}.{field}']}"
    for example in examples:
        yield f"{pad}# {mark}{_inline(example)}"


def _inline(value: Mapping[str, Any]) -> str:
    return f"{{{', '.join(f'{name}: {_plain(item)}' for name, item in value.items())}}}"


def _plain(value: object) -> str:
    """A value as YAML."""
    if isinstance(value, timedelta):
        return say_duration(value).replace(" ", "")
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, Mapping):
        return _inline(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str):
        # Words that are safe as they stand are easier to read without quotes.
        safe = value and all(char.isalnum() or char in "-_./:" for char in value) and not value.isdigit()
        return value if safe and not value.endswith(":") else json.dumps(value)
    return str(value)

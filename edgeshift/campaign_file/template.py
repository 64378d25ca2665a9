"""The commented campaign file that ``edgeshift init`` writes: every option of its area with its default
and what it means. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from edgeshift.areas import area_of
from edgeshift.campaign_file.of_area import CAMPAIGN_FILE
from edgeshift.campaign_file.options import as_yaml, model_in, sections
from edgeshift.campaign_file.spec import CampaignSpec, TargetSpec
from edgeshift.model.fleet import DEFAULT_AREA, Area

PLACEHOLDER = "www.shop.example"
"""The zone of no meaning that a new file has as its target."""

_TOP = """\
# A campaign of edgeshift. Every option is here with its default and may be left out,
# but for {needed}. Durations are written as 90s, 10m, 72h, 14d or 1h30m.
#
#   edgeshift plan FILE      reads every zone and shows what would happen; it changes nothing
#   edgeshift start FILE     starts the campaign; {promise}
#
# `edgeshift campaign-schema` prints the JSON schema by which editors complete and check it.
"""


def template_spec(name: str, area: Area) -> CampaignSpec:
    """The campaign that ``campaign_text`` writes: every default, one zone and one field of no meaning."""
    targets, more = TargetSpec(include=(PLACEHOLDER,)), CAMPAIGN_FILE.of(area).template()
    return CampaignSpec.model_validate({"name": name, "targets": targets, "area": area, **more})


def campaign_text(name: str, area: Area = DEFAULT_AREA) -> str:
    """A campaign file of this area, with every option that it has at its default."""
    spec = template_spec(name, area)
    entry = area_of(area)
    head = _TOP.format(needed=entry.needs, promise=entry.promise)
    lines = [head.replace("FILE", f"{name}.yaml").rstrip()]
    for key in sections(area):
        lines += ["", *_option(spec, key, 0)]
    return "\n".join(lines) + "\n"


def _mapping(model: BaseModel, depth: int) -> Iterator[str]:
    for key in type(model).model_fields:
        yield from _option(model, key, depth)


def _option(model: BaseModel, key: str, depth: int) -> Iterator[str]:
    pad, field, value = "  " * depth, type(model).model_fields[key], getattr(model, key)
    yield f"{pad}# {_meaning(field, value)}"
    if isinstance(value, BaseModel):
        yield f"{pad}{key}:"
        yield from _mapping(value, depth + 1)
    elif model_in(field.annotation) is not None and isinstance(value, tuple) and value:
        yield f"{pad}{key}:"
        for item in value:
            yield from _item(item, depth + 1)
    else:
        yield f"{pad}{key}: {as_yaml(value)}"
        if model_in(field.annotation) is not None:
            yield from _example(field, value, pad)


def _meaning(field: FieldInfo, value: object) -> str:
    """What an option means. Of areas the model names those that edgeshift brings, and no installed one."""
    if isinstance(value, Area) and value.value not in str(field.description):
        return f"What is changed: {value.value} ({area_of(value).title})."
    return str(field.description)


def _item(model: BaseModel, depth: int) -> Iterator[str]:
    """One item of a list: its first line begins with a hyphen."""
    pad = "  " * depth
    first = True
    for line in _mapping(model, depth + 1):
        if first and not line.lstrip().startswith("#"):
            yield f"{pad}- {line.lstrip()}"
            first = False
        else:
            yield line


def _example(field: FieldInfo, value: object, pad: str) -> Iterator[str]:
    """What could be here, as comments that become the real thing without their ``# ``."""
    inner, (example,) = model_in(field.annotation), field.examples or [None]
    assert inner is not None and example is not None
    one = value is None
    yield f"{pad}# For example, in place of the {as_yaml(value)}; the keys of {'it' if one else 'each'} are:"
    for name, option in inner.model_fields.items():
        yield f"{pad}#   {name}: {option.description}"
    if isinstance(example, list):
        yield from (f"{pad}# - {as_yaml(item)}" for item in example)
    else:
        yield f"{pad}# {as_yaml(example)}"

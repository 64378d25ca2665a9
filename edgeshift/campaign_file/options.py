"""The options of a campaign file, as its model has them: which there are, what each means, how its value is
written. Pure.

Errors, the commented file, the documentation's tables and the JSON schema all look options up here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from edgeshift.areas import area_of
from edgeshift.campaign_file.sections import SECTIONS
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import Area
from edgeshift.model.validators import Where

OF_SUPPORT = ("tickets", "waits_for_support")
"""Parts that mean nothing where no zone needs the provider's support."""


class Option(NamedTuple):
    """One option: its path without indexes (``service.credentials.token``), and its field in the model."""

    path: str
    field: FieldInfo

    @property
    def meaning(self) -> str:
        """What it means, in one sentence or two."""
        return str(self.field.description)

    @property
    def usual(self) -> str:
        """Its default as a file says it; empty for a part that has options of its own, and for one without
        default.
        """
        if self.field.is_required():
            return ""
        found = self.field.get_default(call_default_factory=True)
        has_own = model_in(self.field.annotation) is not None
        return "" if has_own and (found or isinstance(found, BaseModel)) else as_yaml(found)


def sections(area: Area) -> list[str]:
    """The parts of a campaign file that mean something in this area, in their order."""
    return [
        key
        for key in CampaignSpec.model_fields
        if SECTIONS.get(key, area) is area and (area_of(area).asks_support or key not in OF_SUPPORT)
    ]


def options(model: type[BaseModel] = CampaignSpec, before: str = "") -> Iterator[Option]:
    """Every option of a model, each part before what it holds. ``before``: the model's path, with a dot."""
    for name, field in model.model_fields.items():
        yield Option(f"{before}{name}", field)
        if (inner := model_in(field.annotation)) is not None:
            yield from options(inner, f"{before}{name}.")


def field_at(where: Where) -> FieldInfo | None:
    """The field of the model at this path, or of the list that holds it; None where the model has none."""
    names = [part for part in where if isinstance(part, str)]
    # An index at the end is an item of the list, and its field is the list's.
    model = model_at(tuple(names[:-1])) if names else None
    return model.model_fields.get(names[-1]) if model else None


def model_at(where: Where) -> type[BaseModel] | None:
    """The model of the mapping at this path, or None where the file has no mapping there."""
    model: type[BaseModel] = CampaignSpec
    keyed = False
    for part in where:
        if isinstance(part, int):
            continue
        if keyed:
            # The key is a name that people give, such as a zone's.
            keyed = False
            continue
        field = model.model_fields.get(part)
        inner = model_in(field.annotation) if field else None
        if field is None or inner is None:
            return None
        model, keyed = inner, get_origin(field.annotation) is dict
    return None if keyed else model


def keys_at(where: Where) -> list[str]:
    """The keys that the mapping at this path may have."""
    model = model_at(where)
    return list(model.model_fields) if model else []


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation is about, if there is one: ``tuple[WaveSpec, ...]`` is about WaveSpec."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := model_in(part))), None)


def _is_text(word: str) -> bool:
    """Whether a campaign file has a bare word as a text, and not as a number, a truth or nothing."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        node = YAML(typ="safe", pure=True).compose(word)
    except YAMLError:
        return False
    # Moments are texts there.
    return str(getattr(node, "tag", "")).removeprefix("tag:yaml.org,2002:") in ("str", "timestamp")


def as_yaml(value: object) -> str:
    """A value as YAML, in one line."""
    if isinstance(value, timedelta):
        return say_duration(value).replace(" ", "")
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(as_yaml, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {as_yaml(item)}' for name, item in value.items())}}}"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str):
        # Words that are safe as they stand are easier to read without quotes.
        safe = value and all(char.isalnum() or char in "-_./:" for char in value) and not value.isdigit()
        return value if safe and not value.endswith(":") and _is_text(value) else json.dumps(value)
    return str(value)

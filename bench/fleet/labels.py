"""The labels of what was measured: a part's name, with what was other than in the part's own course. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel


def label_of(part: BaseModel, own: BaseModel) -> str:
    """The name of a part, with what differs from its own course: ``paced-1 (zones 60, workers 2)``."""
    asked: Mapping[str, Any] = part.model_dump(mode="json")
    usual = own.model_dump(mode="json")
    other = [f"{key} {_short(value)}" for key, value in asked.items() if value != usual[key]]
    return f"{asked['name']} ({', '.join(other)})" if other else str(asked["name"])


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return " to ".join(map(_short, value))
    return str(value)


def base_of(label: str) -> str:
    """The part's name."""
    return label.partition(" ")[0]


def varied(name: str, label: str) -> str:
    """Another part, with what is other in this one."""
    _, blank, terms = label.partition(" ")
    return f"{name}{blank}{terms}"


def slug(label: str) -> str:
    """The label in the name of a file."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", label).strip("-")

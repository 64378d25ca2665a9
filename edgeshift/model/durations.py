"""Durations as people write them: ``72h``, ``14d``, ``1h30m``, ``90s`` or ``500ms``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])")
_WHOLE = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+")
LONGEST = timedelta(days=3660)


def parse_duration(value: object) -> timedelta:
    """The duration that ``value`` says; a ``timedelta`` and a number of seconds pass through.

    Raises ValueError with what would be right.
    """
    if isinstance(value, timedelta):
        found = value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        found = _seconds(float(value))
    elif isinstance(value, str) and _WHOLE.fullmatch(text := value.strip().lower().replace(" ", "")):
        found = _seconds(sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text)))
    else:
        raise ValueError("a duration is written as 90s, 10m, 72h, 14d or 1h30m")
    if found < timedelta(0) or found > LONGEST:
        raise ValueError("a duration is between 0s and ten years")
    return found


def _seconds(value: float) -> timedelta:
    try:
        return timedelta(seconds=value)
    except (OverflowError, ValueError):
        raise ValueError("a duration is between 0s and ten years") from None


def say_duration(value: timedelta) -> str:
    """The duration in its largest fitting units, at most two of them: ``3d``, ``1h 30m``, ``250ms``."""
    seconds = value.total_seconds()
    if seconds and seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    parts = []
    for unit in ("d", "h", "m"):
        whole, seconds = divmod(seconds, _UNITS[unit])
        if whole:
            parts.append(f"{whole:.0f}{unit}")
    if seconds or not parts:
        parts.append(f"{seconds:.3g}s")
    return " ".join(parts[:2])


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(lambda value: value.total_seconds(), return_type=float),
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "string",
                    "pattern": r"^\s*(\d+(\.\d+)?\s*(ms|[smhdwSMHDW])\s*)+$",
                    "patternErrorMessage": "a duration is written as 90s, 10m, 72h, 14d or 1h30m",
                },
                {"type": "number", "minimum": 0},
            ]
        },
        mode="validation",
    ),
]
"""A duration field: parsed from what people write, stored as seconds."""

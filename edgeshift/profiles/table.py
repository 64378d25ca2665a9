"""The profiles side by side, as a table of the documentation. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from edgeshift.profiles.known import PROFILES
from edgeshift.profiles.profile import RateFacts, ServiceProfile

_NONE = "not documented"
_OWN = ("name", "title", "as_of", "rate", "source")


def table() -> str:
    """Every fact with its meaning, its value in each profile, and where it is from, as Markdown."""
    profiles = list(PROFILES.values())
    head = ["Fact", *(f"`{one.name}`" for one in profiles), "Source, where it is not the specification"]
    rows = [
        ["as of", *(f"{one.as_of:%Y-%m-%d}" for one in profiles), ""],
        *_rows(profiles),
    ]
    lines = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in (head, ["---"] * len(head), *rows)]
    return "\n".join([*lines, ""])


def _rows(profiles: list[ServiceProfile]) -> Iterator[list[str]]:
    for name, field in ServiceProfile.model_fields.items():
        if name not in _OWN:
            values = [_said(getattr(one, name)) for one in profiles]
            yield [f"{field.description} (`{name}`)", *values, _source(profiles, name)]
    for name, field in RateFacts.model_fields.items():
        values = [_said(getattr(one.rate, name)) for one in profiles]
        yield [f"{field.description} (`rate.{name}`)", *values, _source(profiles, "rate")]


def _source(profiles: list[ServiceProfile], name: str) -> str:
    return "; ".join(f"`{one.name}`: {one.source[name]}" for one in profiles if name in one.source)


def _said(value: object) -> str:
    match value:
        case None:
            return _NONE
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case tuple():
            parts = [str(one) for one in value]
            return ("; " if any(", " in one for one in parts) else ", ").join(parts)
    return str(value)

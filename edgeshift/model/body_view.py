"""What people see of a proposal, thing by thing: each rule, field or log job that it is about, and whether
the target has it already. Pure data; each area makes its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from edgeshift.model.digests import canonical_bytes


class Mark(StrEnum):
    """How a thing of the proposal stands to what the target has."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    SAME = "same"


class Line(BaseModel):
    """One property of a thing. ``before``: what the target has of it, where that is another value; None
    where nothing is compared. Identifiers are whole.
    """

    model_config = ConfigDict(frozen=True)

    label: str
    text: str
    before: str | None = None


class Item(BaseModel):
    """One thing of a proposal. ``title``: what it is, and what it does; ``lines``: its properties."""

    model_config = ConfigDict(frozen=True)

    mark: Mark
    title: str
    lines: tuple[Line, ...] = ()


NOTHING = "nothing"
"""The value of a property that is not there."""


def as_text(value: object) -> str:
    """A value as a line shows it: a text as it is, all else as canonical JSON. Raises NotCanonical."""
    return value if isinstance(value, str) else canonical_bytes(value).decode()


def compared(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> tuple[Line, ...]:
    """The properties of a thing that was changed: each of the new ones, with its value before where that was
    another, then those that are gone.
    """
    had: Mapping[str, str] = dict(old)
    has = dict(new)
    lines = [
        Line(label=label, text=text)
        if had.get(label) == text
        else Line(label=label, text=text, before=had.get(label, NOTHING))
        for label, text in new
    ]
    gone = [Line(label=label, text=NOTHING, before=text) for label, text in old if label not in has]
    return (*lines, *gone)


def lines_of(properties: Sequence[tuple[str, str]]) -> tuple[Line, ...]:
    """The properties of a thing that is not compared with another."""
    return tuple(Line(label=label, text=text) for label, text in properties)

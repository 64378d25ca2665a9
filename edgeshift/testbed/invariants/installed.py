"""The checkers of areas that other distributions bring, found by their entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Protocol

GROUP = "edgeshift.invariants"
"""An entry point's name is the area's; it points at its ``AreaChecker`` (areas.py)."""


class Named(Protocol):
    """What is asked of a checker before its rules are: the calls of the area, the name of its bodies."""

    @property
    def calls(self) -> tuple[str, ...]:
        """How the journal's names of its calls begin."""
        ...

    @property
    def body(self) -> str:
        """The name of the bodies that people sign."""
        ...


def names() -> tuple[str, ...]:
    """The names of the areas, in their order."""
    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


@cache
def installed() -> dict[str, Named]:
    """The checkers by the names of their areas. Raises ImportError where one cannot be loaded."""
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    return {name: found[name].load() for name in names()}


def area_of_call(call: str) -> str | None:
    """The installed area that a call of the journal belongs to, if one does."""
    return next((name for name, one in installed().items() if call.startswith(one.calls)), None)


def bodies() -> frozenset[str]:
    """The names of bodies that people sign in installed areas."""
    return frozenset(one.body for one in installed().values())

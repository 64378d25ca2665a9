"""The checkers of areas that other distributions bring, found by their entry points."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Protocol

GROUP = "edgeshift.invariants"
"""An entry point's name is the area's; it points at its ``AreaChecker`` (areas.py)."""


class Named(Protocol):
    """What is asked of a checker before its rules are: which requests are its own, the name of its bodies."""

    @property
    def owns(self) -> Callable[..., bool]:
        """Whether a request (requests.py) is one of the area's."""
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


def bodies() -> frozenset[str]:
    """The names of bodies that people sign in installed areas."""
    return frozenset(one.body for one in installed().values())

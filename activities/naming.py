"""How several things are named in one sentence of an error."""

from __future__ import annotations

from collections.abc import Sequence

MOST_NAMED = 5


def some_of(names: Sequence[str]) -> str:
    """The first names, and a sign where there are more."""
    return ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")

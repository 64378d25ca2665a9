"""Readings that are believed only when the service gives them alike twice (docs/service.md §7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from edgeshift.service_api import NotUnderstood, Outcome

T = TypeVar("T")

MOST_LOOKS = 4
"""How often something is read until two readings in a row are alike."""


FRESH = object()
"""In place of a first reading: there is none yet."""


async def twice(
    what: str,
    read: Callable[[], Awaitable[T]],
    of: Callable[[T], object] = lambda reading: reading,
    *,
    first: T | object = FRESH,
) -> T:
    """A reading that came alike twice in a row. ``of``: what of it has to be alike. ``what``: the call.
    ``first``: the reading before, where it was made just now.

    What is written back, and what ends a zone or takes a change back, is never taken from one answer alone:
    one that is wrong in a way that looks right cannot be told from a right one by itself. Raises
    NotUnderstood.
    """
    last = cast("T", first) if first is not FRESH else await read()
    for _ in range(MOST_LOOKS - 1):
        again = await read()
        if of(again) == of(last):
            return again
        last = again
    raise NotUnderstood(f"it reads otherwise each of {MOST_LOOKS} times", call=what, outcome=Outcome.READ)

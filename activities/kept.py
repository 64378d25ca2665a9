"""What a worker has read and reads again and again, such as the frozen list of a campaign, by its digest."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K")
T = TypeVar("T")


class _Value(NamedTuple, Generic[T]):
    found: T
    weight: int
    asked: float


class Kept(Generic[K, T]):
    """The last values by their keys, so that a batch of zones reads a campaign's specification once, however
    many of them ask for it at the same time.

    ``most``: how much all of them together may weigh; the last one is kept whatever it weighs. ``weighs``:
    without it each weighs 1. ``idle``: seconds; what nobody has asked for in so long goes with the next that
    comes.
    """

    def __init__(
        self,
        most: int,
        load: Callable[[K], Awaitable[T]],
        *,
        weighs: Callable[[T], int] = lambda found: 1,
        idle: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._load = load
        self._weighs = weighs
        self._idle = idle
        self._clock = clock
        self._values: OrderedDict[K, _Value[T]] = OrderedDict()
        self._loading: dict[K, asyncio.Task[T]] = {}

    async def get(self, key: K) -> T:
        """The value for this key. Raises what loading it raises; the next one who asks loads it again."""
        if (kept := self._values.get(key)) is not None:
            self._values[key] = kept._replace(asked=self._clock())
            self._values.move_to_end(key)
            return kept.found
        if (loading := self._loading.get(key)) is None:
            loading = self._loading[key] = asyncio.create_task(self._loaded(key), name="kept")
            loading.add_done_callback(_heard)
        # Others wait for it, too: whoever is cancelled leaves it to them.
        return await asyncio.shield(loading)

    async def _loaded(self, key: K) -> T:
        try:
            found = await self._load(key)
        finally:
            del self._loading[key]
        self._values[key] = _Value(found, self._weighs(found), self._clock())
        self._drop()
        return found

    def _drop(self) -> None:
        weight = sum(value.weight for value in self._values.values())
        while len(self._values) > 1:
            key, first = next(iter(self._values.items()))
            if weight <= self._most and self._clock() - first.asked <= self._idle:
                return
            del self._values[key]
            weight -= first.weight


def _heard(loading: asyncio.Task[T]) -> None:
    """Take note of how it ended: where everybody who waited for it was cancelled, nobody else does."""
    if not loading.cancelled():
        loading.exception()

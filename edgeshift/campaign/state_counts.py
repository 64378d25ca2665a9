"""Where each of a campaign's targets is, with counts that are kept as they move: nothing that a message needs
to know takes a walk over all of them. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence

from edgeshift.campaign.callers import hide
from edgeshift.campaign.target_states import TargetState

SIZE = max(TargetState) + 1

Moved = Callable[[int, int, int], None]
"""Hears that the target at an index has moved, from one place to another."""


class TargetStates:
    """A place for each index, counted over all and by wave. ``ends``: of each wave, the index behind it.
    ``covers``: how many zones each target stands for, where it is not one.
    """

    def __init__(self, count: int, ends: Sequence[int], covers: Sequence[int] | None, moved: Moved) -> None:
        self._data = bytearray(count)
        self._ends = list(ends) or [count]
        self._covers = covers
        self._moved = moved
        self._of_wave: list[list[int]] = []
        self._zones: list[int] = []
        self._count_anew()

    def _count_anew(self) -> None:
        self._of_wave = [
            [self._data.count(place, first, end) for place in range(SIZE)] for first, end in self.bounds
        ]
        self._zones = [0] * SIZE
        if self._covers is not None:
            for place, zones in zip(self._data, self._covers, strict=True):
                self._zones[place] += zones
        else:
            self._zones = [sum(wave[place] for wave in self._of_wave) for place in range(SIZE)]

    def take_over(self, data: bytes) -> None:
        """The places that an earlier run has left. Nobody is told of it."""
        self._data[:] = data
        self._count_anew()

    def wave_of(self, index: int) -> int:
        """The number of the wave that holds ``index``."""
        return bisect_right(self._ends, index)

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """Of each wave the first index, and the one behind it."""
        return list(zip([0, *self._ends[:-1]], self._ends, strict=True))

    @property
    def waves(self) -> int:
        """How many waves there are."""
        return len(self._ends)

    def __getitem__(self, index: int) -> int:
        return self._data[index]

    def __setitem__(self, index: int, place: int) -> None:
        before = self._data[index]
        if before == place:
            return
        self._data[index] = place
        wave = self._of_wave[bisect_right(self._ends, index)]
        wave[before] -= 1
        wave[place] += 1
        zones = self._covers[index] if self._covers is not None else 1
        self._zones[before] -= zones
        self._zones[place] += zones
        self._moved(index, before, place)

    def move_together(self, indexes: Collection[int], wave: int, before: int, place: int) -> None:
        """Move many targets of one wave, all of which are at one place, to another. Nobody is told of it."""
        data, covers = self._data, self._covers
        for index in indexes:
            data[index] = place
        number = len(indexes)
        self._of_wave[wave][before] -= number
        self._of_wave[wave][place] += number
        zones = sum(covers[index] for index in indexes) if covers is not None else number
        self._zones[before] -= zones
        self._zones[place] += zones

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[int]:
        return iter(self._data)

    def __bytes__(self) -> bytes:
        return bytes(self._data)

    def indexes(self, places: Sequence[int], first: int, end: int, hidden: bytes = b"") -> Iterator[int]:
        """The targets at these places, in order. One that moves meanwhile is found where it is by then.
        ``hidden``: those that are left out (``callers.hide``).
        """
        if not any(self.number(place) for place in places):
            return
        wanted = b"".join(b"\\x%02x" % place for place in places)
        data = bytes(self._data[first:end])
        if hidden:
            data = hide(data, hidden[first:end])
        for found in re.finditer(b"[" + wanted + b"]", data):
            index = first + found.start()
            if self._data[index] in places:
                yield index

    def number(self, place: int, wave: int | None = None) -> int:
        """How many targets are at this place, in one wave or in all."""
        if wave is not None:
            return self._of_wave[wave][place]
        return sum(counts[place] for counts in self._of_wave)

    def zones(self, place: int) -> int:
        """How many zones the targets at this place stand for."""
        return self._zones[place]

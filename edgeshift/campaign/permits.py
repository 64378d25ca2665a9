"""The permits that are out, by number and by target. Pure."""

from __future__ import annotations

from collections.abc import Iterator, KeysView, MutableMapping

from edgeshift.messages import Permit


class Permits(MutableMapping[int, Permit]):
    """A mapping from numbers to permits that also knows which target holds any."""

    def __init__(self) -> None:
        self._by_number: dict[int, Permit] = {}
        self._of: dict[int, set[int]] = {}

    def __getitem__(self, number: int) -> Permit:
        return self._by_number[number]

    def __setitem__(self, number: int, permit: Permit) -> None:
        self.pop(number, None)
        self._by_number[number] = permit
        self._of.setdefault(permit.index, set()).add(number)

    def __delitem__(self, number: int) -> None:
        index = self._by_number.pop(number).index
        self._of[index].remove(number)
        if not self._of[index]:
            del self._of[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_number)

    def __len__(self) -> int:
        return len(self._by_number)

    def holders(self) -> KeysView[int]:
        """The targets that hold any."""
        return self._of.keys()

    def of(self, index: int) -> list[int]:
        """The numbers of the permits that a target holds."""
        return sorted(self._of.get(index, ()))

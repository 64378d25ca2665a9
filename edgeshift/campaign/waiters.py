"""Who waits for a sign-off, by what was proposed and by wave, kept as targets come and go. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edgeshift.campaign.target_states import TargetState

Group = tuple[int, int, int]
"""The number of a fingerprint group (0: none that is kept), a wave, and the place: whether its targets
wait together (``AWAITING``) or each for a sign-off of its own (``AWAITING_SEPARATE``).
"""


class Waiters:
    """The indexes of the targets that wait, in groups. A decision touches those of its groups alone, and a
    count is the size of a set.
    """

    def __init__(self) -> None:
        self._groups: dict[int, dict[tuple[int, int], set[int]]] = {}

    def enter(self, index: int, group: Group) -> None:
        """The target begins to wait."""
        number, wave, place = group
        self._groups.setdefault(number, {}).setdefault((wave, place), set()).add(index)

    def enter_many(self, indexes: Sequence[int], numbers: Sequence[int], wave: int, place: int) -> None:
        """Targets of one wave begin to wait at one place. ``numbers``: of the
        fingerprint groups of every target.
        """
        found: dict[int, set[int]] = {}
        for index in indexes:
            found.setdefault(numbers[index], set()).add(index)
        for number, members in found.items():
            self._groups.setdefault(number, {}).setdefault((wave, place), set()).update(members)

    def leave(self, index: int, group: Group) -> None:
        """The target waits no more."""
        number, wave, place = group
        members = self._groups[number][wave, place]
        members.remove(index)
        if not members:
            self.take(group)

    def take(self, group: Group) -> set[int]:
        """All of a group, which waits no more."""
        number, wave, place = group
        groups = self._groups[number]
        members = groups.pop((wave, place))
        if not groups:
            del self._groups[number]
        return members

    def numbers(self) -> list[int]:
        """The numbers of the fingerprint groups that wait, in order."""
        return sorted(self._groups)

    def groups(self, number: int) -> Iterator[tuple[Group, int]]:
        """The groups of a fingerprint group, in order, and how many targets are in each."""
        known = self._groups.get(number, {})
        for wave, place in sorted(known):
            yield (number, wave, place), len(known[wave, place])

    def first(self, number: int, only: int | None = None) -> int:
        """One target of a fingerprint group that waits: the first that waits together with others, if any
        does. ``only``: in one wave.
        """
        known = [
            (place, members)
            for (wave, place), members in self._groups[number].items()
            if only in (None, wave)
        ]
        together = [members for place, members in known if place == TargetState.AWAITING]
        return min(min(members) for members in together or [members for _, members in known])

    def members(self, group: Group) -> list[int]:
        """The targets of a group, in order."""
        number, wave, place = group
        return sorted(self._groups.get(number, {}).get((wave, place), ()))

"""The parts of areas: what an area has in a room above the rules, loaded by the name its definition gives.

A room says what a part of it is, with a class whose methods and fields have what most areas need:

    VIEWS = PartOf("views", ViewPart)

and asks ``VIEWS.of(area)``. An area that names no such part has the class's own behaviour.
"""

from __future__ import annotations

from functools import cache
from typing import Generic, TypeVar

from edgeshift.areas import AreaNotLoaded, area_of, load
from edgeshift.areas.names import PARTS
from edgeshift.model.fleet import Area

P = TypeVar("P")


class PartOf(Generic[P]):
    """One kind of part. ``name``: the key under which definitions name theirs. ``required``: whether there is
    nothing that all areas could share. Raises ValueError for one that definitions cannot name.
    """

    def __init__(self, name: str, kind: type[P], *, required: bool = False) -> None:
        if name not in PARTS:
            raise ValueError(f"areas have no part {name!r} (edgeshift/areas/names.py)")
        self.name = name
        self._kind = kind
        self._required = required
        self._found = cache(self._load)

    def of(self, area: Area) -> P:
        """The area's part. Raises AreaNotLoaded where it cannot be loaded, or is something else."""
        return self._found(area)

    def _load(self, area: Area) -> P:
        where = area_of(area).parts.get(self.name)
        if where is None:
            if self._required:
                raise AreaNotLoaded(f"area {area.value} names no part {self.name!r}")
            return self._kind()
        return load(where, self._kind)

"""The registry of areas: what a campaign can change.

The areas of edgeshift itself are named here. Those of other distributions are found by their entry points in
the group ``edgeshift.areas``: the entry point's name is the area's, and what it points at is its
``AreaDefinition`` (docs/architecture.md, "Adding an area"). Names are known at once, the rest is loaded when
it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TypeVar

from edgeshift.areas.area import AreaDefinition
from edgeshift.model.fleet import INSTALLED_AREAS, Area

T = TypeVar("T")

BUILT_IN = {
    Area.WAF: "edgeshift.areas.waf.definition:DEFINITION",
    Area.ESC: "edgeshift.areas.esc.definition:DEFINITION",
    Area.LOG_FIELDS: "edgeshift.areas.log_fields.definition:DEFINITION",
}


class AreaNotLoaded(RuntimeError):
    """An area, or a part of it, is not where its distribution says."""


def load(where: str, kind: type[T]) -> T:
    """What lies at ``module:attribute``. Raises AreaNotLoaded where nothing does, or no ``kind``."""
    module, _, attribute = where.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as why:
        raise AreaNotLoaded(f"{where} cannot be loaded: {why}") from why
    if not isinstance(found, kind):
        raise AreaNotLoaded(f"{where} is no {kind.__name__}, but a {type(found).__name__}")
    return found


def _installed() -> tuple[dict[Area, str], dict[Area, str]]:
    """Where the areas of other distributions lie, by their names, in the order of these; and of which that is
    not known, since two bring one, with what is wrong: only who uses that area hears of it.
    """
    found: dict[str, str] = {}
    twice: dict[Area, str] = {}
    for entry in sorted(INSTALLED_AREAS, key=lambda entry: entry.name):
        if found.setdefault(entry.name, entry.value) != entry.value and entry.name not in set(BUILT_IN):
            twice[Area(entry.name)] = (
                f"two installed distributions bring an area {entry.name!r}: {found[entry.name]} and"
                f" {entry.value}; keep one of them"
            )
    return {Area(name): where for name, where in found.items() if name not in set(BUILT_IN)}, twice


_OTHERS, _TWICE = _installed()
_WHERE = {**BUILT_IN, **_OTHERS}


@cache
def area_of(area: Area) -> AreaDefinition:
    """The area's definition. Raises AreaNotLoaded where it cannot be loaded."""
    if area in _TWICE:
        raise AreaNotLoaded(_TWICE[area])
    found = load(_WHERE[area], AreaDefinition)
    if found.name is not area:
        raise AreaNotLoaded(f"the area {area.value} calls itself {found.name}")
    return found


class _Areas(Mapping[Area, AreaDefinition]):
    def __getitem__(self, area: Area) -> AreaDefinition:
        return area_of(area)

    def __iter__(self) -> Iterator[Area]:
        return iter(_WHERE)

    def __len__(self) -> int:
        return len(_WHERE)


AREAS: Mapping[Area, AreaDefinition] = _Areas()
"""Every area: those of edgeshift itself, then those of other distributions."""

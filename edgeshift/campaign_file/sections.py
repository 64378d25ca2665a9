"""Which parts of a campaign file belong to one area alone, as the areas say, installed ones too. Pure."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from edgeshift.areas import AREAS, BUILT_IN, AreaNotLoaded, area_of
from edgeshift.areas.area import AreaDefinition
from edgeshift.areas.section import OwnList, OwnSection
from edgeshift.model.fleet import Area


def _loaded() -> dict[Area, AreaDefinition]:
    """Every area that can be loaded. One that cannot be says so where it is used; the others go on."""
    found = {}
    for area in AREAS:
        try:
            found[area] = area_of(area)
        except AreaNotLoaded:
            if area in BUILT_IN:
                raise
    return found


def _owners(areas: dict[Area, AreaDefinition]) -> dict[str, Area]:
    found: dict[str, Area] = {}
    for area, definition in areas.items():
        for key in definition.keys:
            if found.setdefault(key, area) is not area:
                raise AreaNotLoaded(
                    f"the areas {found[key].value} and {area.value} both have a section {key!r}"
                )
    return found


_AREAS = _loaded()

SECTIONS: dict[str, Area] = _owners(_AREAS)
"""The area of each part that one area alone has."""

OWN: dict[str, OwnSection] = {one.section.key: one.section for one in _AREAS.values() if one.section}
"""The sections that areas bring, by their keys."""

LISTS: dict[str, OwnList] = {own.key: own for one in _AREAS.values() for own in one.lists}
"""The lists that areas bring, by their keys."""

INSTALLED = frozenset(key for key in (*OWN, *LISTS) if SECTIONS[key] not in BUILT_IN)
"""The keys of what areas of other distributions bring."""


def fields() -> dict[str, Any]:
    """What areas bring as fields of the model of campaign files, by their keys: an area's lists, then its
    section.
    """
    found: dict[str, Any] = {}
    for area in _AREAS.values():
        for one in area.lists:
            meant = Field(default=(), description=one.meaning, examples=[list(one.example)])
            found[one.key] = (tuple[one.model, ...], meant)  # type: ignore[name-defined]
        if own := area.section:
            meant = Field(default=own.model(), validate_default=True, description=own.meaning)
            found[own.key] = (own.model, meant)
    return found

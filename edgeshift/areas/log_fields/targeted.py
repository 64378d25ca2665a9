"""Whether the targets of a campaign and the zones that get fields are the same (docs/service.md §8). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from edgeshift.areas.log_fields.field_set import FieldSet
from edgeshift.areas.log_fields.names import mistakes
from edgeshift.areas.section import Targets
from edgeshift.model.validators import Trouble

_IDENTIFIER = re.compile(r"[0-9a-f]{32}")


def without_fields(common: bool, zones: Collection[str], targets: Targets | None) -> Iterator[Trouble]:
    """Zones with fields that are no targets, and targets without fields. A campaign without fields of its own
    is right only where each zone brings its own. ``common``: whether it has some for every zone; ``zones``:
    those with fields of their own. ``targets``: None where they are wrong by themselves.
    """
    if not common and not zones:
        yield (), mistakes(FieldSet())[0]
        return
    if targets is None:
        return
    for name in zones:
        if name == name.lower() and _left_out(name, targets):
            yield ("zones", name), "is not among the targets: add it to targets.include, or remove it here"
    if common:
        return
    if targets.all or targets.accounts:
        yield (
            (),
            "only the zones under log_fields.zones have fields, and the targets are more than those: name"
            " fields for all of them, or the zones alone under targets.include",
        )
    else:
        bare = [name for name in targets.include if name.lower() not in zones and not _is_id(name)]
        if bare:
            yield (), f"{bare[0]} would get no field: name some for all zones, or under log_fields.zones"


def _left_out(name: str, targets: Targets) -> bool:
    """Whether a zone certainly is no target. Identifiers and accounts are only known to the service."""
    if name in _lower(targets.exclude):
        return True
    if not targets.include or targets.accounts or any(map(_is_id, (name, *targets.include))):
        return False
    return name not in _lower(targets.include)


def _lower(names: Sequence[str]) -> set[str]:
    return {name.lower() for name in names}


def _is_id(name: str) -> bool:
    return _IDENTIFIER.fullmatch(name) is not None

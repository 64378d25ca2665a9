"""What each zone's resource is called. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from edgeshift.model.fleet import Zone

SUFFIX = "_waf_managed"
_PLAIN = re.compile(r"[a-z0-9.-]+")


def label_of(zone: Zone) -> str:
    """The name of the zone's resource, by the zone alone, so that it is the same in every export."""
    return _folded(zone) + SUFFIX


def labels_of(zones: Iterable[Zone]) -> dict[str, str]:
    """The names of the zones' resources by their identifiers, no two alike: where names would be, as of two
    zones of one name, the identifier follows. ``zones``: all of a campaign, so that a part of them is called
    as in the whole.
    """
    every = {zone.id: zone for zone in zones}
    found = {identifier: _folded(zone) for identifier, zone in every.items()}
    while alike := [name for name, count in Counter(found.values()).items() if count > 1]:
        wanted = set(alike)
        for identifier, zone in every.items():
            if found[identifier] in wanted:
                found[identifier] = f"{_folded(zone)}_{identifier}"
    return {identifier: name + SUFFIX for identifier, name in found.items()}


def _folded(zone: Zone) -> str:
    """The zone's name as an identifier. Where more than dots had to be replaced, its own identifier says
    which zone it is.
    """
    name = re.sub(r"[^a-z0-9-]", "_", zone.name.lower())
    if not name[:1].isalpha():
        name = f"zone_{name}"
    return name if _PLAIN.fullmatch(zone.name) else f"{name}_{zone.id[:8]}"

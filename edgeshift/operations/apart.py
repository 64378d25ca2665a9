"""Zones that each wait for a sign-off of their own: grouped by what keeps them from being signed with others,
each with its own evidence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from temporalio.client import Client

from edgeshift.messages import ZoneState
from edgeshift.model.fleet import Area, Target
from edgeshift.operations.again import zones_at
from edgeshift.operations.errors import BadInput, NotAsSigned, NotFound, NotThatZone, OperationError
from edgeshift.operations.parts import EACH, PROPOSALS, Cause
from edgeshift.operations.preview import Preview, preview_of
from edgeshift.operations.sign_offs import AT_ONCE, SEPARATE, waiting_zone
from edgeshift.operations.zones import FoundZone
from edgeshift.stores.archive import Archive, ArchiveError

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots

MOST = 1_000
"""Zones that are looked at at once, the first of a campaign: each is asked, and what it proposes is read."""

UNREADABLE = Cause("unreadable", "what it proposes cannot be shown")

Heard = Callable[[int, int], None]
"""Hears how many of how many have been looked at."""

Otherwise = Callable[[NotThatZone], None]
"""Hears of a zone that answers as another, which is left out then."""


@dataclass(frozen=True)
class Apart:
    """A zone that waits for a sign-off of its own: what it proposes and why. ``shown`` is None where it
    cannot be shown, and ``trouble`` says why.
    """

    found: FoundZone
    state: ZoneState
    cause: Cause
    shown: Preview | None = None
    trouble: str = ""


@dataclass(frozen=True)
class Alike:
    """Zones that wait for the same cause."""

    cause: Cause
    zones: tuple[Apart, ...]


async def zones_apart(
    client: Client,
    archive: Archive,
    area: Area,
    targets: Sequence[Target],
    name: str,
    *,
    wave: int | None = None,
    most: int = MOST,
    heard: Heard | None = None,
    roots: Roots | None = None,
    otherwise: Otherwise | None = None,
) -> tuple[list[Apart], int]:
    """The first of a campaign's zones that wait for a sign-off of their own, and how many there are.
    ``wave``: of that one alone (counted from 0); ``roots``: as of ``preview_of``; ``otherwise``: as of
    ``looked_at``. Raises NotFound, NotThatZone, TemporalTrouble.
    """
    there = await zones_at(client, name, (SEPARATE,), most, wave=wave)
    chosen = [
        FoundZone.of(one.index, targets[one.index], area, name) for one in there.targets if one.fingerprint
    ]
    found = await looked_at(client, archive, area, chosen, heard=heard, roots=roots, otherwise=otherwise)
    return found, there.total


async def looked_at(
    client: Client,
    archive: Archive,
    area: Area,
    zones: Sequence[FoundZone],
    *,
    heard: Heard | None = None,
    roots: Roots | None = None,
    otherwise: Otherwise | None = None,
) -> list[Apart]:
    """What each of these zones proposes now, in their order. Those that do not wait any more are left out.
    ``roots``: as of ``preview_of``; ``otherwise``: hears of each zone that answers as another, and none is
    refused for it. Raises NotThatZone without it, TemporalTrouble.
    """
    gate, done = asyncio.Semaphore(AT_ONCE), 0

    async def one(found: FoundZone) -> Apart | None:
        nonlocal done
        try:
            async with gate:
                apart = await _look(client, archive, area, found, roots)
        except NotThatZone as why:
            # Whoever reaches Temporal would else keep people from all the others.
            if otherwise is None:
                raise
            otherwise(why)
            apart = None
        done += 1
        if heard:
            heard(done, len(zones))
        return apart

    return [apart for apart in await asyncio.gather(*map(one, zones)) if apart is not None]


async def _look(
    client: Client, archive: Archive, area: Area, found: FoundZone, roots: Roots | None
) -> Apart | None:
    try:
        state = await waiting_zone(client, found)
    except NotFound:
        # It was decided on, or drifted, a moment ago.
        return None
    try:
        shown = await preview_of(archive, state, area, roots)
    except (ArchiveError, NotAsSigned) as why:
        trouble = why.text if isinstance(why, OperationError) else str(why)
        return Apart(found, state, UNREADABLE, trouble=trouble)
    return Apart(found, state, PROPOSALS.of(area).cause(shown.evidence, shown.own) or EACH, shown)


def alike(zones: Iterable[Apart]) -> list[Alike]:
    """The zones by cause, the cause of the most first."""
    found: dict[Cause, list[Apart]] = {}
    for one in zones:
        found.setdefault(one.cause, []).append(one)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), item[0].key))
    return [Alike(cause, tuple(some)) for cause, some in ranked]


def of_cause(zones: Iterable[Apart], key: str, name: str) -> list[Apart]:
    """The zones of one cause, by its key or how that begins. Raises NotFound where no zone waits for it,
    BadInput where several keys begin so.
    """
    groups = alike(zones)
    exact = [group for group in groups if group.cause.key == key]
    found = exact or [group for group in groups if group.cause.key.startswith(key)]
    hint = f"`edgeshift sign-off causes {name}` lists them"
    if len(found) > 1:
        names = ", ".join(group.cause.key for group in found[:5])
        raise BadInput(f"{len(found)} causes begin with {key!r}: {names}", "write more of it")
    if not found:
        raise NotFound(f"no zone of campaign {name} waits by itself for cause {key!r}", hint)
    return list(found[0].zones)

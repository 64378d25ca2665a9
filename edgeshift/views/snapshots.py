"""Finds the snapshot that a person asks for: of a zone, of a campaign, of an attempt."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import Any

from temporalio.client import Client

from edgeshift.model.fleet import DEFAULT_AREA, Area
from edgeshift.model.zone_names import is_identifier
from edgeshift.operations.errors import BadInput, NotFound
from edgeshift.operations.snapshots import Taken, by_digest, first_change, snapshot_document, snapshots_of
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.views.finding import Named, checked_name, find_zone, zone_runs
from edgeshift.views.parts import VIEWS
from edgeshift.views.timeline import build_timeline

MOST_LOOKED_AT = 50
"""Snapshots of one target that are opened to find one from before the change."""


@dataclass(frozen=True)
class Asked:
    """What a person asks for. ``attempt`` 0 and empty texts: not said."""

    zone: str
    campaign: str = ""
    area: Area | None = None
    attempt: int = 0
    digest: str = ""


async def target_of(client: Client | None, archive: Archive, asked: Asked) -> Named:
    """The target, in which area. Without a client it is known by its identifier alone. Raises NotFound,
    BadInput.
    """
    if client is None:
        return Named(asked.zone, asked.area or DEFAULT_AREA)
    return await find_zone(client, archive, asked.zone, asked.campaign or None, asked.area)


def needs_temporal(asked: Asked) -> bool:
    """Whether the archive alone cannot say which target, or which snapshot, is meant."""
    return not (is_identifier(asked.zone) and asked.area and not asked.campaign and not asked.attempt)


async def choices(client: Client | None, archive: Archive, named: Named, asked: Asked) -> list[Taken]:
    """The snapshots among which a person chooses, oldest first: all of the target, or those that a campaign
    or an attempt has taken. Raises NotFound, BadInput, ArchiveError.
    """
    every = await snapshots_of(archive, named.id, named.area)
    if client is None or not (asked.campaign or asked.attempt):
        return every
    campaign = checked_name(asked.campaign) if asked.campaign else None
    attempts = build_timeline(named.id, await zone_runs(client, named, campaign)).attempts
    if asked.attempt:
        attempts = [attempt for attempt in attempts if attempt.number == asked.attempt]
        if len({attempt.campaign for attempt in attempts}) > 1:
            names = ", ".join(sorted({attempt.campaign for attempt in attempts}))
            raise BadInput(
                f"several campaigns have an attempt {asked.attempt} at {asked.zone}: {names}",
                "name one with --campaign",
            )
    wanted = {digest for attempt in attempts for digest in attempt.snapshots}
    found = [taken for taken in every if taken.digest in wanted]
    if not found:
        of = f"attempt {asked.attempt}" if asked.attempt else f"campaign {asked.campaign}"
        raise NotFound(
            f"{of} has no snapshot of {asked.zone}",
            f"`edgeshift history {quote(asked.zone)}` shows its attempts; leave the option out to see what is"
            " there",
        )
    return found


async def chosen(
    archive: Archive, named: Named, found: list[Taken], digest: str
) -> tuple[Taken, dict[str, Any]]:
    """The snapshot of a target that is meant, and its document: the one with this digest; else the latest
    from before the change; else the first. Raises NotFound, BadInput, ArchiveError.
    """
    if digest:
        taken = by_digest(found, digest)
        return taken, await snapshot_document(archive, taken.digest)
    part = VIEWS.of(named.area)
    trouble: ArchiveError | None = None
    for taken in reversed(found[-MOST_LOOKED_AT:]):
        try:
            document = await snapshot_document(archive, taken.digest)
        except ArchiveError as why:
            trouble = why
            continue
        before = part.is_before(reading_of(document))
        if before is None:
            changed = await first_change(archive, named.id, named.area)
            meant = [one for one in found if changed is None or one.at <= changed]
            taken = (meant or found[:1])[-1]
            return taken, await snapshot_document(archive, taken.digest)
        if before:
            return taken, document
    if trouble is not None:
        raise trouble
    return found[0], await snapshot_document(archive, found[0].digest)


def reading_of(document: dict[str, Any]) -> dict[str, Any]:
    """What was read, of a snapshot's document."""
    found = document.get("reading")
    return found if isinstance(found, dict) else {}

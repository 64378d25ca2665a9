"""Which roots a worker has: what each writes into the archive when it starts, when its roots change and when
what it wrote is gone, so that ``doctor`` can say whether all agree. It proves nothing, and nothing is
permitted by it.

A record lies at ``workers/<identity>/<moment>``, created once; the last one counts.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import quote

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from edgeshift.authority.loading import RootsError, RootsFiles
from edgeshift.authority.worker_pen import worker_names
from edgeshift.stores.archive import Archive

TOLD_WITHIN = timedelta(seconds=5)
"""How soon after a change of its roots a worker tells of it."""

MOST = 10_000
"""Records of one worker that are looked at."""


class RootsHeld(BaseModel):
    """What a worker says of its roots at ``at``. ``state``: ``none``, it has none; ``unreadable``: then it
    refuses everything. ``digest``: of all that the roots say; ``proof``: of their least policy. ``key``: the
    identifier of the worker's own key; ``worker``: whose it is by the roots, empty where they know none; None
    of a worker of an earlier version.
    """

    model_config = ConfigDict(frozen=True)

    identity: str
    at: AwareDatetime
    state: Literal["none", "unreadable", "held"]
    digest: str = ""
    proof: str = ""
    key: str = ""
    worker: str | None = None


def held_by(identity: str, roots: RootsFiles | None, now: datetime, key: str = "") -> RootsHeld:
    """What a worker's roots are now. Reads their files where they have changed. ``key``: the identifier of
    the worker's own key, if it has one.
    """
    if roots is None:
        return RootsHeld(identity=identity, at=now, state="none")
    try:
        found = roots.current()
    except RootsError:
        return RootsHeld(identity=identity, at=now, state="unreadable")
    return RootsHeld(
        identity=identity,
        at=now,
        state="held",
        digest=found.digest,
        proof=found.file.policy.proof,
        key=key,
        worker=next(iter(worker_names(found, key)), ""),
    )


async def tell(archive: Archive, held: RootsHeld) -> str:
    """Record what a worker's roots are; the record's key. Raises ArchiveError."""
    moment = held.at.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%f")
    key = f"{_place(held.identity)}/{moment}"
    await archive.create_once(key, held.model_dump_json().encode())
    return key


async def last_told(archive: Archive, identity: str) -> RootsHeld | None:
    """What a worker said last, or None. Raises ArchiveError."""
    place, names = _place(identity), []
    async for key in archive.list(place):
        names.append(key.rpartition("/")[2])
        if len(names) == MOST:
            break
    if not names:
        return None
    try:
        return RootsHeld.model_validate_json(await archive.get_named(f"{place}/{max(names)}") or b"")
    except ValidationError:
        return None


def _place(identity: str) -> str:
    return "workers/" + quote(identity, safe="@").replace("~", "%7E").replace("%", "=")[:200]

"""A worker says which roots of authority it has, and says so again once they have changed, or what it said is
gone: people with an archive in which no worker has said it are refused (edgeshift/operations/archives.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import structlog

from edgeshift.authority.held import TOLD_WITHIN, RootsHeld, held_by, tell
from edgeshift.authority.loading import RootsFiles
from edgeshift.runtime.meanwhile import meanwhile
from edgeshift.stores.archive import Archive, ArchiveError

log = structlog.get_logger("edgeshift.worker")

EVERY = TOLD_WITHIN.total_seconds()
"""Seconds between two looks at the files."""


@asynccontextmanager
async def recording_roots(
    identity: str, roots: RootsFiles | None, archive: Archive, key: str = ""
) -> AsyncIterator[None]:
    """Say it for as long as the block runs. An archive that cannot be written now is tried again. ``key``:
    the identifier of the worker's own key, if it has one.
    """
    async with meanwhile(_keep_telling(identity, roots, archive, key)):
        yield


async def _keep_telling(identity: str, roots: RootsFiles | None, archive: Archive, key: str) -> None:
    told: tuple[str, str] | None = None
    lies = ""
    while True:
        held = await asyncio.to_thread(held_by, identity, roots, datetime.now(UTC), key)
        new = told != (held.state, held.digest)
        if new:
            _log(held, first=told is None)
        if new or await _is_gone(archive, lies):
            try:
                lies = await tell(archive, held)
                told = (held.state, held.digest)
            except ArchiveError as why:
                log.warning("which roots this worker has could not be recorded", reason=str(why))
        await asyncio.sleep(EVERY)


async def _is_gone(archive: Archive, key: str) -> bool:
    """Whether a record is there no more. An archive that cannot be read now is asked another time."""
    try:
        return await archive.get_named(key) is None
    except ArchiveError:
        return False


def _log(held: RootsHeld, *, first: bool) -> None:
    if held.state == "none":
        log.warning("no roots of authority: nothing but a rehearsal on this machine is changed")
    elif held.state == "unreadable":
        log.error("the roots of authority cannot be read: nothing is changed until they can")
    else:
        if held.proof == "signed" and not held.worker:
            log.error("the roots know no worker with this one's key: its results count for nothing")
        log.info("roots of authority" if first else "new roots of authority", digest=held.digest[:12])

"""Named records of the archive that decide something, each signed by the worker that wrote it.

Whoever may write to the archive can put anything under any name. So where the roots ask for signatures, a
record counts only where a worker whom they know has signed it (edgeshift/authority/worker_records.py); what
does not count is said in the log and in the archive, where ``edgeshift alarms`` and ``doctor`` find it.
Without roots, in a rehearsal on this machine, records count as they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from pydantic import BaseModel
from temporalio import activity

from edgeshift.authority.loading import RootsError, RootsFiles
from edgeshift.authority.records import MOST, Flooded
from edgeshift.authority.roots import Roots, asking
from edgeshift.authority.signing import SigningFailed
from edgeshift.authority.worker_pen import WorkerPen
from edgeshift.authority.worker_records import refused, sealed, statement_of
from edgeshift.model.digests import NotCanonical
from edgeshift.runtime.clock import Clock
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveError, ArchiveUnavailable
from edgeshift.stores.archive_keys import NO_KEY, is_key, shown
from edgeshift.stores.documents import (
    DocumentUnreadable,
    Unproven,
    contents_of,
    create_record,
    decoded,
    encoded,
    unproven_key,
)

Model = TypeVar("Model", bound=BaseModel)
Looked = TypeVar("Looked")

MOST_KNOWN = 10_000
"""Records that do not count, and of which a worker remembers that it has said so."""

SIDE_BY_SIDE = 16
"""Records that are read at the same time."""


@dataclass(frozen=True)
class FoundRecord(Generic[Model]):
    """A record that is there. ``unproven``: why it does not count, or None where it does."""

    record: Model
    unproven: str | None = None


async def side_by_side(
    keys: Sequence[str], look: Callable[[str], Awaitable[Looked]]
) -> AsyncIterator[tuple[str, Looked | ArchiveError]]:
    """What a look at each of many records gives, in their order, or why it cannot be had; some are looked at
    side by side, since an archive far away takes its time for each.
    """

    async def look_or_why(key: str) -> Looked | ArchiveError:
        try:
            return await look(key)
        except ArchiveError as failure:
            return failure

    for first in range(0, len(keys), SIDE_BY_SIDE):
        some = keys[first : first + SIDE_BY_SIDE]
        for key, found in zip(some, await asyncio.gather(*map(look_or_why, some)), strict=True):
            yield key, found


class WorkerRecords:
    """What one worker records, and what it counts of what workers have recorded. ``roots``: None where it has
    none; ``pen``: None where it needs none.
    """

    def __init__(
        self, roots: RootsFiles | None, archive: Archive, clock: Clock, pen: WorkerPen | None = None
    ) -> None:
        self._files = roots
        self._archive = archive
        self._clock = clock
        self._pen = pen
        self._told: set[str] = set()

    async def bytes_of(self, key: str, document: BaseModel) -> bytes:
        """The bytes of a record under this name, signed where this worker signs. Raises ArchiveError."""
        if self._pen is None:
            return encoded(document)
        contents = contents_of(document)
        try:
            statement = statement_of(key, contents, self._pen.name, self._clock.now())
            return sealed(contents, statement, await self._pen.sign(statement))
        except NotCanonical as why:
            raise ArchiveError(f"{key} was not archived: {why}") from None
        except SigningFailed as why:
            raise ArchiveUnavailable(f"{key} could not be signed: {why}"[:200]) from None

    async def create(self, key: str, document: BaseModel, *, lasting: bool = True) -> bool:
        """Create a record, once; False where one was there, which stays. ``lasting``: as of the archive.
        Raises ArchiveError.
        """
        return await self._archive.create_once(key, await self.bytes_of(key, document), lasting=lasting)

    async def create_own(self, key: str, document: BaseModel) -> bool:
        """As ``create``, where a rollback rests on the record. Raises ArchiveCorrupt where one is there that
        does not count: somebody has taken its name.
        """
        if await self.create(key, document):
            return True
        found = await self.find(type(document), key)
        if found is not None and found.unproven is not None:
            raise ArchiveCorrupt(f"the record {key} in the archive does not count: {found.unproven}")
        return False

    async def find(
        self, model: type[Model], key: str, *, forgiving: bool = False
    ) -> FoundRecord[Model] | None:
        """The record of this name, and whether it counts; None where there is none. ``forgiving``: it counts
        also where its key was revoked since. Raises ArchiveError; DocumentUnreadable where it is another
        thing.
        """
        data = await self._archive.get_named(key)
        if data is None:
            return None
        why = await self._refused(key, data, forgiving=forgiving)
        return FoundRecord(decoded(model, data, key), why)

    async def proven(self, model: type[Model], key: str, *, forgiving: bool = False) -> Model | None:
        """The record of this name where it counts, else None. Raises ArchiveError; DocumentUnreadable where
        it counts, and is another thing.
        """
        data = await self._archive.get_named(key)
        if data is None or await self._refused(key, data, forgiving=forgiving) is not None:
            return None
        return decoded(model, data, key)

    async def counting(self, key: str) -> bytes | None:
        """The bytes of the record of this name where it counts, else None. Raises ArchiveError."""
        data = await self._archive.get_named(key)
        return data if data is not None and await self.counts(key, data) else None

    async def counts(self, key: str, data: bytes) -> bool:
        """Whether a record that was read before counts now. Raises ArchiveError."""
        return await self._refused(key, data, forgiving=False) is None

    async def each(self, model: type[Model], prefix: str) -> AsyncIterator[tuple[str, Model | ArchiveError]]:
        """The records under a prefix that count, also where their keys were revoked since, in no order; in
        the place of one that cannot be read now, why. Each by itself: what is another thing holds no other
        up. Where somebody floods the place, the first that were stored, and Flooded: there may be more.
        Raises ArchiveError where they cannot be listed.
        """

        async def look(key: str) -> FoundRecord[Model] | None:
            return await self.find(model, key, forgiving=True)

        keys = await self.keys_unless_flooded(prefix)
        flooded = keys is None
        if keys is None:
            keys = [key for key in await self._archive.oldest(prefix, MOST) if is_key(key)]
        async for key, found in side_by_side(keys, look):
            if isinstance(found, ArchiveError):
                if not isinstance(found, DocumentUnreadable):
                    yield key, found
            elif found is not None and found.unproven is None:
                yield key, found.record
        if flooded:
            # A store's times can be forged: what was stored first may be among the others.
            yield prefix, Flooded(f"more than {MOST:,} records at {prefix}: the oldest alone are looked at")

    async def is_unsigned(self, key: str) -> bool:
        """Whether the roots ask for a signature of this record, and no worker has signed it whose key they
        know, or knew. One that is signed may be of another version. Raises ArchiveError.
        """
        data = await self._archive.get_named(key)
        return data is not None and await self._refused(key, data, forgiving=True) is not None

    def asks_for_signatures(self) -> bool:
        """Whether the roots ask for signatures. Raises ArchiveUnavailable where they cannot be read."""
        return self._roots() is not None

    async def keys(self, prefix: str) -> AsyncIterator[str]:
        """The names of records under a prefix, in no order. What has a name that no worker can have given it
        counts for nothing; a few of these are told of. Raises ArchiveError.
        """
        odd = 0
        async for name in self._archive.list(prefix, odd=True):
            if is_key(name):
                yield name
            elif (odd := odd + 1) <= SIDE_BY_SIDE:
                await self._tell_odd(name)

    async def keys_unless_flooded(self, prefix: str) -> list[str] | None:
        """The same, of so many names as anybody looks at, odd ones among them; None where there are more.
        Raises ArchiveError.
        """
        keys, odd = list[str](), list[str]()
        async for name in self._archive.list(prefix, odd=True):
            (keys if is_key(name) else odd).append(name)
            if len(keys) + len(odd) > MOST:
                return None
        for name in odd[:SIDE_BY_SIDE]:
            await self._tell_odd(name)
        return keys

    async def _tell_odd(self, name: str) -> None:
        await self._tell(shown(name), b"", NO_KEY, self._now())

    async def _refused(self, key: str, data: bytes, *, forgiving: bool) -> str | None:
        roots = self._roots()
        if roots is None:
            return None
        now = self._now()
        why = refused(key, data, roots.forgiving if forgiving else roots, now)
        if why is not None:
            await self._tell(key, data, why, now)
        return why

    def _roots(self) -> Roots | None:
        """The roots, where they ask for signatures. Raises ArchiveUnavailable where they cannot be read."""
        try:
            return asking(self._files.current() if self._files else None)
        except RootsError as why:
            raise ArchiveUnavailable(f"whose records count is not known: {why}"[:200]) from None

    def _now(self) -> datetime:
        now = self._clock.now()
        return max(now, activity.info().started_time) if activity.in_activity() else now

    async def tell_damaged(self, key: str, of: str, data: bytes, why: str) -> None:
        """Say in the archive that the statement for which a name stands cannot be read. ``of``: where it
        lies, or would; ``data``: what lies there.
        """
        await self._tell(key, data, why, self._now(), of=of)

    async def _tell(self, key: str, data: bytes, why: str, now: datetime, *, of: str = "") -> None:
        """Say in the archive that a record does not count, for people to look at it."""
        name = unproven_key(key, data)
        if name in self._told:
            return
        if len(self._told) >= MOST_KNOWN:
            self._told.clear()
        self._told.add(name)
        if activity.in_activity():
            activity.logger.warning("%s in the archive does not count: %s", key, why)
        try:
            await create_record(self._archive, name, Unproven(key=key, why=why[:200], at=now, of=of))
        except ArchiveError as failure:
            self._told.discard(name)
            if activity.in_activity():
                activity.logger.warning("not recorded that %s does not count: %s", key, failure)

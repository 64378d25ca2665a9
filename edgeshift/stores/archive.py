"""The archive: a content-addressed store of snapshots, proposals, evidence and results, with named records
beside.

Objects lie under ``objects/<two digits>/<SHA-256>`` and are what their digest says, which every reading
checks. Named records lie under the key that they were given, such as ``intent/<zone>/<area>/<permit>``; one
that was created once is never replaced. A folder by default; S3, Google Cloud Storage and Azure by URL, with
the credentials of the environment or of the instance (docs/operators.md lists them).
"""

from __future__ import annotations

import hashlib
import heapq
import json
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import LocalStore, ObjectStore

from edgeshift.model.digests import sha256
from edgeshift.stores import folder_files
from edgeshift.stores.archive_errors import ArchiveCorrupt as ArchiveCorrupt
from edgeshift.stores.archive_errors import ArchiveError as ArchiveError
from edgeshift.stores.archive_errors import ArchiveMisconfigured as ArchiveMisconfigured
from edgeshift.stores.archive_errors import ArchiveMissing as ArchiveMissing
from edgeshift.stores.archive_errors import ArchiveUnavailable as ArchiveUnavailable
from edgeshift.stores.archive_keys import IDENTITY as IDENTITY
from edgeshift.stores.archive_keys import check_read, check_written, is_key, most_of
from edgeshift.stores.archive_keys import checked_key as checked_key
from edgeshift.stores.archive_keys import object_key as object_key
from edgeshift.stores.archive_opening import opened
from edgeshift.stores.object_stores import in_words, reason_of

T = TypeVar("T")

ONE_REQUEST = 4 * 1024 * 1024
"""Bytes of an object that goes to a store in one request; a larger one goes in parts."""

PART = 256 * 1024
"""Bytes of a part of a large object, about."""

SURE_FOR = 10.0
"""Seconds for which an archive at a store counts as there, once it was seen, where something is not found."""

_THERE = (AlreadyExistsError, FileExistsError)
_ABSENT = (NotFoundError, FileNotFoundError)


class Archive:
    """An archive at a folder (``/path``, ``./path``, ``file:///path``) or at ``s3://``, ``gs://``, ``az://``.

    A folder is made when it is not there, for its owner alone, if ``make`` says so; only then, and never by
    reading or writing. From then on, whatever is asked raises ArchiveUnavailable where the folder is gone or
    is another one; so it does at a store that no longer has the bucket, or the archive's name in it. Raises
    ArchiveMisconfigured with what would be right.
    """

    def __init__(self, url: str | Path, *, make: bool = True) -> None:
        self._place, self._remote, self._name = opened(str(url), make=make)
        self._identity: bytes | None = None
        self._sure_until = 0.0

    def __repr__(self) -> str:
        return f"Archive({self._name!r})"

    @property
    def name(self) -> str:
        """Where it is, for messages: a folder or a URL without secrets."""
        return self._name

    @property
    def folder(self) -> Path | None:
        """The folder that it is; None where it is none."""
        return self._place.path if self._place is not None else None

    @property
    def is_made(self) -> bool:
        """Whether its folder is there; of a store nobody knows before it is asked."""
        return self._place is None or self._place.path.exists()

    async def put_object(self, data: bytes, *, verify: bool = False) -> str:
        """Store ``data``; its digest. With ``verify`` it is read back, and on a folder flushed to the disk,
        first.

        Storing the same bytes again is the same object: it is not written again unless it is damaged, so that
        a store may keep everybody from changing what is there. Raises ArchiveUnavailable, ArchiveCorrupt.
        """
        key = object_key(digest := sha256(data))
        if not await self._stands(key, data, flush=verify):
            await self._put("write", key, data, "overwrite", flush=verify)
        if verify:
            await self.get_object(digest)
        return digest

    async def _stands(self, key: str, data: bytes, *, flush: bool) -> bool:
        """Whether an object is there by now; False where there is none, or something else in its place."""
        if len(data) <= ONE_REQUEST:
            try:
                await self._put("write", key, data, "create", flush=flush)
                return True
            except _THERE:
                pass
        if await self._content(key) != data:
            return False
        if flush:
            await self._flush(key)
        return True

    async def get_object(self, digest: str) -> bytes:
        """The bytes with this digest. Raises ArchiveMissing, ArchiveCorrupt, ArchiveUnavailable."""
        key = object_key(digest)
        data = await self._read(key)
        if data is None:
            raise ArchiveMissing(f"the archive {self._name} has no object {digest}", digest)
        if (found := sha256(data)) != digest:
            raise self._damaged(digest, found)
        return data

    async def object_parts(self, digest: str) -> AsyncIterator[bytes]:
        """The bytes with this digest, in parts, for what may be too large to hold. Raises what ``get_object``
        raises; that they are damaged only once all were given.
        """
        key, found = object_key(digest), hashlib.sha256()
        try:
            store = await self._store("read", key)
            if self._place is not None:
                await self._reach("read", key, folder_files.looked_at(self._place, key, most_of(key)))
            answer = await obstore.get_async(store, key)
            check_read(self._name, key, answer.meta["size"])
            async for part in answer.stream(min_chunk_size=PART):
                found.update(part)
                yield bytes(part)
        except _ABSENT:
            await self._refuse_when_gone("read", key)
            raise ArchiveMissing(f"the archive {self._name} has no object {digest}", digest) from None
        except (BaseError, OSError) as why:
            raise self._unavailable("read", key, why) from None
        if found.hexdigest() != digest:
            raise self._damaged(digest, found.hexdigest())

    def _damaged(self, digest: str, found: str) -> ArchiveCorrupt:
        return ArchiveCorrupt(f"{self._name}: object {digest} is damaged: its bytes have the digest {found}")

    async def get_json(self, digest: str) -> Any:
        """The JSON value with this digest. Raises what ``get_object`` raises, ArchiveCorrupt where it is
        no JSON.
        """
        data = await self.get_object(digest)
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise ArchiveCorrupt(f"{self._name}: object {digest} is not JSON") from None

    async def create_once(self, key: str, data: bytes, *, lasting: bool = True) -> bool:
        """Create the named record; False where one was there already, which stays as it was. ``lasting``: on
        a folder, it is on the disk when this returns, and outlives the machine.

        Of several that try at once, one is told True. Where storing was tried and its answer lost, the
        record may be there: ask again and it is False. Raises ArchiveUnavailable.
        """
        checked_key(key)
        try:
            await self._put("create", key, data, "create", flush=lasting)
        except _THERE:
            return False
        return True

    async def get_named(self, key: str) -> bytes | None:
        """The named record's bytes, or None where there is none; no bytes where it is no file, or larger than
        any record. Raises ArchiveUnavailable, also where it is the whole archive that is not there.
        """
        return await self._content(checked_key(key))

    async def stored_at(self, key: str) -> datetime:
        """When the named record was stored, by the store. Raises ArchiveMissing, ArchiveUnavailable."""
        try:
            store = await self._store("look at", checked_key(key))
            found = await self._reach("look at", key, obstore.head_async(store, key))
        except _ABSENT:
            await self._refuse_when_gone("look at", key)
            raise ArchiveMissing(f"the archive {self._name} has no record {key[:120]}") from None
        return found["last_modified"]

    async def holds(self, key: str, data: bytes) -> bool:
        """Whether a record is there with these bytes, flushed on a folder. Raises ArchiveUnavailable."""
        if await self.get_named(key) != data:
            return False
        await self._flush(key)
        return True

    async def oldest(self, prefix: str, most: int) -> list[str]:
        """The names under a prefix that were stored first, so many, also odd. Raises ArchiveUnavailable."""
        if self._place is not None:
            first = folder_files.in_a_thread(folder_files.oldest, self._place, checked_key(prefix), most)
            return await self._reach("list", prefix, first)
        found: list[tuple[datetime, str]] = []
        try:
            async for batch in obstore.list(await self._store("list", prefix), prefix=checked_key(prefix)):
                found += [(item["last_modified"], item["path"]) for item in batch]
                found = heapq.nsmallest(most, found)
        except (BaseError, OSError) as why:
            raise self._unavailable("list", prefix, why) from None
        if not found:
            await self._refuse_when_gone("list", prefix)
        return [key for _, key in found]

    async def lists(self, prefixes: Sequence[str], most: int) -> tuple[list[str], ...]:
        """The names under each of these prefixes of whole parts, in no order, keys or not; of one that has
        more than ``most``, so many and one. On a folder, in one go. Raises ArchiveUnavailable.
        """
        if self._place is not None:
            under = list(map(checked_key, prefixes))
            named = folder_files.in_a_thread(folder_files.names_of_each, self._place, under)
            found = await self._reach("list", ", ".join(prefixes), named)
            return tuple(keys[: most + 1] for keys in found)
        return tuple([await self._first(prefix, most + 1) for prefix in prefixes])

    async def _first(self, prefix: str, most: int) -> list[str]:
        keys: list[str] = []
        async for key in self.list(prefix, odd=True):
            keys.append(key)
            if len(keys) == most:
                break
        return keys

    async def list(self, prefix: str = "", *, odd: bool = False) -> AsyncIterator[str]:
        """The keys of everything under a prefix of whole parts, such as ``intent/<zone>``, in no order.
        ``odd``: also names that are no keys: edgeshift has written none of them, and none can be read.
        """
        under = checked_key(prefix) if prefix else None
        if self._place is not None:
            named = folder_files.in_a_thread(folder_files.names, self._place, under or "")
            for key in await self._reach("list", prefix, named):
                if odd or is_key(key):
                    yield key
            return
        found = False
        try:
            async for batch in obstore.list(await self._store("list", prefix), prefix=under):
                for item in batch:
                    found = True
                    if odd or is_key(item["path"]):
                        yield item["path"]
        except (BaseError, OSError) as why:
            raise self._unavailable("list", prefix, why) from None
        if not found:
            await self._refuse_when_gone("list", prefix)

    async def check(self) -> None:
        """Write, read back and list: for a person who asks whether the archive works. Raises ArchiveError."""
        digest = await self.put_object(b"edgeshift: the archive works\n", verify=True)
        async for _ in self.list(object_key(digest).rpartition("/")[0]):
            return
        raise ArchiveUnavailable(f"{self._name}: what was written is not listed")

    async def _content(self, key: str) -> bytes | None:
        try:
            return await self._read(key)
        except ArchiveCorrupt:
            # Whoever may write to the archive put it there: it counts as any rubbish does.
            return b""

    async def _read(self, key: str) -> bytes | None:
        found: bytes | None
        if self._place is not None:
            found = await self._reach("read", key, folder_files.read(self._place, key, most_of(key)))
        else:
            found = await self._fetched(key)
            if found is None:
                await self._refuse_when_gone("read", key)
        if found is not None and key == IDENTITY:
            self._is_named(found)
        return found

    async def _fetched(self, key: str) -> bytes | None:
        store = await self._store("read", key)

        async def read() -> bytes:
            found = await obstore.get_async(store, key)
            check_read(self._name, key, found.meta["size"])
            return bytes(await found.bytes_async())

        try:
            return await self._reach("read", key, read())
        except _ABSENT:
            return None

    async def _put(
        self, verb: str, key: str, data: bytes, mode: Literal["create", "overwrite"], *, flush: bool
    ) -> None:
        """Write it. ``flush``: on a folder, also to the disk. Raises ArchiveError, and for ``create`` what
        says that something is there.
        """
        check_written(self._name, key, len(data))
        work: Awaitable[Any]
        if self._place is not None:
            work = folder_files.written(self._place, key, data, once=mode == "create", flush=flush)
        else:
            work = obstore.put_async(await self._store(verb, key), key, data, mode=mode)
        try:
            await self._reach(verb, key, work)
        except _ABSENT as why:
            raise self._unavailable(verb, key, why) from None
        if key == IDENTITY:
            self._is_named(data)

    async def _store(self, verb: str, key: str) -> ObjectStore:
        """What it is written and read by. Raises ArchiveUnavailable where its folder is another one."""
        await self._stand(verb, key)
        if self._remote is None:
            assert self._place is not None
            try:
                self._remote = LocalStore(prefix=self._place.path)
            except (BaseError, OSError) as why:
                raise self._unavailable(verb, key, why) from None
        return self._remote

    async def _stand(self, verb: str, key: str) -> None:
        if self._place is not None:
            await self._reach(verb, key, folder_files.in_a_thread(self._place.check))

    async def _refuse_when_gone(self, verb: str, key: str) -> None:
        """Raises ArchiveUnavailable where something was not found because the whole archive is not there."""
        if self._place is not None:
            await self._stand(verb, key)
            return
        now = time.monotonic()
        if now < self._sure_until:
            return
        found = await self._fetched(IDENTITY)
        if found is not None:
            self._is_named(found)
        elif self._identity is not None:
            raise ArchiveUnavailable(
                f"{self._name}: could not {verb} {key[:120] or 'it'}: the store has lost {IDENTITY}: put the"
                " bucket back, or restart the workers where the archive was moved on purpose"
            )
        else:
            # One without a name yet, or no bucket at all, which lists nothing.
            store = await self._store(verb, key)
            try:
                async for _ in obstore.list(store, prefix=IDENTITY.partition("/")[0], chunk_size=1):
                    break
            except (BaseError, OSError) as why:
                said = f"the bucket or container cannot be listed either ({in_words(why)})"
                raise ArchiveUnavailable(f"{self._name}: could not {verb} {key[:120]}: {said}") from None
        self._sure_until = now + SURE_FOR

    def _is_named(self, found: bytes) -> None:
        """The archive's identity was read or written. Raises ArchiveUnavailable where it was another one."""
        if self._identity not in (None, found):
            raise ArchiveUnavailable(
                f"{self._name}: another archive is in its place: put it back, or restart the workers where it"
                " was changed on purpose"
            )
        self._identity = found
        if self._place is not None:
            self._place.named()

    async def _reach(self, verb: str, key: str, work: Awaitable[T]) -> T:
        try:
            return await work
        except (*_THERE, *_ABSENT):
            raise
        except folder_files.NoFile as why:
            raise ArchiveCorrupt(f"{self._name}: {key[:120]} cannot be read: {why}") from None
        except (BaseError, OSError) as why:
            raise self._unavailable(verb, key, why) from None

    def _unavailable(self, verb: str, key: str, why: Exception) -> ArchiveUnavailable:
        reason = reason_of(why, local=self._place is not None)
        return ArchiveUnavailable(f"{self._name}: could not {verb} {key[:120] or 'it'}: {reason}")

    async def _flush(self, key: str) -> None:
        """On a folder: the bytes and the name are on the disk when this returns, so that they outlive the
        machine.
        """
        if self._place is not None:
            try:
                await folder_files.flushed(self._place, key)
            except OSError as why:
                raise self._unavailable("flush", key, why) from None

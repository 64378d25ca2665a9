"""The archive: a content-addressed store of snapshots, proposals, evidence and results, with named records
beside.

Objects lie under ``objects/<two digits>/<SHA-256>`` and are what their digest says, which every reading
checks. Named records lie under the key that they were given, such as ``intent/<zone>/<area>/<permit>``; one
that was created once is never replaced. A folder by default; S3, Google Cloud Storage and Azure by URL, with
the credentials that their own tools use (environment, profile, instance).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import obstore
import rfc8785
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import LocalStore, ObjectStore

from edgeshift.stores import folder_files
from edgeshift.stores.object_stores import StoreRefused, folder_of, in_words, remote_store

T = TypeVar("T")

_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEY_PART = re.compile(r"[A-Za-z0-9._=@+-]{1,200}")
_REMOTE = ("s3", "s3a", "gs", "az", "adl", "abfs", "abfss")
_REMOTE_LIMIT = timedelta(seconds=60)
ONE_REQUEST = 4 * 1024 * 1024
"""Bytes of an object that goes to a store in one request; a larger one goes in parts."""

PART = 256 * 1024
"""Bytes of a part of a large object, about."""

_THERE = (AlreadyExistsError, FileExistsError)
_ABSENT = (NotFoundError, FileNotFoundError)


class ArchiveError(Exception):
    """Something is wrong with the archive. Texts are short and name the object."""


class ArchiveUnavailable(ArchiveError):
    """The archive could not be reached, read or written; trying again may help."""


class ArchiveMissing(ArchiveError):
    """There is no object with this digest, or no record under this key."""


class ArchiveCorrupt(ArchiveError):
    """What lies under a digest is not what the digest says."""


class ArchiveMisconfigured(ArchiveError, ValueError):
    """An archive URL or key that cannot be one; nothing was read or written."""


class Archive:
    """An archive at a folder (``/path``, ``./path``, ``file:///path``) or at ``s3://``, ``gs://``, ``az://``.

    A folder is made when it is not there, for its owner alone. Raises ArchiveMisconfigured with what would be
    right.
    """

    def __init__(self, url: str | Path) -> None:
        self._folder, self._store, self._name = _opened(str(url))

    def __repr__(self) -> str:
        return f"Archive({self._name!r})"

    @property
    def name(self) -> str:
        """Where it is, for messages: a folder or a URL without secrets."""
        return self._name

    @property
    def folder(self) -> Path | None:
        """The folder that it is; None where it is none."""
        return self._folder

    async def put_object(self, data: bytes, *, verify: bool = False) -> str:
        """Store ``data``; its digest. With ``verify`` it is read back, and on a folder flushed to the disk,
        first.

        Storing the same bytes again is the same object: it is not written again unless it is damaged, so that
        a store may keep everybody from changing what is there. Raises ArchiveUnavailable, ArchiveCorrupt.
        """
        digest = _sha256(data)
        key = object_key(digest)
        if not await self._stands(key, data):
            await self._reach("write", key, obstore.put_async(self._store, key, data, mode="overwrite"))
        if verify:
            await self._flush(key)
            await self.get_object(digest)
        return digest

    async def _stands(self, key: str, data: bytes) -> bool:
        """Whether an object is there by now; False where there is none, or something else in its place."""
        if len(data) <= ONE_REQUEST:
            try:
                await self._reach("write", key, obstore.put_async(self._store, key, data, mode="create"))
                return True
            except _THERE:
                pass
        return await self._read(key) == data

    async def get_object(self, digest: str) -> bytes:
        """The bytes with this digest. Raises ArchiveMissing, ArchiveCorrupt, ArchiveUnavailable."""
        key = object_key(digest)
        data = await self._read(key)
        if data is None:
            raise ArchiveMissing(f"the archive {self._name} has no object {digest}")
        if (found := _sha256(data)) != digest:
            raise self._damaged(digest, found)
        return data

    async def object_parts(self, digest: str) -> AsyncIterator[bytes]:
        """The bytes with this digest, in parts, for what may be too large to hold. Raises what ``get_object``
        raises; that they are damaged only once all were given.
        """
        key, found = object_key(digest), hashlib.sha256()
        try:
            answer = await obstore.get_async(self._store, key)
            async for part in answer.stream(min_chunk_size=PART):
                found.update(part)
                yield bytes(part)
        except _ABSENT:
            raise ArchiveMissing(f"the archive {self._name} has no object {digest}") from None
        except (BaseError, OSError) as why:
            raise self._unavailable("read", key, why) from None
        if found.hexdigest() != digest:
            raise self._damaged(digest, found.hexdigest())

    def _damaged(self, digest: str, found: str) -> ArchiveCorrupt:
        return ArchiveCorrupt(f"{self._name}: object {digest} is damaged: its bytes have the digest {found}")

    async def put_json(self, value: Any, *, verify: bool = False) -> str:
        """Store the canonical JSON of ``value`` (RFC 8785); its digest. Raises ArchiveError also for no
        JSON.
        """
        try:
            data = rfc8785.dumps(value)
        except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as why:
            raise ArchiveError(
                f"a value without canonical JSON ({type(why).__name__}) was not stored"
            ) from None
        return await self.put_object(data, verify=verify)

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
        record may be there: ask again and it is False.
        """
        checked_key(key)
        try:
            await self._reach("create", key, obstore.put_async(self._store, key, data, mode="create"))
        except _THERE:
            return False
        if lasting:
            await self._flush(key)
        return True

    async def get_named(self, key: str) -> bytes | None:
        """The named record's bytes, or None where there is none."""
        return await self._read(checked_key(key))

    async def stored_at(self, key: str) -> datetime:
        """When the named record was stored, by the store. Raises ArchiveMissing, ArchiveUnavailable."""
        try:
            found = await self._reach("look at", key, obstore.head_async(self._store, checked_key(key)))
        except _ABSENT:
            raise ArchiveMissing(f"the archive {self._name} has no record {key[:120]}") from None
        return found["last_modified"]

    async def holds(self, key: str, data: bytes) -> bool:
        """Whether the named record is there with these bytes, on a folder flushed to the disk. Raises
        ArchiveUnavailable.
        """
        if await self.get_named(key) != data:
            return False
        await self._flush(key)
        return True

    async def list(self, prefix: str = "") -> AsyncIterator[str]:
        """The keys of everything under a prefix of whole parts, such as ``intent/<zone>``, in no order."""
        under = checked_key(prefix) if prefix else None
        if self._folder is not None:
            named = folder_files.in_a_thread(folder_files.names, self._folder, under or "")
            for key in await self._reach("list", prefix, named):
                yield key
            return
        try:
            async for batch in obstore.list(self._store, prefix=under):
                for item in batch:
                    yield item["path"]
        except (BaseError, OSError) as why:
            raise self._unavailable("list", prefix, why) from None

    async def check(self) -> None:
        """Write, read back and list: for a person who asks whether the archive works. Raises ArchiveError."""
        digest = await self.put_object(b"edgeshift: the archive works\n", verify=True)
        async for _ in self.list(object_key(digest).rpartition("/")[0]):
            return
        raise ArchiveUnavailable(f"{self._name}: what was written is not listed")

    async def _read(self, key: str) -> bytes | None:
        if self._folder is not None:
            read_here = folder_files.in_a_thread(folder_files.content, self._folder, key)
            return await self._reach("read", key, read_here)

        async def read() -> bytes:
            found = await obstore.get_async(self._store, key)
            return bytes(await found.bytes_async())

        try:
            return await self._reach("read", key, read())
        except _ABSENT:
            return None

    async def _reach(self, verb: str, key: str, work: Awaitable[T]) -> T:
        try:
            return await work
        except (*_THERE, *_ABSENT):
            raise
        except (BaseError, OSError) as why:
            raise self._unavailable(verb, key, why) from None

    def _unavailable(self, verb: str, key: str, why: Exception) -> ArchiveUnavailable:
        # Texts of the store can carry whole requests: only their kind and, on a folder, the reason is named.
        reason = in_words(why)
        if isinstance(why, OSError) and why.strerror:
            reason = why.strerror
        elif self._folder and (found := re.search(r"\(os error (\d+)\)", str(why))):
            reason = os.strerror(int(found.group(1)))
        return ArchiveUnavailable(f"{self._name}: could not {verb} {key[:120] or 'it'}: {reason}")

    async def _flush(self, key: str) -> None:
        """On a folder: the bytes and the name are on the disk when this returns, so that they outlive the
        machine.
        """
        if self._folder is not None:
            path = self._folder / key
            try:
                await asyncio.to_thread(_fsync, path)
            except OSError as why:
                raise self._unavailable("flush", key, why) from None


def object_key(digest: str) -> str:
    """Where the object with this digest lies. Raises ArchiveMisconfigured for what is no digest."""
    if not _DIGEST.fullmatch(digest):
        raise ArchiveMisconfigured(
            f"{digest[:80]!r} is no digest: 64 lower-case hexadecimal digits are right"
        )
    return f"objects/{digest[:2]}/{digest}"


def checked_key(key: str) -> str:
    """A key of a named record. Raises ArchiveMisconfigured; ``objects/`` is the archive's own."""
    parts = key.split("/")
    if any(not _KEY_PART.fullmatch(part) or part in (".", "..") for part in parts):
        raise ArchiveMisconfigured(
            f"{key[:80]!r} is no key: parts of letters, digits and ._=@+- with slashes between are right"
        )
    return key


def _opened(url: str) -> tuple[Path | None, ObjectStore, str]:
    if "://" not in url:
        return _folder(Path(url).expanduser())
    parts = urlsplit(url)
    if (folder := folder_of(parts)) is not None:
        return _folder(folder)
    if parts.scheme not in _REMOTE or not parts.netloc:
        raise ArchiveMisconfigured(
            "archive: write it as a folder (/path or file:///path), s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or"
            " az://CONTAINER/PREFIX (it is not repeated here)"
        )
    try:
        return None, *remote_store(parts, limit=_REMOTE_LIMIT)
    except StoreRefused as why:
        raise ArchiveMisconfigured(f"archive: {why}") from None


def _folder(path: Path) -> tuple[Path, ObjectStore, str]:
    path = path.absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path, LocalStore(prefix=path), str(path)
    except (BaseError, OSError) as why:
        reason = why.strerror if isinstance(why, OSError) else in_words(why)
        raise ArchiveMisconfigured(f"archive: the folder {path} cannot be used: {reason}") from None


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _fsync(path: Path) -> None:
    for target, flags in ((path, os.O_RDONLY), (path.parent, os.O_RDONLY | os.O_DIRECTORY)):
        handle = os.open(target, flags)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

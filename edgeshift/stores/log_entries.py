"""Log entries and ownership challenges, read from where log jobs push them (docs/service.md §2.3, §4.2)."""

from __future__ import annotations

import asyncio
import heapq
import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore, MemoryStore, ObjectStore

from edgeshift.model.fleet import Zone
from edgeshift.runtime.files import path_named
from edgeshift.runtime.unpacking import NotWhole, gunzipped_parts
from edgeshift.stores.object_stores import StoreRefused, folder_of, in_words, remote_store

MOST_OBJECTS = 400
MOST_ENTRIES = 20_000
REMOTE_LIMIT = timedelta(seconds=80)
LARGEST_OBJECT = 64 * 1024 * 1024
LARGEST_UNPACKED = 256 * 1024 * 1024
"""Bytes of one object's entries, unpacked; one with more is passed over."""

MOST_LINES = 1_000_000
"""Lines of one object that are read."""

LONGEST_LINE = 1024 * 1024
"""Bytes of a line; a longer one is passed over, as what is no entry."""

LONGEST_WAY = timedelta(minutes=10)
"""How long after an entry the object that has it may be written."""

LARGEST_CHALLENGE = 64 * 1024
TIME_FIELD = "EdgeStartTimestamp"

_PART = 256 * 1024
"""Bytes that are unpacked and read at a time."""

_ABSENT = (NotFoundError, FileNotFoundError)


class LogStoreError(Exception):
    """Where log entries lie cannot be read. Texts name the store without credentials."""


class LogStore:
    """A folder or bucket into which log jobs push: ``file:///PATH``, ``s3://BUCKET/PREFIX``, ``gs://…``,
    ``az://…``; ``{zone}`` and ``{zone_id}`` in it stand for the zone. Raises LogStoreError for any other URL.
    """

    def __init__(self, url: str, zone: Zone) -> None:
        self._store, self._name = _opened(url, zone)

    def __repr__(self) -> str:
        return f"LogStore({self._name!r})"

    async def entries(self, since: datetime | None = None) -> AsyncIterator[dict[str, Any]]:
        """The newest entries, by object newest first, 20,000 at most; lines that are no JSON object are
        passed over.

        ``since``: by the service's time; entries that name an earlier time are left out, and objects older
        than one that holds nothing else are not read. An entry that names none is as old as its object.
        Raises LogStoreError.
        """
        left = MOST_ENTRIES
        for written, key in await self._newest():
            some = late = False
            parts = _entries(await self._read(key, LARGEST_OBJECT))
            # Whoever pushes there says how much: all else goes on meanwhile, and only what is needed is read.
            while (part := await asyncio.to_thread(next, parts, None)) is not None:
                some = some or bool(part)
                for entry in part:
                    if since is not None and (moment(entry.get(TIME_FIELD)) or written) < since:
                        continue
                    late = True
                    yield entry
                    left -= 1
                    if not left:
                        return
            if since is not None and some and not late:
                return

    async def before(self, until: datetime, most: int) -> list[dict[str, Any]]:
        """Entries from before a time, ``most`` at most: of the newest objects that were written before it,
        then of those that came a little later. An entry that names no time is as old as its object; an object
        that cannot be read is passed over. Raises LogStoreError.
        """
        found: list[dict[str, Any]] = []
        newest = [one for one in await self._newest() if one[0] <= until + LONGEST_WAY]
        for written, key in sorted(newest, key=lambda one: one[0] > until):
            try:
                parts = _entries(await self._read(key, LARGEST_OBJECT))
            except (FileNotFoundError, LogStoreError):
                continue
            while (part := await asyncio.to_thread(next, parts, None)) is not None:
                found += [entry for entry in part if (moment(entry.get(TIME_FIELD)) or written) < until]
                if len(found) >= most:
                    return found[:most]
        return found

    async def challenge(self, filename: str) -> str:
        """The ownership challenge in this file of the destination. Raises LogStoreError."""
        for key in dict.fromkeys((filename.strip("/"), filename.rpartition("/")[2])):
            try:
                text = (await self._read(key, LARGEST_CHALLENGE)).decode().strip()
            except FileNotFoundError:
                continue
            except UnicodeDecodeError:
                raise LogStoreError(f"{self._name}: the ownership challenge is not text") from None
            if text:
                return text
        raise LogStoreError(
            f"{self._name}: there is no ownership challenge in {filename[:100]}; log_fields.job.challenge is"
            " to name the bucket of the destination"
        )

    async def _newest(self) -> list[tuple[datetime, str]]:
        """When each of the newest objects was written, and its key; the newest first."""
        found: list[tuple[datetime, str]] = []
        try:
            async for batch in obstore.list(self._store):
                found += [
                    (item["last_modified"], item["path"])
                    for item in batch
                    if item["path"].endswith((".log", ".log.gz", ".json", ".json.gz", ".ndjson", ".gz"))
                ]
                found = heapq.nlargest(MOST_OBJECTS, found)
        except _ABSENT:
            return []
        except (BaseError, OSError) as why:
            raise self._unreadable("listed", why) from None
        return found

    async def _read(self, key: str, most: int) -> bytes:
        try:
            found = await obstore.get_async(self._store, key)
            if found.meta["size"] > most:
                raise LogStoreError(f"{self._name}: {key[:100]} is larger than {most} bytes")
            return bytes(await found.bytes_async())
        except _ABSENT:
            raise FileNotFoundError(key) from None
        except (BaseError, OSError, ValueError) as why:
            # Also for a name that no object can have, such as one with `..` in it.
            raise self._unreadable("read", why) from None

    def _unreadable(self, verb: str, why: Exception) -> LogStoreError:
        # Texts of the store can carry whole requests: only their kind is told.
        return LogStoreError(f"{self._name} could not be {verb}: {in_words(why)}")


def moment(value: object) -> datetime | None:
    """A time of a log entry: RFC 3339, seconds or nanoseconds since 1970; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        # A whole number may be past every float: it is compared before it becomes one.
        if not 0 <= value < 1e20:
            return None
        seconds = value / 1e9 if value > 1e12 else float(value)
        return datetime.fromtimestamp(seconds, UTC) if seconds < 1e11 else None
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _entries(data: bytes) -> Iterator[list[dict[str, Any]]]:
    """The entries of an object, those of a part of it at a time; none where it is not whole."""
    try:
        # Twice, since that it is whole is known at its end, and no more than a part of it is kept.
        for _ in _parts(data):
            pass
    except NotWhole:
        return
    read, line = 0, b""
    for part in _parts(data):
        *whole, line = (line + part).split(b"\n")
        whole = whole[: MOST_LINES - read]
        read += len(whole)
        yield [entry for one in whole if (entry := _entry(one)) is not None]
        if read == MOST_LINES:
            return
        # One that is too long stays so, whatever follows.
        line = line[: LONGEST_LINE + 1]
    if (last := _entry(line)) is not None:
        yield [last]


def _parts(data: bytes) -> Iterator[bytes]:
    """What an object holds, unpacked. Raises NotWhole."""
    if data[:2] == b"\x1f\x8b":
        yield from gunzipped_parts(data, LARGEST_UNPACKED, _PART)
    else:
        yield from (data[at : at + _PART] for at in range(0, len(data), _PART))


def _entry(line: bytes) -> dict[str, Any] | None:
    if len(line) > LONGEST_LINE:
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _opened(url: str, zone: Zone) -> tuple[ObjectStore, str]:
    try:
        parts = urlsplit(url.replace("{zone_id}", zone.id).replace("{zone}", quote(zone.name)))
    except ValueError:
        parts = urlsplit("")
    if (folder := folder_of(parts)) is not None:
        # Before the first batch there is nothing: no folder either.
        try:
            found = path_named(folder).is_dir()
            return (LocalStore(prefix=folder) if found else MemoryStore()), str(folder)
        except (BaseError, OSError) as why:
            raise LogStoreError(f"the store of log entries cannot be opened ({in_words(why)})") from None
    if parts.scheme not in ("s3", "gs", "az") or not parts.netloc:
        raise LogStoreError(
            "the store of log entries: write it as file:///FOLDER, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or"
            " az://CONTAINER/PREFIX (it is not repeated here)"
        )
    try:
        return remote_store(parts, limit=REMOTE_LIMIT)
    except StoreRefused as why:
        raise LogStoreError(f"the store of log entries: {why}") from None

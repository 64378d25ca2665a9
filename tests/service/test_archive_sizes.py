"""What lies at a place of the archive and is no file, or larger than anything that edgeshift writes: named at
once, whoever put it there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from edgeshift.model.fleet import Plan, Target, Zone
from edgeshift.stores import archive_keys
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveError
from edgeshift.stores.archive_keys import LARGEST_OBJECT, LARGEST_RECORD, object_key
from edgeshift.stores.documents import (
    DocumentUnreadable,
    FrozenTargets,
    Intent,
    get_document,
    get_record,
    put_document,
)

KEY, DIGEST = "intent/zone/waf/1", "a" * 64


async def _parts(archive: Archive) -> list[bytes]:
    return [part async for part in archive.object_parts(DIGEST)]


READ: dict[str, tuple[str, int, Callable[[Archive], Awaitable[Any]]]] = {
    "an object": (object_key(DIGEST), LARGEST_OBJECT, lambda archive: archive.get_object(DIGEST)),
    "an object in parts": (object_key(DIGEST), LARGEST_OBJECT, _parts),
}


@pytest.mark.parametrize("what", READ)
async def test_what_is_no_file_keeps_nobody_waiting(what: str, tmp_path: Path) -> None:
    """A pipe, to which nobody writes; a link to a device that has no end."""
    key, _, read = READ[what]
    place = tmp_path / key
    place.parent.mkdir(parents=True)
    puts: tuple[Callable[[], None], ...] = (
        lambda: os.mkfifo(place),
        lambda: place.symlink_to("/dev/zero"),
    )
    for put in puts:
        put()
        async with asyncio.timeout(20):
            with pytest.raises(ArchiveCorrupt, match="it is no file"):
                await read(Archive(tmp_path))
        place.unlink()


@pytest.mark.parametrize("what", READ)
async def test_what_is_larger_than_anything_that_is_written_is_not_read(what: str, tmp_path: Path) -> None:
    """Its size is asked for first: a terabyte is refused as quickly as a byte too many."""
    key, most, read = READ[what]
    place = tmp_path / key
    place.parent.mkdir(parents=True)
    for size in (most + 1, 2**40):
        place.touch()
        os.truncate(place, size)
        async with asyncio.timeout(20):
            with pytest.raises(ArchiveCorrupt, match=f"more than {most:,} bytes"):
                await read(Archive(tmp_path))


async def test_a_record_that_is_no_file_or_too_large_counts_as_rubbish(tmp_path: Path) -> None:
    """Whoever may write to the archive can put either there: it is there, and nothing can be read of it."""
    place = tmp_path / KEY
    place.parent.mkdir(parents=True)

    def too_large() -> None:
        place.touch()
        os.truncate(place, LARGEST_RECORD + 1)

    for put in (too_large, lambda: os.mkfifo(place), lambda: place.symlink_to("/dev/zero")):
        put()
        async with asyncio.timeout(20):
            assert await Archive(tmp_path).get_named(KEY) == b""
            with pytest.raises(DocumentUnreadable, match="it is not JSON"):
                await get_record(Archive(tmp_path), Intent, KEY)
            assert not await Archive(tmp_path).holds(KEY, b"{}")
        place.unlink()


async def test_what_is_in_the_place_of_an_object_gives_way_to_it(tmp_path: Path) -> None:
    """As one that is damaged: storing it once more puts it right."""
    archive = Archive(tmp_path)
    place = tmp_path / object_key(digest := await archive.put_object(b"whole"))
    place.unlink()
    os.mkfifo(place)
    async with asyncio.timeout(20):
        assert await archive.put_object(b"whole", verify=True) == digest
    assert await archive.get_object(digest) == b"whole"


async def test_what_nobody_would_read_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored can be read again."""
    archive = Archive(tmp_path)
    with pytest.raises(ArchiveError, match="was not stored"):
        await archive.create_once(KEY, bytes(LARGEST_RECORD + 1))
    monkeypatch.setattr(archive_keys, "LARGEST_OBJECT", 1_000)
    with pytest.raises(ArchiveError, match="was not stored"):
        await archive.put_object(bytes(1_001))
    assert [key async for key in archive.list()] == []


@pytest.mark.long
async def test_the_targets_of_a_large_fleet_are_read(tmp_path: Path) -> None:
    """100,000 of them, with long names."""
    zones = (
        Zone(id=f"{number:032x}", name=f"{number}.{'x' * 60}.example", account="a" * 32, plan=Plan.PRO)
        for number in range(100_000)
    )
    archive = Archive(tmp_path)
    digest = await put_document(archive, FrozenTargets(tuple(Target(zone=one, wave=3) for one in zones)))
    assert (tmp_path / object_key(digest)).stat().st_size > LARGEST_RECORD
    assert len((await get_document(archive, FrozenTargets, digest)).root) == 100_000


async def test_a_store_is_asked_for_the_size_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same bounds: what a bucket has in such a place is not fetched."""
    archive = Archive(tmp_path)
    await archive.create_once(KEY, bytes(2_000))
    monkeypatch.setattr(archive_keys, "LARGEST_RECORD", 1_000)
    with pytest.raises(ArchiveCorrupt, match="more than 1,000 bytes"):
        await archive._fetched(KEY)

"""An archive has one identity, whoever asks, and as long as it is there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from edgeshift.stores.archive import Archive, ArchiveCorrupt
from edgeshift.stores.identity import KEY, identity_of, known_identity


async def test_an_archive_is_named_once(tmp_path: Path) -> None:
    """Twenty that ask at once are told the same, and so is who opens it later; another has another."""
    archive = Archive(tmp_path / "one")
    assert await known_identity(archive) is None
    assert await archive.get_named(KEY) is None
    (found,) = set(await asyncio.gather(*(identity_of(Archive(tmp_path / "one")) for _ in range(20))))
    assert await known_identity(archive) == await identity_of(archive) == found
    assert await identity_of(Archive(tmp_path / "other")) != found


@pytest.mark.parametrize("planted", [b"", b"me", b"g" * 32, b"0" * 33, "ü".encode() * 16])
async def test_a_record_that_is_none_is_named(tmp_path: Path, planted: bytes) -> None:
    """It is not taken for an identity, and not replaced."""
    archive = Archive(tmp_path)
    await archive.create_once(KEY, planted)
    for ask in (known_identity, identity_of):
        with pytest.raises(ArchiveCorrupt, match="archive/identity is no identity"):
            await ask(archive)
    assert await archive.get_named(KEY) == planted

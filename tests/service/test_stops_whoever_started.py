"""A stop is signed also where somebody floods the archive with names of starts, and where the starter's key
was revoked here: workers may go on by that start. Where nothing can be said of it, nothing is.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edgeshift.authority import records
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.loading import load_roots
from edgeshift.operations.errors import NotBegun, StartNotKnown
from edgeshift.operations.pen import Pen
from edgeshift.operations.proof import UNKNOWN, is_unsigned, note_of
from edgeshift.stores.archive import Archive, ArchiveError
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import ago


def pen(door: Guarded, roots: Path, archive: Archive | None = None) -> Pen:
    """An operator's, by these roots."""
    return Pen(door.key("sam"), archive or door.archive, "sam", load_roots(roots))


async def test_names_of_starts_keep_nobody_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than anybody looks at, of which none has a statement."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=1))
        monkeypatch.setattr(records, "MOST", 5)
        for number in range(9):
            await door.archive.create_once(f"signed/{door.campaign}/start/{number:064x}", b"{}")
        mine = pen(door, door.keyring.roots)
        assert await mine.can_stop(door.campaign) and await mine.has_begun(door.campaign)
        await mine.word(door.campaign, None, "abort")
        assert not await mine.can_stop(door.campaign) and await mine.has_begun(door.campaign)


async def test_a_stop_is_signed_when_the_starter_is_revoked_here(tmp_path: Path) -> None:
    """Workers that have not heard of it heed the stop; a resume is not signed to such a start."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=1))
        await door.approve()
        here = shutil.copytree(door.keyring.roots.parent, tmp_path / "here") / door.keyring.roots.name
        assert RootsEditor(here).revoke("olga")
        mine = pen(door, here)
        assert await mine.can_stop(door.campaign) and await mine.has_begun(door.campaign)
        await mine.word(door.campaign, door.gate.start.spec, "pause")
        with pytest.raises(StartNotKnown, match="was revoked"):
            await mine.word(door.campaign, door.gate.start.spec, "resume")
        assert "paused by sam" in (await door.commit()).reason and await door.sent() == 0


async def test_a_start_of_somebody_unknown_here_is_not_called_unsigned(tmp_path: Path) -> None:
    """Nothing is signed to it: a stranger may have signed it."""
    async with guarded(tmp_path) as door:
        with pytest.raises(NotBegun, match="was not signed"):
            await pen(door, door.keyring.roots).word(door.campaign, None, "pause")
        await door.begin(issued=ago(hours=1))
        with door.without("olga"):
            mine = pen(door, door.keyring.roots)
            with pytest.raises(StartNotKnown, match="olga is no starter"):
                await mine.word(door.campaign, None, "pause")
            assert not await mine.can_stop(door.campaign) and not await mine.has_begun(door.campaign)
            note = await note_of(door.archive, door.campaign, None, load_roots(door.keyring.roots))
            assert note == UNKNOWN and not is_unsigned(note)


async def test_an_archive_that_cannot_be_read_says_nothing_of_starts(tmp_path: Path) -> None:
    """Neither that there is one nor that there is none."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=1))
        gone = Archive(tmp_path / "gone")
        shutil.rmtree(tmp_path / "gone", ignore_errors=True)
        mine = pen(door, door.keyring.roots, gone)
        for asked in mine.can_stop, mine.has_begun:
            with pytest.raises(ArchiveError):
                await asked(door.campaign)

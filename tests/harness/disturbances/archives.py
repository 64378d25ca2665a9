"""An archive that is slow, that is gone for a while, or of which one object is damaged."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.harness.disturbances import Acting, Disturbance, disturbance
from tests.harness.switches import Switches


def folder(acting: Acting) -> Path:
    """The archive's folder."""
    return acting.stage.play.folder / "state" / "archive"


def object_path(acting: Acting, digest: str) -> Path:
    """Where the object of this digest lies."""
    return folder(acting) / "objects" / digest[:2] / digest


async def slow(acting: Acting, each: float, seconds: float, most: float = 0.0) -> None:
    """Let every call to the archive take ``each`` seconds, for a while; where nobody has called it, for
    ``most`` seconds.
    """
    switches = Switches(acting.order.folder)
    switches.slow(each)
    try:
        await asyncio.sleep(seconds)
        while seconds < most and not switches.count("archive-slow"):
            await asyncio.sleep(0.5)
            seconds += 0.5
    finally:
        switches.slow(0)


async def gone(acting: Acting, seconds: float) -> None:
    """Let a file stand where the archive's folder was, for a while: nothing can be read or written."""
    archive = folder(acting)
    aside = archive.with_name("archive-aside")
    archive.rename(aside)
    try:
        archive.touch()
        acting.told("archive gone")
        await asyncio.sleep(seconds)
    finally:
        archive.unlink(missing_ok=True)
        aside.rename(archive)


async def unreachable(acting: Acting, seconds: float) -> None:
    """Let every call to the archive fail, for a while."""
    switches = Switches(acting.order.folder)
    switches.down(True)
    try:
        await asyncio.sleep(seconds)
    finally:
        switches.down(False)


class Damage:
    """One damaged object, which is as it was after ``fix``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept = path.read_bytes()
        path.write_bytes(self._kept[:-1] + bytes([self._kept[-1] ^ 0x20]))

    def fix(self) -> None:
        """Put it back."""
        self.path.write_bytes(self._kept)


async def _of_zone(acting: Acting) -> Path | None:
    """The snapshot or the proposal of some zone that waits, or None."""
    play = acting.stage.play
    short = acting.chance.choice(acting.stage.names)
    try:
        state = await asyncio.wait_for(play.state(acting.stage.name(short)), 5)
    except Exception:
        # Nobody answers for it at the moment.
        return None
    digest = acting.chance.choice([state.snapshot, state.proposal])
    found = object_path(acting, digest)
    return found if digest and found.is_file() else None


async def _slow(acting: Acting) -> None:
    for _ in range(acting.chance.randint(1, 6)):
        await asyncio.sleep(acting.chance.uniform(0.5, 4.0))
        await slow(acting, acting.chance.choice([0.3, 1.0, 3.0]), acting.chance.uniform(2.0, 8.0))


async def _gone(acting: Acting) -> None:
    for _ in range(acting.chance.randint(1, 4)):
        await asyncio.sleep(acting.chance.uniform(0.5, 4.0))
        await acting.chance.choice([gone, unreachable])(acting, acting.chance.uniform(0.5, 6.0))


async def _damaged(acting: Acting) -> None:
    for _ in range(acting.chance.randint(2, 6)):
        await asyncio.sleep(acting.chance.uniform(0.2, 2.0))
        path = await _of_zone(acting)
        if path is None:
            continue
        damage = Damage(path)
        acting.told("object damaged")
        try:
            await asyncio.sleep(acting.chance.uniform(0.5, 4.0))
        finally:
            damage.fix()


disturbance(Disturbance("archive-slow", _slow))
disturbance(Disturbance("archive-gone", _gone))
disturbance(Disturbance("archive-corrupt", _damaged, leaves_people_work=True))

"""Scenes of the archive's records: somebody lays them there in a worker's place, or all of them are gone."""

from __future__ import annotations

import asyncio
import contextlib

from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Area
from edgeshift.stores.documents import intents_at
from tests.harness.aimed.scene import judged, waits
from tests.harness.aimed.waf import PRO, cut_off
from tests.harness.cases import World
from tests.harness.verdict import Verdict

TAKES = 40.0
"""Seconds of a migration."""

LOOKS = 15.0
"""Seconds in which a zone that believes that nothing was sent proposes it again."""


async def nothing_came_of_it(world: World) -> Verdict:
    """A zone is cut off while its commit is under way, somebody lays beside the intent that nothing came of
    it, and the zone is begun again and signed before the commit shows.
    """
    async with cut_off(world, TAKES) as stage:
        play = stage.play
        target = play.targets[play.index(stage.name("a"))].zone
        async for intent in play.archive.list(intents_at(target, Area.WAF)):
            planted = canonical_bytes({"reason": "answered"})
            await play.archive.create_once(intent.replace("intent/", "nothing/", 1), planted)
        await play.again("retry", stage.name("a"))

        async def signed() -> None:
            await play.zone_until(stage.name("a"), _asks, LOOKS)
            await play.sign_zone(stage.name("a"))

        # Where it waits for what may still show, as it should, nobody can sign anything.
        with contextlib.suppress(TimeoutError, AssertionError):
            await asyncio.wait_for(signed(), LOOKS)
        await waits(stage, "open")
        return await judged(stage, PRO)


async def archive_moved_away(world: World) -> Verdict:
    """A zone is cut off while its commit is under way, the archive's folder is moved away, and the zone is
    begun again and signed before the commit shows. Then the folder is put back.
    """
    async with cut_off(world, TAKES, authority=None) as stage:
        play, archive = stage.play, stage.play.archive.folder
        assert archive is not None
        aside = archive.rename(archive.with_name("archive-aside"))
        await play.again("retry", stage.name("a"))

        async def sent_again() -> None:
            await play.zone_until(stage.name("a"), _asks, LOOKS)
            await play.sign_zone(stage.name("a"))
            await stage.phase("a", ZonePhase.VERIFYING, within=LOOKS)

        with contextlib.suppress(TimeoutError, AssertionError):
            await asyncio.wait_for(sent_again(), LOOKS)
        if archive.exists():
            archive.rename(archive.with_name("archive-made-anew"))
        aside.rename(archive)
        await waits(stage, "open")
        return await judged(stage, PRO)


def _asks(state: ZoneState) -> bool:
    return state.attempt > 1 and state.phase is ZonePhase.AWAITING_SIGN_OFF

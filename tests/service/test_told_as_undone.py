"""What workers sign of a target that is told as rolled back, or as found migrated, by what is on record."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.area_work import AreaWork
from activities.change.intents import close_intents, intent_key
from activities.comparing import Comparing
from activities.waf.changes import WafWork
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ComparedOutcomes, CompareOutcomes
from edgeshift.model.fleet import Area, Zone, ZoneOutcome
from edgeshift.service_api import ServiceClient
from edgeshift.stores.documents.unproven import unproven_there
from tests.forgeries.doors import Guarded, guarded


async def _changed(door: Guarded) -> None:
    """A worker records a commit of the campaign's, and that somebody has seen its effect."""
    intent = await door.sent_before("late", 0)
    await close_intents(door.gate.connections, door.gate.zone, Area.WAF, {intent})


@dataclass(eq=False)
class ReadSlowly(WafWork):
    """Reads a zone before the campaign changes it, and tells it afterwards."""

    door: Guarded

    def __post_init__(self) -> None:
        super().__init__(self.door.gate.connections)

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone, *, urgent: bool = False
    ) -> tuple[ZoneOutcome | None, str]:
        """What the zone was before."""
        found = await super().standing(client, spec, zone, urgent=urgent)
        await _changed(self.door)
        return found


class ShowsMigrated(WafWork):
    """Reads a zone that is migrated."""

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone, *, urgent: bool = False
    ) -> tuple[ZoneOutcome | None, str]:
        """As the service shows it."""
        return ZoneOutcome.MIGRATED, "the service shows it"


async def _compared(
    door: Guarded, work: AreaWork, attempt: int = 1, told: ZoneOutcome = ZoneOutcome.ROLLED_BACK
) -> ComparedOutcomes:
    start = door.gate.start
    batch = CompareOutcomes(
        origin=start.campaign_run,
        targets=door.targets,
        spec=start.spec,
        area=start.area,
        indexes=(0,),
        attempts=(attempt,),
        outcomes=(told,),
        settles_in=timedelta(0),
    )
    return await Comparing(door.gate.connections, {Area.WAF: work}, batch).all(signed=True)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
async def test_what_is_changed_while_it_is_read_is_not_signed_as_rolled_back(
    when: str, tmp_path: Path
) -> None:
    """Of a change from before, whose effect the service does not show any more, it is."""
    async with guarded(tmp_path) as door:
        await door.begin()
        there, start = door.gate.connections, door.gate.start
        if when == "before":
            await _changed(door)
            found = await _compared(door, WafWork(there))
        else:
            found = await _compared(door, ReadSlowly(door))
        spec = await there.spec(start.spec)
        signed = await there.results.proven(spec, start.campaign_run, door.gate.zone.id, 1)
        if when == "before":
            assert (found.wrong, set(signed)) == ((), {ZoneOutcome.ROLLED_BACK})
        else:
            assert [one.shown for one in found.wrong] == [ZoneOutcome.FAILED] and not signed


async def test_an_earlier_attempts_change_says_nothing_of_a_later_attempt(tmp_path: Path) -> None:
    """Whoever asks for the second one before it has sent anything could have it told as rolled back later."""
    async with guarded(tmp_path) as door:
        await door.begin()
        there, start = door.gate.connections, door.gate.start
        await _changed(door)
        found = await _compared(door, WafWork(there), attempt=2)
        spec = await there.spec(start.spec)
        assert [one.shown for one in found.wrong] == [ZoneOutcome.FAILED]
        assert not await there.results.proven(spec, start.campaign_run, door.gate.zone.id, 2)


async def test_what_was_sent_after_it_was_signed_as_rolled_back_is_asked_of_the_service(
    tmp_path: Path,
) -> None:
    """The attempt has sent it once more since: its result is of before."""
    async with guarded(tmp_path) as door:
        await door.begin()
        intent = await door.sent_before("first", 3)
        await close_intents(door.gate.connections, door.gate.zone, Area.WAF, {intent})
        work = WafWork(door.gate.connections)
        assert (await _compared(door, work)).read == 1
        assert (await _compared(door, work)).read == 0
        await asyncio.sleep(1.1)
        await _changed(door)
        assert (await _compared(door, work)).read == 1


async def test_a_record_that_cannot_be_read_makes_its_own_target_unknown(tmp_path: Path) -> None:
    """It may stand for what the attempt has sent since it was signed as rolled back. The comparison goes on,
    says which record it is, and an alarm does.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await _changed(door)
        work = WafWork(door.gate.connections)
        assert (await _compared(door, work)).wrong == ()
        damaged = intent_key(door.gate.zone, Area.WAF, "damaged")
        await door.archive.create_once(damaged, b'{"step": "com')
        (wrong,) = (await _compared(door, work)).wrong
        assert (wrong.told, wrong.shown) == (ZoneOutcome.ROLLED_BACK, ZoneOutcome.UNKNOWN)
        assert damaged in wrong.said
        assert [one.key for one in (await unproven_there(door.archive)).found] == [damaged]


@pytest.mark.parametrize("whose", ["its own", "not told", "another's"])
async def test_what_the_campaign_has_migrated_is_not_told_as_found_so(tmp_path: Path, whose: str) -> None:
    """It is migrated, by a commit that is on record as its own. Where nobody can tell whose that was, nothing
    is signed, and nothing told as wrong.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        if whose == "not told":
            await door.sent_before("first", 1, by_worker=False)
        else:
            more: dict[str, Any] = {} if whose == "its own" else {"run": "another"}
            await door.sent_before("first", 1, **more)
        there, start, found = door.gate.connections, door.gate.start, ZoneOutcome.ALREADY_MIGRATED
        wrong = (await _compared(door, ShowsMigrated(there), told=found)).wrong
        spec = await there.spec(start.spec)
        signed = await there.results.proven(spec, start.campaign_run, door.gate.zone.id, 1)
        if whose == "its own":
            assert [one.shown for one in wrong] == [ZoneOutcome.MIGRATED] and not signed
        else:
            assert wrong == () and set(signed) == ({found} if whose == "another's" else set())

"""Many records planted beside what was sent to a zone: they slow nobody down for good, and hide nothing."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from activities.change.intent_records import intents_of
from activities.connections import Connections
from activities.proof.authority import NotSigned
from edgeshift.authority.records import Flooded
from edgeshift.messages import ChangeStatus, Step
from edgeshift.model.fleet import Area
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Intent, encoded, intents_at
from tests.forgeries.doors import Guarded, guarded
from tests.service.records_kit import KEY, ZONE, intent, kept_in
from tests.service.test_rollback_authority import ask, sent

PLANTED = {"rubbish": b"{}", "unsigned": encoded(intent())}
FEW = 40
"""More than are looked at, in these tests."""


class Counted(Archive):
    """One far away, that says how many calls were made one after the other."""

    beside, turns = 0, 0

    async def _turn(self) -> None:
        self.beside += 1
        if self.beside == 1:
            self.turns += 1
        await asyncio.sleep(0.005)
        self.beside -= 1

    async def get_named(self, key: str) -> bytes | None:
        """After a while."""
        await self._turn()
        return await super().get_named(key)

    async def stored_at(self, key: str) -> datetime:
        """After a while."""
        await self._turn()
        return await super().stored_at(key)


@pytest.mark.parametrize("what", PLANTED)
async def test_planted_intents_are_looked_at_side_by_side(tmp_path: Path, what: str) -> None:
    """One after the other, a few hundred held a rollback up until its time ran out."""
    kept = kept_in(tmp_path)
    await kept.sent()
    for number in range(64):
        kept.lay(f"{KEY}-{number:02}", PLANTED[what])
    far = Counted(tmp_path / "archive")
    kept.records._archive = far
    there = cast(Connections, SimpleNamespace(**{**vars(kept.connections), "archive": far}))
    found = [one async for one in intents_of(there, ZONE, Area.ESC, forgiving=True, damaged=True)]
    assert len(found) == 65 and [one.key for one in found if one.proven] == [KEY]
    assert far.turns <= 5 * 5, "of 65 records, sixteen at a time, each takes five calls at most"


async def test_rubbish_beside_rubbish_holds_no_rollback_up(tmp_path: Path) -> None:
    """What cannot be read says nothing of what cannot be read."""
    kept = kept_in(tmp_path)
    await kept.sent()
    for place in ("intent", "nothing"):
        kept.lay(KEY.replace("intent/", f"{place}/", 1) + "-x", b"{")
    found = [one async for one in intents_of(kept.connections, ZONE, Area.ESC, damaged=True)]
    assert {one.key: one.proven for one in found} == {KEY: True, f"{KEY}-x": False}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a flood takes no minute."""
    for module in ("activities.change.intent_records", "activities.proof.records"):
        monkeypatch.setattr(f"{module}.MOST", FEW)


def flood(door: Guarded, ago: timedelta, names: str = "planted-{}") -> None:
    """Plant more records beside a zone's than are looked at, as if so long ago."""
    from tests.service.records_kit import Kept

    place = intents_at(door.gate.zone, door.gate.start.area)
    kept = cast(Kept, SimpleNamespace(path=lambda key: Path(str(door.archive.folder)) / key))
    for number in range(FEW + 1):
        Kept.lay(kept, f"{place}/{names.format(number)}", b"{}", ago=ago)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("names", ["planted-{}", "no key {}"])
async def test_nothing_is_committed_beside_more_records_than_anybody_looks_at(
    tmp_path: Path, names: str
) -> None:
    """Also where they have names that no worker gives: what is sent is then one of the first, for whoever has
    to take it back.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        flood(door, timedelta(days=9), names)
        result = await door.commit()
        assert result.status is not ChangeStatus.ANSWERED, result
        assert "nothing is committed beside" in result.reason, result
        assert await door.sent() == 0


@pytest.mark.usefixtures("few")
async def test_no_flood_of_intents_holds_a_rollback_back(tmp_path: Path) -> None:
    """What was sent is among the first that were stored."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent(door)
        await ask(door)
        flood(door, -timedelta(seconds=9))
        await ask(door)


@pytest.mark.usefixtures("few")
async def test_what_a_flood_may_hide_is_not_taken_for_absent(tmp_path: Path) -> None:
    """A store's times can be forged: nobody can tell then what was sent, nor says that it was nothing."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        with pytest.raises(NotSigned, match="nothing is on record"):
            await ask(door)
        await sent(door)
        flood(door, timedelta(days=9))
        with pytest.raises(Flooded):
            await ask(door)
        there = door.gate.connections
        place = intents_at(door.gate.zone, door.gate.start.area)
        *_, (_, last) = [one async for one in there.records.each(Intent, place)]
        assert isinstance(last, Flooded)
        back = await door.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
        assert back.status is ChangeStatus.NOTHING_HAPPENED and not back.final, back

"""Records that somebody plants about a permit: neither its holder nor whoever takes it back counts them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities import connections
from activities.change.door import SIDE_BY_SIDE
from activities.change.intent_records import intents_of
from activities.change.intents import PermitOnRecord, fix_permit
from activities.change.not_sent import NotSent
from edgeshift.authority.editing import RootsEditor
from edgeshift.messages import Change, ChangeStatus, GiveUpPermits, PermitsGivenUp
from edgeshift.model.fleet import Area
from edgeshift.stores.archive import ArchiveMisconfigured
from edgeshift.stores.documents import Intent, create_record, intent_key, unproven_there
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import begun
from tests.service.test_called_off import fixed

ODD_NAMES = ("", "a/b", "p-1-{}/x", ".", "..", "a b", "x" * 201)
"""Names of permits that no campaign gives. One leads below the record of a permit that a campaign gives."""


@pytest.fixture(autouse=True)
def _no_resets(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run of the campaign came out of a reset, and no server is asked."""

    async def was_reset(client: object, identifier: str, run: str) -> bool:
        return False

    monkeypatch.setattr(connections, "was_reset", was_reset)


async def test_a_planted_intent_under_its_permit_keeps_a_change_from_being_sent_and_is_named(
    tmp_path: Path,
) -> None:
    """It may have the place of one that was sent: whether it was is looked for at the service. It is given up
    by nobody's word but a worker's.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        gate = door.gate
        change = await gate.message(gate.body, gate.body)
        key = intent_key(gate.zone, gate.start.area, change.permit.name)
        said = Intent(step="given_up", at=datetime.now(UTC), campaign=gate.start.campaign)
        await create_record(door.archive, key, said)
        result = await door.commit()
        assert result.status is ChangeStatus.UNKNOWN and not result.called_off
        assert not await gate.give_up(gate.body, gate.body)
        assert await door.sent() == 0
        assert await fixed(gate, change) == PermitsGivenUp()
        assert await fixed(gate, change, later=timedelta(minutes=2)) == PermitsGivenUp(over=(1,))
        (found,) = (await unproven_there(door.archive)).found
        assert found.key == key


async def test_a_planted_word_that_a_request_is_over_ends_no_pause(tmp_path: Path) -> None:
    """Whoever stops the campaign asks the zone, as long as no worker has said so."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        gate = door.gate
        change = await gate.message(gate.body, gate.body)
        assert (await door.commit()).status is ChangeStatus.ANSWERED
        assert await fixed(gate, change) == PermitsGivenUp(over=(1,))
        assert door.archive.folder is not None
        (over,) = [key async for key in door.archive.list("over")]
        (door.archive.folder / over).write_bytes(b"{}")
        assert await fixed(gate, change) == PermitsGivenUp()


def _named(change: Change, name: str) -> Change:
    return change.model_copy(update={"permit": change.permit.model_copy(update={"name": name})})


def _intents(door: Guarded) -> list[str]:
    """What lies under the zone's intents, or in their place."""
    assert door.archive.folder is not None
    return [str(path) for path in (door.archive.folder / "intent").rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_nothing_is_sent_or_recorded_under_a_name_that_no_permit_has(name: str, tmp_path: Path) -> None:
    """By whatever people have approved: no listing would find its record, or it would be in the way of all
    others. The zone is changed under a permit of its campaign's as ever, and what was sent is found.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        gate = door.gate
        genuine = await gate.message(gate.body, gate.body)
        forged = _named(genuine, name.format(genuine.permit.name))
        for anew in (False, True):
            asked = forged.model_copy(update={"anew": anew})
            result = await begun().run(gate._activities.change, asked)
            assert result.status is ChangeStatus.NOTHING_HAPPENED and result.stands, result
            assert "name" in result.reason
        assert not (await begun().run(gate._activities.give_up, forged)).given_up
        assert await fixed(gate, forged) == PermitsGivenUp()
        assert await door.sent() == 0 and _intents(door) == []
        assert (await begun().run(gate._activities.change, genuine)).status is ChangeStatus.ANSWERED
        found = [one.key async for one in intents_of(gate.connections, gate.zone, gate.start.area)]
        assert found == [intent_key(gate.zone, gate.start.area, genuine.permit.name)]
        with pytest.raises(ArchiveMisconfigured, match="no name of a permit"):
            intent_key(gate.zone, gate.start.area, forged.permit.name)


async def test_a_request_whose_own_name_is_none_is_not_sent(tmp_path: Path) -> None:
    """As where what is signed names it by more than a part of a name: nothing happened."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        with pytest.raises(NotSent) as refused:
            await door.gate.intend("-override-a/b")
        assert refused.value.status is ChangeStatus.NOTHING_HAPPENED and "permit" in str(refused.value)


async def test_nothing_is_given_up_for_targets_that_nobody_has_signed(tmp_path: Path) -> None:
    """Of another zone, campaign, area, list, or place in the list, a worker records nothing: it says no more
    than that something may have been sent.
    """
    async with guarded(tmp_path) as door:
        gate = door.gate
        change = await gate.message(gate.body, gate.body)
        assert not await gate.give_up(gate.body, gate.body), "nobody has started it"
        await door.begin()
        zone = gate.zone.model_copy(update={"id": "e" * 32})
        elsewhere: tuple[dict[str, Any], ...] = (
            {"target": gate.start.target.model_copy(update={"zone": zone})},
            {"index": 1},
            {"area": Area.ESC},
            {"campaign": "campaign/another"},
        )
        for more in elsewhere:
            other = change.model_copy(update={"start": gate.start.model_copy(update=more)})
            assert not (await begun().run(gate._activities.give_up, other)).given_up, more
        batch = GiveUpPermits(
            campaign=gate.start.campaign,
            origin="r",
            targets=door.targets,
            area=gate.start.area,
            permits=(change.permit,),
            over_after=timedelta(minutes=1),
        )
        batches: tuple[dict[str, Any], ...] = (
            {"area": Area.ESC},
            {"campaign": "campaign/another"},
            {"campaign": "campaign/a b"},
            {"campaign": gate.start.campaign.replace("/", "-")},
            {"targets": "7" * 64},
            {"permits": (change.permit.model_copy(update={"index": -1}),)},
            {"permits": (change.permit.model_copy(update={"index": 1}),)},
        )
        for more in batches:
            other_batch = batch.model_copy(update=more)
            assert await begun().run(gate._activities.give_up_permits, other_batch) == PermitsGivenUp(), more
        assert _intents(door) == []


async def test_permits_that_never_were_do_not_fill_a_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step of the zone would read them all, and its rollback has half a minute for that."""
    monkeypatch.setattr("activities.change.intents.MOST_OF_A_ZONE", 20)
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        gate = door.gate
        change = await gate.message(gate.body, gate.body)
        permits = tuple(
            change.permit.model_copy(update={"number": number, "name": f"never-{number}"})
            for number in range(100)
        )
        batch = GiveUpPermits(
            campaign=gate.start.campaign,
            origin="r",
            targets=door.targets,
            area=gate.start.area,
            permits=permits,
            over_after=timedelta(minutes=1),
        )
        found = await begun().run(gate._activities.give_up_permits, batch)
        assert 20 <= len(found.given_up) == len(_intents(door)) <= 20 + SIDE_BY_SIDE
        again = await begun().run(gate._activities.give_up_permits, batch)
        assert set(again.given_up) == set(found.given_up)
        assert not await gate.give_up(gate.body, gate.body, permit=200)
        assert (await door.commit(permit=300)).status is ChangeStatus.ANSWERED


async def test_a_permit_is_given_up_also_where_the_key_of_the_start_was_revoked(tmp_path: Path) -> None:
    """And as often as it is asked for: what was signed then is enough for what sends nothing."""
    async with guarded(tmp_path) as door:
        await door.begin()
        RootsEditor(door.keyring.roots).revoke("olga")
        gate = door.gate
        change = await gate.message(gate.body, gate.body)
        for _ in range(2):
            assert await gate.give_up(gate.body, gate.body)
            assert await fixed(gate, change) == PermitsGivenUp(given_up=(1,))


async def test_roots_that_are_being_replaced_do_not_leave_a_change_unknown(tmp_path: Path) -> None:
    """A change that no worker began is given up a moment later; a pause asks the zones meanwhile."""
    async with guarded(tmp_path) as door:
        await door.begin()
        gate, roots = door.gate, door.keyring.roots
        change = await gate.message(gate.body, gate.body)
        aside = roots.rename(roots.with_suffix(".aside"))
        with pytest.raises(ApplicationError, match="roots of authority cannot be read") as unread:
            await gate.give_up(gate.body, gate.body)
        assert not unread.value.non_retryable
        assert await fixed(gate, change) == PermitsGivenUp() and _intents(door) == []
        aside.rename(roots)
        assert await gate.give_up(gate.body, gate.body)


async def test_a_record_that_cannot_be_read_holds_no_other_permit_up(tmp_path: Path) -> None:
    """Of a batch that a campaign takes back, the others are given up; of this one its zone is asked."""
    async with guarded(tmp_path) as door:
        await door.begin()
        gate = door.gate
        first, second = [await gate.message(gate.body, gate.body, permit=number) for number in (1, 2)]
        await door.archive.create_once(intent_key(gate.zone, gate.start.area, first.permit.name), b"rubbish")
        batch = GiveUpPermits(
            campaign=gate.start.campaign,
            origin="r",
            targets=door.targets,
            area=gate.start.area,
            permits=(first.permit, second.permit),
            over_after=timedelta(minutes=1),
        )
        found = await begun().run(gate._activities.give_up_permits, batch)
        assert found == PermitsGivenUp(given_up=(2,))
        work = begun().run(fix_permit, gate.connections, batch, gate.zone, first.permit)
        assert await work is PermitOnRecord.MAY_BE_SENT

"""Records that somebody plants about a permit: neither its holder nor whoever takes it back counts them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from activities import connections
from edgeshift.messages import ChangeStatus, PermitsGivenUp
from edgeshift.stores.documents import Intent, create_record, intent_key, unproven_there
from tests.forgeries.doors import guarded
from tests.service.test_called_off import fixed


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

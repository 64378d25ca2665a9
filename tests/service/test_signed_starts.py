"""A change is its signed start's: whatever run or attempt a message names, what the door lets through is the
campaign's own, to watch and to take back. Whoever can send Temporal anything can name any run.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.found import may_be_own
from activities.change.in_force import may_be_in_force
from activities.change.own import Own, own_of
from activities.change.own_changes import very_own_change
from activities.proof.evidence_at_the_door import gathered_here
from activities.standing import on_record
from edgeshift.authority.editing import RootsEditor
from edgeshift.messages import ChangeStatus, Step, ZoneStart
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.stores.archive import ArchiveUnavailable
from edgeshift.stores.documents import EvidenceGathered, Intent, gathered_key, intents_at
from tests.forgeries.doors import Guarded, guarded
from tests.kit.stored import put_json


def ago(hours: float) -> datetime:
    return (datetime.now(UTC) - timedelta(hours=hours)).replace(microsecond=0)


async def is_own(door: Guarded, start: ZoneStart) -> tuple[bool, bool, bool]:
    """Whether what is in the zone may be of the campaign of this message: what is told of one found changed,
    of one that ends otherwise, and of one that is watched.
    """
    there, zone, own = door.gate.connections, door.gate.zone, await own_of(door.gate.connections, start)
    return (
        await may_be_own(there, zone, start.area, own, start.attempt),
        await may_be_in_force(there, zone, start.area, own),
        await very_own_change(there, start) is not None,
    )


async def sent_in_run_x(door: Guarded) -> None:
    """What people have approved is sent by a message that names another run of the campaign."""
    result = await door.with_start(origin="x").commit()
    assert result.status is ChangeStatus.ANSWERED, result


async def test_what_is_sent_names_the_signed_start_that_it_rests_on(tmp_path: Path) -> None:
    """As the door found it; the message knows nothing of it."""
    async with guarded(tmp_path) as door:
        begun = await door.begin()
        await door.approve()
        await sent_in_run_x(door)
        found = [
            record
            async for _, record in door.gate.connections.records.each(
                Intent, intents_at(door.gate.zone, door.gate.start.area)
            )
        ]
        assert [(one.run, one.start) for one in found if isinstance(one, Intent)] == [("x", begun)]


async def test_what_another_run_has_sent_under_the_signed_start_is_the_campaigns_own(tmp_path: Path) -> None:
    """Also once its start was revoked, in a later attempt, and for whoever looks by an earlier specification
    of that name; once the campaign was started anew, it is of the campaign before.
    """
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(2))
        await door.approve()
        await sent_in_run_x(door)
        start = door.gate.start
        later = start.model_copy(update={"attempt": 2})
        assert await is_own(door, start) == await is_own(door, later) == (True, True, True)
        there = door.gate.connections
        spec = await there.spec(start.spec)
        other = spec.model_copy(update={"time_scale": 1.5})
        earlier = await put_json(door.archive, other.model_dump(mode="json"))
        by_another = start.model_copy(update={"spec": earlier})
        assert (await is_own(door, by_another))[0]
        await door.begin(issued=ago(1))
        assert await is_own(door, start) == (False, False, False)
        assert await is_own(door, start.model_copy(update={"origin": "x"})) == (True, True, True)


async def test_what_was_sent_under_a_start_that_was_revoked_stays_the_campaigns_own(tmp_path: Path) -> None:
    """It is watched and taken back."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent_in_run_x(door)
        RootsEditor(door.keyring.roots).revoke("olga")
        assert await is_own(door, door.gate.start) == (True, True, True)


async def test_where_a_start_cannot_be_read_nothing_is_told_of_what_is_there(tmp_path: Path) -> None:
    """It may be the one under which that was sent."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await sent_in_run_x(door)
        own = Own("run", unread=ArchiveUnavailable("not now"))
        start, there = door.gate.start, door.gate.connections
        assert await may_be_own(there, door.gate.zone, start.area, own, 1)
        assert await may_be_in_force(there, door.gate.zone, start.area, own)


async def test_a_result_of_what_another_run_has_sent_is_signed_for_that_one_too(tmp_path: Path) -> None:
    """Once it is settled, no rollback of it is sent, though its record names that run; and the approval is
    used.
    """
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        await door.approve(issued=ago(8))
        change = await door.gate.message(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
        named: dict[str, Any] = {"proposal": change.proposal, "snapshot": change.snapshot}
        await door.sent_before("p", 1, run="x", start=door.start, **named)
        own = await very_own_change(door.gate.connections, door.gate.start)
        assert own is not None
        await door.gate.connections.results.record(
            door.gate.start, ZoneOutcome.SETTLED, proposal=door.digest, seen="a" * 64, sent=own.record
        )
        back = await door.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
        assert (back.status, back.settled) == (ChangeStatus.NOTHING_HAPPENED, "a" * 64), back
        again = await door.commit(permit=2)
        assert again.uncounted and "has sent it" in again.reason, again
        assert await door.sent() == 0


async def test_what_was_sent_in_another_run_since_makes_a_rollback_no_record(tmp_path: Path) -> None:
    """That it was rolled back says nothing of what was sent after that, whatever attempt was named."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(9))
        start, there = door.gate.start, door.gate.connections
        run, back = start.origin or start.campaign_run, ZoneOutcome.ROLLED_BACK
        await there.results.record(start, back, proposal=door.digest)
        asked = (there, start.spec, run, start.target, start.attempt, back)
        assert await on_record(*asked)
        await door.sent_before("p", -0.01, run="x", start=door.start, attempt=7)
        assert not await on_record(*asked)


@pytest.mark.parametrize(("run", "of", "counts"), [("x", "this", True), ("own", "another", False)])
async def test_evidence_is_of_its_signed_start_and_not_of_a_run(
    tmp_path: Path, run: str, of: str, counts: bool
) -> None:
    """Somebody who has it gathered first, in another run's name, does not keep the zone from its commit; and
    what was gathered under another start is none by the name of a run.
    """
    async with guarded(tmp_path) as door:
        begun = await door.begin()
        start, there = door.gate.start, door.gate.connections
        evidence = "e" * 64
        said = EvidenceGathered(
            run=start.campaign_run if run == "own" else run,
            spec=start.spec,
            start=begun if of == "this" else "f" * 64,
        )
        await there.records.create(gathered_key(door.gate.zone, evidence), said)
        assert await gathered_here(there.records, start, evidence, (begun,)) is counts

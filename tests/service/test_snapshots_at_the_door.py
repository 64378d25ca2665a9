"""What the door of waf refuses, it refuses by the snapshot too: only one that a worker has taken counts."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from activities.snapshots import archive_snapshot
from activities.waf.zone import read_zone
from edgeshift.areas import waf
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area
from edgeshift.operations.snapshots import snapshots_of
from edgeshift.stores.documents import (
    Snapshot,
    SnapshotTaken,
    create_record,
    put_document,
    snapshot_key,
    unproven_there,
)
from tests.forgeries.doors import Guarded, guarded

OFFICE = {"expression": "ip.src in {203.0.113.0/24}", "products": ["waf"], "id": "1" * 32}
BYPASSED: dict[str, Any] = {"firewall_rules": [OFFICE], "migration": {"firewall_rules": "left_out"}}


async def reading_of(door: Guarded) -> waf.Reading:
    """The zone as it is."""
    play = door.gate
    return await read_zone(await play.connections.service(play.start.spec, play.zone), play.zone)


async def planted(door: Guarded, reading: waf.Reading) -> str:
    """Somebody lays a snapshot into the archive, or an earlier version has, and its record: its name."""
    zone = door.gate.zone
    found = await put_document(door.archive, Snapshot(zone=zone, reading=reading))
    key, clock = snapshot_key(zone, Area.WAF, found), door.gate.connections.clock
    assert await create_record(door.archive, key, SnapshotTaken(taken_at=clock.now()))
    door.gate.snapshot = found
    return key


async def unsigned(door: Guarded) -> str:
    """The zone's own snapshot as an earlier version has recorded it: its name."""
    assert door.archive.folder is not None
    (door.archive.folder / snapshot_key(door.gate.zone, Area.WAF, door.gate.snapshot)).unlink()
    return await planted(door, await reading_of(door))


async def told(door: Guarded) -> set[str]:
    """The records that people are told of."""
    return {one.key for one in (await unproven_there(door.archive)).found}


async def test_a_planted_snapshot_lets_nothing_through(tmp_path: Path) -> None:
    """Without the firewall rules that bypass its WAF a zone would agree with an approved fingerprint that has
    none, and lose them for good.
    """
    async with guarded(tmp_path, settings=BYPASSED) as door:
        genuine = door.gate.snapshot
        reading = await reading_of(door)
        key = await planted(door, reading.model_copy(update={"firewall_rules": []}))
        door.gate.body = {**door.gate.body, "rules": door.gate.body["rules"][1:]}
        await door.begin()
        await door.approve_alike()
        result = await door.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "no worker has signed" in result.reason
        assert await door.sent() == 0 and await told(door) == {key}
        door.gate.snapshot = genuine
        assert (await door.commit(permit=2)).status is ChangeStatus.DRIFTED


async def test_a_snapshot_of_an_earlier_version_is_taken_anew(tmp_path: Path) -> None:
    """The zone is read again, comes to the same, and goes on by what people have signed. So it does where
    somebody takes the name of what a worker is about to record.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        key = await unsigned(door)
        early = (await snapshots_of(door.archive, door.gate.zone.id, Area.WAF))[0]
        result = await door.commit()
        assert (result.status, result.stands) == (ChangeStatus.NOTHING_HAPPENED, False)
        assert await create_record(door.archive, f"{key}-0", SnapshotTaken(taken_at=early.at))
        for _ in range(2):
            reading = await reading_of(door)
            again = await archive_snapshot(door.gate.connections, door.gate.zone, Area.WAF, reading)
            assert again == door.gate.snapshot
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED
        assert await snapshots_of(door.archive, door.gate.zone.id, Area.WAF) == [early]
        assert len([name async for name in door.archive.list(key.rpartition("/")[0])]) == 3


async def test_a_snapshot_by_a_key_that_was_revoked_is_none(tmp_path: Path) -> None:
    """A thief of it could have made any."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        RootsEditor(door.keyring.roots).revoke(WORKER)
        result = await door.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "no worker has signed" in result.reason


async def test_an_old_snapshot_of_the_zone_lets_no_commit_through(tmp_path: Path) -> None:
    """A worker has signed it, but the zone has got rules since that a fresh look does not show; whatever a
    message says of when it was read. A zone that is read again, and is as it was, goes on.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        play = door.gate
        key = snapshot_key(play.zone, Area.WAF, play.snapshot)
        assert door.archive.folder is not None
        (door.archive.folder / key).unlink()
        old = SnapshotTaken(taken_at=play.connections.clock.now() - timedelta(days=2))
        assert await play.connections.records.create(key, old)
        result = await door.commit()
        assert (result.status, result.stands) == (ChangeStatus.NOTHING_HAPPENED, False)
        assert "no worker has signed the zone's snapshot lately" in result.reason and await door.sent() == 0
        reading = await reading_of(door)
        assert await archive_snapshot(play.connections, play.zone, Area.WAF, reading) == play.snapshot
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED
        # One that was taken lately is not recorded once more.
        await archive_snapshot(play.connections, play.zone, Area.WAF, reading)
        assert len([name async for name in door.archive.list(key.rpartition("/")[0])]) == 2

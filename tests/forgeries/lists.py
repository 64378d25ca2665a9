"""What an enemy would try with the list of targets that a start is signed over. Each must lead to nothing."""

from __future__ import annotations

from datetime import UTC, datetime

from edgeshift.authority.keyring import WORKER
from edgeshift.stores.documents import FrozenTargets, TargetsListed, contents_of, listed_key, put_document
from tests.forgeries.doors import Guarded
from tests.forgeries.kinds import alone
from tests.kit.signing import signed


async def _by_another_name(door: Guarded) -> tuple[str, Guarded]:
    """A planted list in which the zone goes by another one's name, and the messages that say so."""
    target = door.gate.start.target
    other = target.model_copy(update={"zone": target.zone.model_copy(update={"name": "other.example"})})
    stored = await put_document(door.archive, FrozenTargets((other,)))
    return stored, door.with_start(target=other)


@alone
async def a_list_by_anothers_name(door: Guarded) -> Guarded:
    """People have signed it, as a forged plan has it; no worker has."""
    stored, forged = await _by_another_name(door)
    await door.begin(targets=stored, listed=True)
    await door.approve()
    return forged


@alone
async def a_list_by_anothers_name_recorded_by_a_stranger(door: Guarded) -> Guarded:
    """In a worker's name, and with a worker's own record of another list."""
    stored, forged = await _by_another_name(door)
    spec, said = door.gate.start.spec, TargetsListed(at=datetime.now(UTC), count=1)
    mine, its = listed_key(spec, [door.gate.start.target]), listed_key(spec, [forged.gate.start.target])
    await door.gate.connections.records.create(mine, said)
    taken = await door.archive.get_named(mine)
    assert taken is not None
    await door.archive.create_once(its, taken)
    for key, by, name in ((door.stranger, WORKER, f"{its}-1"), (door.key("ada"), "ada", f"{its}-2")):
        await door.archive.create_once(name, await signed(name, contents_of(said), key, by=by))
    await door.begin(targets=stored, listed=True)
    await door.approve()
    return forged

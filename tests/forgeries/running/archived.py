"""Records of what is sent and of what came of it, planted, changed, moved and removed in the archive beside a
zone that waits for its sign-off. Whoever looks after the archive puts it right afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from edgeshift.model.digests import canonical_bytes, sha256
from tests.forgeries.running.attack import ENEMY, Attack, Trace
from tests.forgeries.running.kinds import KINDS, Kind, kind
from tests.kit import APPROVER
from tests.kit.hostile import KEYS, NAME, signature_by
from tests.kit.signing import WORKER, key_of, signed

EMPTY: dict[str, Any] = {}


def _intent(a: Attack, **more: Any) -> dict[str, Any]:
    """What a worker would record of a commit of exactly what the zone proposes, had it sent one."""
    said = {
        "step": "commit",
        "at": datetime.now(UTC).isoformat(),
        "campaign": a.stage.play.campaign.id,
        "attempt": a.state.attempt,
        "digest": a.state.digest,
        "fingerprint": a.state.fingerprint,
        "proposal": a.state.proposal,
        "snapshot": a.state.snapshot,
        "drawn": ENEMY,
    }
    return {**said, **more}


def _name(a: Attack, what: str = "intent", permit: str = ENEMY) -> str:
    return f"{what}/{a.state.zone.id}/{a.stage.play.spec.area.value}/{permit}"


@asynccontextmanager
async def _laid(a: Attack, files: Mapping[str, bytes | None]) -> AsyncIterator[None]:
    """The archive with these files, or without those that are None, until the zone has come to rest."""
    before = {}
    for name, data in files.items():
        path = a.folder / name
        before[path] = path.read_bytes() if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(data)
    try:
        yield
        await a.rests()
    finally:
        for path, data in before.items():
            if data is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(data)


async def _tried(a: Attack, files: Mapping[str, bytes | None]) -> Trace:
    """With these files, one of the two who have to approve has signed, and both are said to have."""
    await a.genuine()
    async with _laid(a, files):
        await a.claim()
    return "archive"


@kind
async def an_intent_that_nobody_sent(a: Attack) -> Trace:
    return await _tried(a, {_name(a): canonical_bytes(_intent(a))})


@kind
async def an_intent_signed_by_a_stranger(a: Attack) -> Trace:
    name, said = _name(a), _intent(a)
    return await _tried(a, {name: await signed(name, said, a.stranger)})


@kind
async def an_intent_signed_by_an_approver(a: Attack) -> Trace:
    """By a key that the roots know, in another role."""
    name, said = _name(a), _intent(a)
    return await _tried(a, {name: await signed(name, said, key_of(APPROVER), by=APPROVER)})


@kind
async def an_intent_signed_by_what_is_no_key(a: Attack) -> Trace:
    """By a key that the library of signatures says not to know how to read."""
    seal = {"by": WORKER, "issued": datetime.now(UTC).isoformat()}
    seal["signature"] = signature_by(KEYS["a compressed point"]())
    return await _tried(a, {_name(a): canonical_bytes(_intent(a, signed=seal))})


@kind
async def records_under_names_that_are_none(a: Attack) -> Trace:
    """An intent of such a name, and a start; beside them a start that is signed by what is no key."""
    statement = {"signature": signature_by(KEYS["a certificate"]()), "statement": {"a": 1}}
    files: dict[str, bytes | None] = {
        _name(a, permit=f"{ENEMY} and more"): canonical_bytes(_intent(a)),
        f"signed/{a.name}/start/{ENEMY} and more": b"{}",
        f"signed/{a.name}/start/{'a' * 220}": b"{}",
        f"signed/{a.name}/start/{NAME}": b"{}",
        f"signed/{a.name}/statement/{NAME}": canonical_bytes(statement),
    }
    return await _tried(a, files)


@kind
async def files_in_the_place_of_folders(a: Attack) -> Trace:
    """Where the zone's records belong, and the words that begin it again, as far as there is nothing yet."""
    names = (f"intent/{a.state.zone.id}", f"signed/{a.name}/again/{a.state.zone.id}")
    return await _tried(a, {name: ENEMY.encode() for name in names if not (a.folder / name).exists()})


@kind
async def an_intent_of_a_worker_from_the_future(a: Attack) -> Trace:
    """As a worker whose clock is wrong would make it: it keeps its zone for no longer than another."""
    later = datetime.now(UTC) + timedelta(days=400)
    name, said = _name(a), _intent(a, at=later.isoformat())
    return await _tried(a, {name: await signed(name, said, key_of(WORKER), issued=later)})


@kind
async def an_intent_that_is_signed_for_another_place(a: Attack) -> Trace:
    """A worker's own, of another zone, laid beside this one."""
    name, said = _name(a), _intent(a)
    elsewhere = name.replace(a.state.zone.id, "e" * 32)
    return await _tried(a, {name: await signed(name, said, key_of(WORKER), of=elsewhere)})


@kind
async def an_intent_that_was_changed(a: Attack) -> Trace:
    """A worker's own of another step, made one of a commit: its signature is of something else."""
    name = _name(a)
    other = await signed(name, _intent(a, step="roll_back"), key_of(WORKER))
    return await _tried(a, {name: other.replace(b'"roll_back"', b'"commit"')})


@kind
async def an_intent_that_gives_a_permit_up(a: Attack) -> Trace:
    """So that what was sent under it would count as never sent."""
    permit = a.permit().name
    return await _tried(a, {_name(a, permit=permit): canonical_bytes(_intent(a, step="given_up"))})


@kind
async def a_record_that_nothing_came_of_it(a: Attack) -> Trace:
    intent = {_name(a): canonical_bytes(_intent(a))}
    beside = {_name(a, "nothing"): canonical_bytes({"reason": ENEMY})}
    return await _tried(a, {**intent, **beside})


@kind
async def a_record_that_it_was_seen_to_its_end(a: Attack) -> Trace:
    intent = {_name(a): canonical_bytes(_intent(a))}
    beside = {_name(a, "seen"): await signed(_name(a, "seen"), EMPTY, a.stranger)}
    return await _tried(a, {**intent, **beside})


@kind
async def a_record_that_its_request_is_over(a: Attack) -> Trace:
    intent = {_name(a): canonical_bytes(_intent(a))}
    return await _tried(a, {**intent, _name(a, "over"): canonical_bytes(EMPTY)})


@kind
async def evidence_that_is_said_to_be_a_workers(a: Attack) -> Trace:
    start = await a.started_with()
    name = f"gathered/{a.state.zone.id}/{sha256(ENEMY.encode())}"
    said = {"run": await a.run(), "spec": start.spec}
    return await _tried(a, {name: await signed(name, said, a.stranger)})


async def records_of_what_was_there_before(a: Attack) -> Trace:
    """Rules, writes and log jobs that are nobody's: as planted, and as signed by a stranger."""
    run = sha256((await a.run()).encode())[:16]
    before = f"before/{a.state.zone.id}/log-fields/{run}"
    rule = {"ref": ENEMY, "action": "log_custom_field", "expression": "true"}
    job = f"{before}/job-1"
    options = {"logpull_options": "fields=RayID"}
    files: dict[str, bytes | None] = {
        f"{before}/{'9' * 32}/put-1-0123456789ab": canonical_bytes({"over": 1, "rules": [rule]}),
        f"{before}/new-job": canonical_bytes({"name": ENEMY}),
        job: await signed(job, options, a.stranger),
    }
    return await _tried(a, files)


KINDS["records_of_what_was_there_before"] = Kind(records_of_what_was_there_before, ("log-fields",))


def _genuine(a: Attack) -> str:
    """The name of a record that a worker has made of what it sent to the zone."""
    folder = a.folder / "intent" / a.state.zone.id / a.stage.play.spec.area.value
    found = sorted(path.name for path in folder.iterdir() if path.name != ENEMY)
    return f"intent/{a.state.zone.id}/{a.stage.play.spec.area.value}/{found[0]}"


async def a_workers_intent_that_was_changed(a: Attack) -> Trace:
    """Of what was really sent: by a byte."""
    name = _genuine(a)
    data = (a.folder / name).read_bytes()
    return await _tried(a, {name: data.replace(b'"step":"', b'"step":"x', 1)})


async def a_workers_intent_that_was_removed(a: Attack) -> Trace:
    return await _tried(a, {_genuine(a): None})


async def a_workers_intent_that_was_moved(a: Attack) -> Trace:
    """Laid under another permit's name as well."""
    return await _tried(a, {_name(a): (a.folder / _genuine(a)).read_bytes()})


for _work in (
    a_workers_intent_that_was_changed,
    a_workers_intent_that_was_removed,
    a_workers_intent_that_was_moved,
):
    # A scope of esc is sent a test secret before it waits for its sign-off.
    KINDS[_work.__name__] = Kind(_work, ("esc",))

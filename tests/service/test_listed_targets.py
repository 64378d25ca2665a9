"""The list of a signed start counts where a worker has recorded that it made it of what the service lists: a
list that was planted, and signed, in which a zone goes by another one's name, changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities.circuit import HeldCallActivities, HeldHere
from activities.proof.listed_targets import NOT_LISTED, ListedTargets
from activities.targets import TargetActivities, line_of
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER
from edgeshift.authority.loading import load_roots
from edgeshift.authority.statements import StartStatement
from edgeshift.campaign.start import campaign_start
from edgeshift.messages import (
    AssessmentResult,
    CampaignStart,
    ChangeStatus,
    MergeAssessment,
    ResolvedTargets,
    ResolveTargets,
)
from edgeshift.model.fleet import Plan, ScopeKind, Target, Zone
from edgeshift.operations.errors import Refused
from edgeshift.operations.pen import Pen
from edgeshift.stores.documents import (
    AssessedTargets,
    FrozenTargets,
    TargetsListed,
    contents_of,
    listed_key,
    put_document,
)
from tests.forgeries.doors import Guarded, guarded
from tests.kit.signing import signed
from worker.wiring import area_work


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Guarded]:
    """A door at which nothing is signed yet."""
    async with guarded(tmp_path) as found:
        yield found


def work_of(door: Guarded) -> TargetActivities:
    """The activities of a plan, of the door's worker."""
    there = door.gate.connections
    return TargetActivities(there, area_work(there), HeldCallActivities(there, HeldHere(there.clock)))


async def resolved(door: Guarded) -> ResolvedTargets:
    """What the worker lists for the door's specification."""
    message = ResolveTargets(spec=door.gate.start.spec)
    return await ActivityEnvironment().run(work_of(door).resolve, message)


async def merged(door: Guarded, *targets: Target, spec: str = "") -> AssessmentResult:
    """What a plan's last activity makes of this list, and of a report on it."""
    report = AssessedTargets(tuple(line_of(index, one) for index, one in enumerate(targets)))
    message = MergeAssessment(
        spec=spec or door.gate.start.spec,
        targets=await put_document(door.archive, FrozenTargets(targets)),
        reports=(await put_document(door.archive, report),),
    )
    return await ActivityEnvironment().run(work_of(door).merge, message)


def renamed(target: Target) -> Target:
    """The same, by another zone's name."""
    return target.model_copy(update={"zone": target.zone.model_copy(update={"name": "other.example"})})


async def laid(door: Guarded, name: str, of: str = "", signer: Any = None, by: str = WORKER) -> None:
    """A record of a list under this name, signed by the worker, or by somebody else."""
    said = contents_of(TargetsListed(at=datetime.now(UTC), count=1))
    data = await signed(name, said, signer or door.key(WORKER), by=by, of=of)
    await door.archive.create_once(name, data)


async def test_a_start_counts_by_the_list_that_a_worker_made(door: Guarded) -> None:
    """It is the list that the kit has put there, to the byte."""
    assert (await resolved(door)).targets == door.targets
    await door.begin(listed=True)
    await door.approve()
    assert (await door.commit()).status is ChangeStatus.ANSWERED
    assert await door.sent() == 1


async def test_a_list_that_no_worker_made_changes_nothing_until_one_has(door: Guarded) -> None:
    """The reason says what to do; the record is looked for each time."""
    await door.begin(listed=True)
    await door.approve()
    refused = await door.commit()
    assert refused.unsigned and not refused.uncounted and refused.reason == NOT_LISTED
    assert len(NOT_LISTED) <= 200
    assert await door.sent() == 0
    await resolved(door)
    assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


async def test_a_start_of_an_earlier_version_counts_as_before(door: Guarded) -> None:
    """Also over a list of which there is no record."""
    await door.begin()
    await door.approve()
    assert (await door.commit()).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("whose", ["a stranger", "an approver", "another specification", "another list"])
async def test_no_other_record_will_do(door: Guarded, whose: str) -> None:
    """One by a key that is no worker's, and a worker's of something else, under the name of this list."""
    spec, targets = door.gate.start.spec, [door.gate.start.target]
    name = listed_key(spec, targets)
    match whose:
        case "a stranger":
            await laid(door, name, signer=door.stranger)
        case "an approver":
            await laid(door, name, signer=door.key("ada"), by="ada")
        case "another specification":
            await laid(door, name, of=listed_key("5" * 64, targets))
            await laid(door, listed_key("5" * 64, targets))
        case _:
            others = listed_key(spec, [renamed(targets[0])])
            await laid(door, name, of=others)
            await laid(door, others)
    await door.begin(listed=True)
    await door.approve()
    assert (await door.commit()).reason == NOT_LISTED and await door.sent() == 0
    # Its name is taken; a worker records the list beside it.
    await resolved(door)
    assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


async def test_the_record_is_read_once_and_its_key_judged_each_time(
    door: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is revoked, the list counts no more, until another worker makes it."""
    other = door.keyring.signer("worker-2", ("worker",))
    spec = door.gate.start.spec
    name = listed_key(spec, [door.gate.start.target])
    await laid(door, name, signer=other, by="worker-2")
    asked, get_named, there = list[str](), door.archive.get_named, door.gate.connections

    async def counted(key: str) -> bytes | None:
        asked.append(key)
        return await get_named(key)

    monkeypatch.setattr(door.archive, "get_named", counted)
    lists = ListedTargets(door.gate.connections.records)
    for _ in range(3):
        assert await lists.have(spec, door.targets, there.targets)
    assert asked == [name]
    RootsEditor(door.keyring.roots).revoke("worker-2")
    assert not await lists.have(spec, door.targets, there.targets)
    await resolved(door)
    assert await lists.have(spec, door.targets, there.targets)


async def test_a_worker_signs_no_list_that_a_message_has_made(door: Guarded) -> None:
    """Whoever reaches Temporal has a plan put together of a list of theirs, or of one that was made for
    another specification.
    """
    spec, target, there = door.gate.start.spec, door.gate.start.target, door.gate.connections
    lists = ListedTargets(there.records)
    forged = await merged(door, renamed(target))
    assert not await lists.have(spec, forged.targets, there.targets)
    assert not await lists.have(spec, (await merged(door, target)).targets, there.targets)
    await resolved(door)
    other = (await there.spec(spec)).model_copy(update={"name": "another"})
    elsewhere = await put_document(door.archive, other)
    made = await merged(door, target, spec=elsewhere)
    assert not await lists.have(elsewhere, made.targets, there.targets)
    assert not await lists.have(spec, (await merged(door, renamed(target))).targets, there.targets)
    made = await merged(door, target)
    assert await lists.have(spec, made.targets, there.targets) and made.targets == door.targets


def test_the_name_of_a_record_is_that_of_the_zones() -> None:
    """In whatever order and waves, since a plan of the same zones comes to others once some were changed;
    never of one that is said otherwise.
    """
    zones = [Zone(id=f"{n:032x}", name=f"z{n}.example", account="a" * 32, plan=Plan.PRO) for n in range(3)]
    name = listed_key("5" * 64, [Target(zone=zone, wave=0) for zone in zones])
    assert listed_key("5" * 64, [Target(zone=zone, wave=1) for zone in reversed(zones)]) == name
    for change in (
        {"id": "f" * 32},
        {"name": "z2.example"},
        {"account": "b" * 32},
        {"plan": Plan.ENTERPRISE},
        {"kind": ScopeKind.ACCOUNT},
        {"covers": 2},
    ):
        other = [zones[0].model_copy(update=change), *zones[1:]]
        assert listed_key("5" * 64, [Target(zone=zone, wave=0) for zone in other]) != name
    assert listed_key("5" * 64, [Target(zone=zone, wave=0) for zone in zones[:2]]) != name
    assert listed_key("6" * 64, [Target(zone=zone, wave=0) for zone in zones]) != name


async def test_the_zones_own_secret_goes_to_no_name_of_a_planted_list(door: Guarded) -> None:
    """As for the probe of esc, which tells it to the zone's hosts."""
    other = renamed(door.gate.start.target)
    await door.begin(targets=await put_document(door.archive, FrozenTargets((other,))), listed=True)
    forged = door.with_start(target=other)
    there = forged.gate.connections
    spec = await there.spec(forged.gate.start.spec)
    now = datetime.now(UTC)
    why = await there.authority.refuses_own_secret(forged.gate.start, spec, there.targets, now)
    assert why == NOT_LISTED


async def _signing(door: Guarded, roots: bool) -> tuple[Pen, CampaignStart]:
    spec = await door.gate.connections.spec(door.gate.start.spec)
    known = load_roots(door.keyring.roots) if roots else None
    pen = Pen(door.key("olga"), door.archive, "olga", known)
    start = campaign_start(
        spec, door.gate.start.spec, targets=door.targets, count=1, waves=(), started_by="olga", enterprise=""
    )
    return pen, start


@pytest.mark.parametrize("roots", [False, True])
async def test_nobody_signs_a_start_that_could_never_count(door: Guarded, roots: bool) -> None:
    """Over a list of an earlier version's plan, and where the roots are known here, over one that a stranger
    has recorded: who signs is told to plan again.
    """
    pen, start = await _signing(door, roots)
    with pytest.raises(Refused, match="no worker has recorded that it made this list") as refused:
        await pen.refuse_unlisted(door.archive, start)
    assert "edgeshift plan FILE" in refused.value.hint
    await laid(door, listed_key(start.spec, [door.gate.start.target]), signer=door.stranger)
    if roots:
        with pytest.raises(Refused, match="no worker's record of this list of targets counts by") as refused:
            await pen.refuse_unlisted(door.archive, start)
        assert str(door.keyring.roots) in str(refused.value) and "edgeshift doctor" in refused.value.hint
    await resolved(door)
    await pen.refuse_unlisted(door.archive, start)
    await pen.start(start, await door.gate.connections.spec(start.spec))
    (said,) = await door.records.starts(door.campaign)
    assert isinstance(said.statement, StartStatement) and said.statement.listed

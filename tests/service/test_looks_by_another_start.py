"""A look in the name of a start that has not sent what is there: of another run, or by another campaign file.
Whoever can send Temporal anything can have a worker take it, and nothing is signed or recorded of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from activities.boundary import named_failures
from activities.change.intents import seen_through
from activities.change.own_changes import (
    commits_of,
    landed_change,
    landed_commits,
    last_change,
    own_commits,
)
from activities.change.rollbacks import settled_before
from activities.change.settled import unless_settled
from activities.standing import on_record, signed_end
from edgeshift.areas.assessment import Verdict
from edgeshift.authority.loading import RootsFiles
from edgeshift.campaign.start import campaign_start, zone_policy
from edgeshift.messages import ChangeStatus, Prepared, Step, Watch, Watched, ZoneStart
from edgeshift.model.fleet import Wave, ZoneOutcome
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.operations import Refused
from edgeshift.operations.pen import Pen
from edgeshift.stores.documents import put_document
from tests.forgeries.doors import Guarded, guarded
from tests.kit.stored import put_json
from tests.service.gate_kit import ago
from tests.service.test_may_still_show import begun

T = TypeVar("T")


async def in_activity(work: Callable[[], Awaitable[T]]) -> T:
    """As a worker does it."""
    return await begun().run(named_failures(work))


async def other_file(door: Guarded, **commit: Any) -> str:
    """The campaign's file with other terms, in the archive: the digest."""
    spec = await door.gate.connections.spec(door.gate.start.spec)
    terms = spec.commit.model_copy(update={"resend_unchanged": spec.commit.resend_unchanged + 1, **commit})
    return await put_document(door.archive, spec.model_copy(update={"commit": terms}))


async def sent(door: Guarded, name: str, hours: float, **more: Any) -> str:
    """A commit of the campaign's, so many hours ago, with all that it names; its record's name."""
    proposal = await put_json(door.archive, {"body": door.gate.body})
    named: dict[str, Any] = {"proposal": proposal, "snapshot": door.gate.snapshot, "start": door.start}
    return await door.sent_before(name, hours, **{**named, **more})


async def worse(door: Guarded, start: ZoneStart) -> Watched:
    """What a look tells that found something worse, by a message that says what it likes."""
    told = Prepared(verdict=Verdict.READY, snapshot=door.gate.snapshot)
    message = Watch(start=start, prepared=told, since=datetime.now(UTC))
    seen = Watched.as_worse(Reason(code=ReasonCode.URLS_WORSE, names=("/",)))
    return await in_activity(lambda: unless_settled(door.gate.connections, message, seen))


@pytest.mark.parametrize("same", [True, False], ids=["the same file", "another file"])
async def test_what_an_earlier_run_has_settled_is_not_signed_as_settled_for_a_later_one(
    tmp_path: Path, same: bool
) -> None:
    """It has sent nothing yet, and may send it any time: its honest end would be told as wrong. Of the run
    that has settled it, it stands.
    """
    async with guarded(tmp_path) as door:
        start, there = door.gate.start, door.gate.connections
        await door.begin(issued=ago(5))
        key = await sent(door, "first", 4)
        settled = ZoneOutcome.SETTLED

        async def settle() -> None:
            await there.results.record(start, settled, proposal=door.digest, seen="")
            await seen_through(there, door.gate.zone, start.area, {key})

        await in_activity(settle)
        assert (await worse(door, start)).done
        spec = start.spec if same else await other_file(door)
        await door.begin(spec=spec, issued=ago(0.1))
        later = start.model_copy(update={"campaign_run": "second", "spec": spec})
        told = await worse(door, later)
        assert (told.done, bool(told.worse)) == (False, True)
        named = there, spec, "second", start.target, 1
        assert not await on_record(*named, settled)
        assert await signed_end(*named) is None


SHORT = timedelta(seconds=1)
"""What a file says of a change that takes no time."""


async def planted(door: Guarded) -> ZoneStart:
    """A message that names a file which nobody has signed a start with."""
    spec = await other_file(door, migration_limit=SHORT, margin=SHORT)
    return door.gate.start.model_copy(update={"spec": spec})


async def earlier(door: Guarded) -> ZoneStart:
    """One that names a file with which the campaign was started before."""
    start = await planted(door)
    this = door.start
    await door.begin(spec=start.spec, issued=ago(9))
    door.start = this
    return start


@pytest.mark.parametrize("named", [planted, earlier])
async def test_a_commit_may_show_for_as_long_as_the_file_says_by_which_it_was_sent(
    tmp_path: Path, named: Callable[[Guarded], Awaitable[ZoneStart]]
) -> None:
    """By the times of another file it would be over: recorded as one that never showed, a second one would go
    out while the first may still land.
    """
    async with guarded(tmp_path, request_limit="1s") as door:
        there, start = door.gate.connections, door.gate.start
        await door.begin(issued=ago(1))
        await door.approve(issued=ago(0.5))
        await sent(door, "first", 20 / 3600)
        other = await named(door)
        assert await in_activity(lambda: last_change(there, start)) is not None

        async def look() -> tuple[object, ...]:
            body = await commits_of(there, other, door.gate.body) if named is planted else frozenset()
            return (
                await last_change(there, other),
                await landed_change(there, other),
                await own_commits(there, other),
                await landed_commits(there, other),
                body,
            )

        assert await in_activity(look) == (None, None, None, None, frozenset())
        assert (await door.commit(permit=2)).status is ChangeStatus.UNKNOWN


async def taken_up(door: Guarded) -> ZoneStart:
    """Something was sent, and the campaign started again by another file; the later start's message."""
    await door.begin(issued=ago(2))
    await sent(door, "first", 20 / 3600)
    later = await planted(door)
    await door.begin(spec=later.spec, issued=ago(0.1))
    return later


async def test_what_an_earlier_start_has_sent_may_show_for_as_long_as_its_file_says(tmp_path: Path) -> None:
    """The campaign was started again by a file that gives a change less time, and has taken it up."""
    async with guarded(tmp_path, request_limit="1s") as door:
        there, later = door.gate.connections, await taken_up(door)
        found = await in_activity(lambda: last_change(there, later))
        assert found is not None and found.may_show and not found.is_over
        assert found.effect == zone_policy(await there.spec(door.gate.start.spec)).migration_limit
        await sent(door, "second", 5 / 3600)
        found = await in_activity(lambda: last_change(there, later))
        assert found is not None and found.record.start == door.start and not found.is_over


async def test_nothing_goes_out_beside_what_an_earlier_start_has_sent_as_long_as_its_file_says(
    tmp_path: Path,
) -> None:
    """The campaign was started again by a file that gives a change less time: the first may land after."""
    async with guarded(tmp_path, request_limit="1s") as door:
        there, later = door.gate.connections, await taken_up(door)
        await door.approve(issued=ago(0.05))
        policy = zone_policy(await there.spec(later.spec))
        result = await door.with_start(spec=later.spec, policy=policy).commit(permit=2)
        assert result.status is ChangeStatus.UNKNOWN and await door.sent() == 0, result


@pytest.mark.parametrize("attempt", [1, 2])
async def test_what_is_signed_is_no_end_where_a_rollback_was_recorded_since(
    tmp_path: Path, attempt: int
) -> None:
    """Of an attempt of which nobody tells any more: it may be on its way, whichever attempt sent it."""
    async with guarded(tmp_path) as door:
        there, start = door.gate.connections, door.gate.start
        await door.begin(issued=ago(5))
        await sent(door, "first", 4)
        await sent(door, "undone-before", 3, step=Step.ROLL_BACK.value)
        await in_activity(lambda: there.results.record(start, ZoneOutcome.MIGRATED, proposal="", seen=""))
        named = there, start.spec, start.campaign_run, start.target, 1
        assert await signed_end(*named, or_undone=True) is ZoneOutcome.MIGRATED
        await sent(door, "undone", -5 / 3600, step=Step.ROLL_BACK.value, attempt=attempt)
        assert await signed_end(*named, or_undone=True) is None


@pytest.mark.parametrize("outcome", [ZoneOutcome.SETTLED, ZoneOutcome.ROLLED_BACK])
async def test_a_result_by_the_file_of_an_earlier_start_is_none_of_a_later_one(
    tmp_path: Path, outcome: ZoneOutcome
) -> None:
    """Whoever names that file has its terms judge: nothing is on record by them, and no rollback held up."""
    async with guarded(tmp_path) as door:
        there, start = door.gate.connections, door.gate.start
        before = await other_file(door)
        await door.begin(spec=before, issued=ago(9))
        await door.begin(issued=ago(5))
        await sent(door, "first", 4)
        named = there, start.spec, start.campaign_run, start.target, 1
        by_before = start.model_copy(update={"spec": before})

        async def settled() -> bool:
            return await settled_before(there, start) is not None

        async def sign(by: ZoneStart) -> None:
            await there.results.record(by, outcome, proposal=door.digest, seen="")

        await in_activity(lambda: sign(by_before))
        assert not await on_record(*named, outcome)
        assert await signed_end(*named) is None
        assert not await in_activity(settled)
        await in_activity(lambda: sign(start))
        assert await on_record(*named, outcome)
        assert await signed_end(*named) is outcome
        # Whichever file a message names: nothing is opened again.
        assert await in_activity(settled) is (outcome is ZoneOutcome.SETTLED)
        again = await in_activity(lambda: settled_before(there, by_before))
        assert (again is not None) is (outcome is ZoneOutcome.SETTLED)


async def test_what_a_campaign_that_was_started_again_has_taken_up_and_settled_stays_so(
    tmp_path: Path,
) -> None:
    """By its own file, of the proposal that was sent before."""
    async with guarded(tmp_path) as door:
        there, start = door.gate.connections, door.gate.start
        await door.begin(issued=ago(9))
        await sent(door, "first", 6)
        later = start.model_copy(update={"campaign_run": "second", "spec": await other_file(door)})
        await door.begin(spec=later.spec, issued=ago(5))

        async def settle() -> None:
            own = await last_change(there, later)
            assert own is not None
            settled = ZoneOutcome.SETTLED
            await there.results.record(later, settled, proposal=door.digest, seen="", sent=own.record)

        await in_activity(settle)
        for by in (start, later):
            assert await in_activity(partial(settled_before, there, by)) is not None


@pytest.mark.parametrize("same", [True, False], ids=["the same file", "another file"])
async def test_what_people_agreed_to_under_an_earlier_file_lets_nothing_through(
    tmp_path: Path, same: bool
) -> None:
    """The file that it was started again by may ask for more people, or have left the target out. The
    rollback of what was sent is made.
    """
    async with guarded(tmp_path) as door:
        start = door.gate.start
        await door.begin(issued=ago(5))
        await door.approve(issued=ago(4))
        await sent(door, "first", 3)
        spec = start.spec if same else await other_file(door)
        await door.begin(spec=spec, issued=ago(1))
        result = await door.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and await door.sent() == 0
        assert ("by another file" in result.reason) is not same
        back = await door.gate.change(door.gate.body, door.gate.body, step=Step.ROLL_BACK)
        # As far as the area lets it, which has no such step.
        assert "no step roll_back" in back.reason, back


async def started_again(door: Guarded, **how: Any) -> str:
    """Olga signs a start by another file; the file's digest."""
    there, digest = door.gate.connections, await other_file(door)
    start = campaign_start(
        await there.spec(digest),
        digest,
        targets=door.targets,
        count=1,
        waves=(Wave(number=0, name="all", first=0, end=1),),
        enterprise="",
        started_by="olga",
    )
    await olgas(door).start(start, await there.spec(digest), **how)
    return digest


def olgas(door: Guarded) -> Pen:
    """What olga signs with."""
    return Pen(door.key("olga"), door.archive, "olga", RootsFiles(door.keyring.roots).current())


async def test_who_starts_again_by_a_clock_that_is_behind_comes_last(tmp_path: Path) -> None:
    """Else the start before would let nothing of the new one through, by its date."""
    async with guarded(tmp_path) as door:
        ahead = ago(-0.05)
        await door.begin(issued=ahead)
        again = await door.gate.connections.starts.begun(await started_again(door))
        assert again is not None and again.last and again.statement.issued > ahead


async def test_nothing_is_started_that_a_start_far_ahead_would_stop_later(tmp_path: Path) -> None:
    """By a clock of an hour ahead: once its time has come, it would count as the later one."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(-1))
        with pytest.raises(Refused, match=r"by a clock that was ahead: from .* on it would stop this one"):
            await started_again(door)


async def test_what_another_has_started_while_somebody_signs_is_not_stopped(tmp_path: Path) -> None:
    """It is asked once more before the start is recorded; and nothing begins again since another file's."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(1))

        async def runs() -> None:
            raise Refused("it runs")

        with pytest.raises(Refused, match="it runs"):
            await started_again(door, still=runs)
        spec, name = door.gate.start.spec, door.campaign
        await olgas(door).refuse_aborted(name, spec)
        await started_again(door)
        with pytest.raises(Refused, match=r"olga has signed a start of campaign .* by another file since"):
            await olgas(door).refuse_aborted(name, spec)


@pytest.mark.parametrize("signed", ["expires", "expired as it was signed"])
async def test_nothing_begins_again_since_another_files_start_also_when_that_has_expired(
    signed: str, tmp_path: Path
) -> None:
    """As at the door. One that never counted is none."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(3))
        first = door.start
        until = ago(1 if signed == "expires" else 2)
        await door.begin(spec=await other_file(door), issued=ago(2), expires=until)
        door.start = first
        await door.approve(issued=ago(0))
        if signed == "expires":
            with pytest.raises(
                Refused, match=r"olga has signed a start of campaign .* by another file since"
            ):
                await olgas(door).refuse_aborted(door.campaign, door.gate.start.spec)
            assert (await door.commit()).unsigned
        else:
            await olgas(door).refuse_aborted(door.campaign, door.gate.start.spec)
            assert (await door.commit()).status is ChangeStatus.ANSWERED


async def test_who_begins_a_zone_again_may_be_ahead_as_whoever_started_it(tmp_path: Path) -> None:
    """The start counts as of its time, three minutes ahead; a retry by the same clock, as of when it came."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(-0.05))
        await door.again("retry", issued=ago(-0.051))
        await door.approve(attempt=2, issued=ago(0))
        assert (await door.with_start(attempt=2).commit()).status is ChangeStatus.ANSWERED

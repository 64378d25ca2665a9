"""Until when a change may still come to show: by the server's clock, whatever this machine's says, and for as
long as its request may have been on the wire before that.
"""

from __future__ import annotations

import dataclasses
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment
from temporalio.worker import (
    ActivityInboundInterceptor,
    ActivityOutboundInterceptor,
    Interceptor,
    Worker,
)

from activities.boundary import asked_at, named_failures, server_began
from activities.change.door import MutationActivities
from activities.change.intents import ClosedAs, close_intent, intent_key, own_commit
from activities.change.own_changes import (
    OwnChange,
    OwnCommits,
    landed_change,
    landed_commits,
    last_change,
    never_showed,
)
from activities.change.settled import unless_settled
from activities.log_fields.rollback_log import RollbackLog
from activities.log_fields.zone import LogFieldsActivities
from activities.standing import where_undone
from edgeshift.areas.assessment import Verdict
from edgeshift.messages import Part, Prepared, Watch, Watched, ZoneStart
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.runtime.clock import SystemClock
from tests.forgeries.doors import Guarded, guarded
from tests.kit.stored import put_json
from workflows.zone.parts import parts_of

AHEAD = timedelta(hours=3)
"""How far ahead of the server's a worker's clock is."""

LIMIT = timedelta(seconds=3)
"""What a migration may take here; its request as long again, and a second's margin."""

HOURS = 1 / 3600
"""A second, in hours."""


class ClockAhead(SystemClock):
    """A clock that was set wrong; it runs as others do."""

    def now(self) -> datetime:
        """Three hours too late."""
        return super().now() + AHEAD


def begun() -> ActivityEnvironment:
    """An activity that the server begins now."""
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, started_time=datetime.now(UTC))
    return environment


@asynccontextmanager
async def sent(folder: Path, *, ago: float = 0, ahead: bool = False) -> AsyncIterator[Guarded]:
    """A zone to which a commit was sent so many seconds ago, by a worker whose clock is right."""
    terms: dict[str, Any] = {"commit": {"migration_limit": "3s", "margin": "1s"}, "request_limit": "3s"}
    async with guarded(folder, clock=ClockAhead() if ahead else None, **terms) as door:
        await door.begin(issued=datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=9))
        proposal = await put_json(door.archive, {"body": door.gate.body})
        named: dict[str, Any] = {"proposal": proposal, "snapshot": door.gate.snapshot}
        await door.sent_before("first", ago * HOURS, **named)
        yield door


class SdkAhead(Interceptor):
    """A worker on the machine whose clock was set wrong. What its SDK tells a local activity of its own start
    is by that clock; a remote one is told the server's.
    """

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """In each activity."""
        return _TellsAhead(next)


class _TellsAhead(ActivityInboundInterceptor):
    def init(self, outbound: ActivityOutboundInterceptor) -> None:
        super().init(_InfoAhead(outbound))


class _InfoAhead(ActivityOutboundInterceptor):
    def info(self) -> activity.Info:
        told = super().info()
        return dataclasses.replace(told, started_time=told.started_time + AHEAD) if told.is_local else told


@workflow.defn(sandboxed=False)
class EndsUntouched:
    """A zone that is about to end, of which its run knows of no commit."""

    @workflow.run
    async def run(self, start: ZoneStart) -> Part:
        """What its campaign may have left there."""
        logs = start.area is Area.LOG_FIELDS
        look = LogFieldsActivities.look_back if logs else MutationActivities.look_back
        return await parts_of(start).ending.left(look)


@pytest.mark.embedded
@pytest.mark.parametrize("area", [Area.WAF, Area.ESC, Area.LOG_FIELDS], ids=lambda area: area.value)
async def test_a_clock_that_runs_ahead_ends_no_time_in_which_a_commit_may_show(
    temporal_client: Client, tmp_path: Path, area: Area
) -> None:
    """A zone that ends would else be looked at once, and be told as not touched before the commit shows. A
    local activity has the server's time from its workflow alone.
    """
    async with sent(tmp_path, ahead=True) as waf:
        door, there = waf.with_start(area=area), waf.gate.connections
        policy = door.gate.start.policy.model_copy(update={"migration_limit": timedelta(hours=1)})
        start = door.gate.start.model_copy(update={"policy": policy})
        if area is not Area.WAF:
            log = RollbackLog(there, start)
            assert await log.begin("p-1") == "p-1"
            await log.creating_job("ours")
            named: dict[str, Any] = {"proposal": "4" * 64, "snapshot": door.gate.snapshot}
            await door.sent_before("p-1-rules-1", 0, trail="p-1", **named)
        tag = f"ahead-{uuid.uuid4().hex[:8]}"
        async with Worker(
            temporal_client,
            task_queue=tag,
            workflows=[EndsUntouched],
            activities=[MutationActivities(there, {}).look_back, LogFieldsActivities(there).look_back],
            interceptors=[SdkAhead()],
        ):
            part = await temporal_client.execute_workflow(
                EndsUntouched.run, start, id=tag, task_queue=tag, execution_timeout=timedelta(seconds=30)
            )
        assert part.prepared is not None and part.may_show


async def test_what_a_local_activity_is_told_of_its_own_start_is_no_word_of_the_servers() -> None:
    """It is its worker's clock: a local one that was not told the server's time has none to go by."""
    local = begun()
    local.info = dataclasses.replace(local.info, is_local=True)

    def asked(told: datetime | None) -> datetime:
        asked_at(told)
        return server_began()

    earlier = local.info.started_time - AHEAD
    assert local.run(asked, earlier) == earlier
    with pytest.raises(RuntimeError, match="is local"):
        local.run(asked, None)


async def test_a_clock_that_runs_ahead_has_nothing_told_as_undone(tmp_path: Path) -> None:
    """Neither by what compares outcomes, nor by what a worker signs of its own change."""
    async with sent(tmp_path, ahead=True) as door:
        start, there = door.gate.start, door.gate.connections

        @named_failures
        async def asked() -> tuple[ZoneOutcome, OwnChange | None]:
            undone = await where_undone(
                there, start.spec, start.campaign_run, start.target, 1, ZoneOutcome.ROLLED_BACK, LIMIT
            )
            return undone, await last_change(there, start)

        undone, own = await begun().run(asked)
        assert undone is ZoneOutcome.UNKNOWN
        assert own is not None and own.may_show and not own.is_over


@pytest.mark.parametrize("all_of_them", [False, True], ids=["the last one", "all of a run"])
async def test_a_commit_that_may_have_been_on_the_wire_has_not_landed_when_its_effect_is_due(
    tmp_path: Path, all_of_them: bool
) -> None:
    """What closes it waits until its request is over as well; nothing is closed before that."""
    async with sent(tmp_path, ago=LIMIT.total_seconds() + 0.5) as door:
        start, there = door.gate.start, door.gate.connections

        @named_failures
        async def landed() -> tuple[OwnChange | None, OwnChange | OwnCommits | None, datetime]:
            before, wait = await last_change(there, start), landed_commits if all_of_them else landed_change
            return before, await wait(there, start), datetime.now(UTC)

        before, after, at = await begun().run(landed)
        assert before is not None and before.is_over and before.may_land_in > timedelta(0)
        assert after is not None and after.may_land_in <= timedelta(0)
        assert at >= before.record.at + 2 * LIMIT + timedelta(seconds=1)


async def test_a_commit_that_a_clock_ahead_has_dated_is_watched_from_when_the_archive_took_it(
    tmp_path: Path,
) -> None:
    """By its own date it would be watched for longer than anybody does, and nothing would be signed."""
    async with sent(tmp_path, ago=-600) as door:

        @named_failures
        async def own() -> OwnChange | None:
            return await last_change(door.gate.connections, door.gate.start)

        found = await begun().run(own)
        assert found is not None and found.watch == timedelta(0)
        assert found.watched_enough and found.may_show
        assert not dataclasses.replace(found, watch=timedelta(minutes=5)).watched_enough


async def test_a_change_whose_file_is_said_to_be_old_is_not_watched_enough(tmp_path: Path) -> None:
    """Whoever can write to a folder sets the times of its files: a change that was just made would be signed
    at once. They shorten its watch by no more than a clock may run ahead.
    """
    async with sent(tmp_path, ago=-600) as door:
        intent = tmp_path / "state" / "archive" / intent_key(door.gate.zone, Area.WAF, "first")
        assert intent.exists()
        os.utime(intent, (0, 0))

        @named_failures
        async def own() -> OwnChange | None:
            return await last_change(door.gate.connections, door.gate.start)

        found = await begun().run(own)
        assert found is not None and found.watched_enough
        assert not dataclasses.replace(found, watch=timedelta(minutes=20)).watched_enough


@pytest.mark.parametrize("ahead", [False, True], ids=["clock right", "clock ahead"])
async def test_what_was_just_sent_is_not_waited_for(tmp_path: Path, ahead: bool) -> None:
    """Its effect is still to come, whatever the clock says: it is not closed."""
    async with sent(tmp_path, ahead=ahead) as door:

        @named_failures
        async def landed() -> tuple[OwnChange | None, OwnCommits | None]:
            there, start = door.gate.connections, door.gate.start
            return await landed_change(there, start), await landed_commits(there, start)

        assert await begun().run(landed) == (None, None)


@pytest.mark.parametrize("answered", [False, True], ids=["no answer", "answered"])
async def test_what_never_showed_is_taken_up_by_nobody_and_uses_no_approval(
    tmp_path: Path, answered: bool
) -> None:
    """Whoever makes the change later is somebody else, and what gets worse is not taken back; a retry may
    send it with what was signed.
    """
    async with sent(tmp_path, ago=60) as door:
        there, start, zone = door.gate.connections, door.gate.start, door.gate.zone
        if answered:
            await close_intent(there, intent_key(zone, Area.WAF, "first"), ClosedAs.ANSWERED)

        @named_failures
        async def is_ours() -> tuple[bool, bool, bool]:
            own = await own_commit(there, zone, Area.WAF, start.campaign, LIMIT)
            told = Prepared(verdict=Verdict.READY, snapshot=door.gate.snapshot)
            message = Watch(start=start, prepared=told, since=datetime.now(UTC))
            worse = Watched.as_worse(Reason(code=ReasonCode.URLS_WORSE, names=("/",)))
            seen = await unless_settled(there, message, worse)
            return own is not None, await last_change(there, start) is not None, bool(seen.worse)

        @named_failures
        async def close() -> None:
            own = await landed_change(there, start)
            assert own is not None
            await never_showed(there, start, own)

        assert await begun().run(is_ours) == (True, True, True)
        await begun().run(close)
        assert await begun().run(is_ours) == (False, False, False)
        statement = door.decision(
            "ada", issued=datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5)
        )
        await door.put(statement)
        result = await door.commit()
        assert not result.uncounted, result

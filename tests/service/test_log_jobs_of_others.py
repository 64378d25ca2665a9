"""Log jobs that others make of a zone, or change, after its fields were written, and what is said of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from activities.log_fields.reading import read_zone
from activities.log_fields.zone import LogFieldsActivities
from activities.snapshots import archive_snapshot
from edgeshift.areas import log_fields
from edgeshift.areas.assessment import Verdict
from edgeshift.messages import ChangeStatus, Confirm, Prepared, Shown, Step, Watch, Watched
from edgeshift.model.digests import digest
from edgeshift.model.fleet import Area
from edgeshift.model.reasons import ReasonCode
from tests.kit.stored import put_json
from tests.service.gate_kit import begun
from tests.service.log_writes_kit import WANTED, Writes, log_writes

JOB: dict[str, Any] = {"destination": "r2://bank/logs", "logpull_options": "fields=RayID", "name": "theirs"}
OTHER = {
    "name": "of-a-colleague",
    "dataset": "http_requests",
    "destination_conf": "r2://bank/others",
    "enabled": True,
}


class Written:
    """The zone, with the fields that a campaign has written."""

    def __init__(self, zone: Writes, prepared: Prepared, found: str) -> None:
        self.zone, self.prepared, self.found = zone, prepared, found
        self._activities = LogFieldsActivities(zone.play.connections)

    async def shown(self) -> Shown:
        """Whether it shows."""
        message = Confirm(
            start=self.zone.play.start,
            prepared=self.prepared,
            wanted=True,
            limit=timedelta(seconds=2),
            since=self.zone.play.connections.clock.now(),
        )
        return await begun().run(self._activities.confirm, message)

    async def watched(self) -> Watched:
        """The last look at it."""
        message = Watch(
            start=self.zone.play.start,
            prepared=self.prepared,
            since=self.zone.play.connections.clock.now(),
            last=True,
            found=self.found,
        )
        return await begun().run(self._activities.watch, message)


@asynccontextmanager
async def written(folder: Path, *, before_it_is_sent: bool = False) -> AsyncIterator[Written]:
    """A zone with a log job. ``before_it_is_sent``: a colleague makes another one after it was proposed."""
    async with log_writes(folder, JOB) as zone:
        play = zone.play
        reading = await read_zone(zone.client, play.zone)
        archive = play.connections.archive
        snapshot = await archive_snapshot(play.connections, play.zone, Area.LOG_FIELDS, reading)
        play.snapshot = snapshot
        body = log_fields.proposal_body(reading, play.zone, WANTED, None)
        prepared = Prepared(
            verdict=Verdict.READY,
            snapshot=snapshot,
            digest=digest(body),
            proposal=await put_json(archive, {"body": body}),
        )
        if before_it_is_sent:
            await zone.client.create_log_job(zone.zone_id, {**OTHER, "logpull_options": "fields=RayID"})
        result = await zone.whole(Step.COMMIT)
        assert result.status is ChangeStatus.ANSWERED, result
        yield Written(zone, prepared, result.found)


async def test_a_log_job_that_somebody_makes_later_takes_no_change_back(tmp_path: Path) -> None:
    """Whether it lists something or nothing: it merely does not carry the fields."""
    async with written(tmp_path) as there:
        for more in ({}, {"logpull_options": "fields=RayID"}):
            await there.zone.client.create_log_job(there.zone.zone_id, {**OTHER, **more})
            assert (await there.shown()).reached
            seen = await there.watched()
            assert not seen.worse, seen


async def test_a_log_job_of_the_step_that_does_not_list_the_fields_any_more_takes_it_back(
    tmp_path: Path,
) -> None:
    """One that was there when it was proposed, and one that came before it was sent."""
    async with written(tmp_path, before_it_is_sent=True) as there:
        zone = there.zone
        assert (await there.shown()).reached and not (await there.watched()).worse
        for job in await zone.client.log_jobs(zone.zone_id):
            lists = job.logpull_options
            assert lists == "fields=RayID,RequestHeaders"
            await zone.client.update_log_job(zone.zone_id, job.id, {"logpull_options": "fields=RayID"})
            seen = await there.watched()
            assert [one.code for one in seen.why] == [ReasonCode.FIELDS_CHANGED_BY_OTHERS], seen
            assert f"log job {job.id} does not list RequestHeaders" in seen.worse
            await zone.client.update_log_job(zone.zone_id, job.id, {"logpull_options": lists})

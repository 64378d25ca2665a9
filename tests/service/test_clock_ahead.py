"""What a worker sends whose clock is ahead of the server's by more than a send window."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.door import MutationActivities
from activities.esc.changes import EscWork
from activities.esc.evidence import record_probed
from activities.esc.reading import read_scope
from activities.snapshots import archive_snapshot
from edgeshift.areas import esc
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.messages import ChangeResult, ChangeStatus, Prepared, Step
from edgeshift.model.fleet import Area
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.documents import put_document
from tests.kit.names import BEFORE_REMOVAL
from tests.service.gate_kit import Gate, begun, gate
from tests.service.log_writes_kit import log_writes

JOB: dict[str, Any] = {"destination": "r2://bank/logs", "logpull_options": "fields=RayID"}

TIMES: dict[str, Any] = {"window": timedelta(seconds=30), "lasts": timedelta(minutes=2)}
"""Of a step, as a campaign has them by default."""

TURN = timedelta(seconds=90)
"""How long a commit may wait for its turn."""


class ClockAhead(SystemClock):
    """A clock that was set wrong; it runs as others do."""

    def __init__(self, ahead: timedelta) -> None:
        self.ahead = ahead

    def now(self) -> datetime:
        """Too late."""
        return super().now() + self.ahead


async def made(play: Gate, body: dict[str, Any], step: Step) -> ChangeResult:
    """One step of esc, as the door has it made."""
    waits = TURN if step is Step.COMMIT else timedelta(0)
    change = await play.message(body, body, step=step, waits=waits, **TIMES)
    there = play.connections
    if step is Step.COMMIT:
        report = ProbeReport(made_at=there.clock.now(), rounds=1)
        change = change.model_copy(update={"evidence": await put_document(there.archive, report)})
        prepared = Prepared(verdict=Verdict.READY, proposal=change.proposal, snapshot=change.snapshot)
        await record_probed(there, play.start, change.evidence, prepared)
    return await begun().run(MutationActivities(there, {Area.ESC: EscWork(there)}).change, change)


@pytest.mark.parametrize(("ahead", "sends"), [(40, True), (300, False)])
async def test_what_a_worker_has_changed_in_esc_it_can_take_back(
    tmp_path: Path, ahead: int, sends: bool
) -> None:
    """Also where its clock is ahead by more than the window: a step that waits for no turn loses none of it.
    What is ahead by more than a permit lasts is as if the process had been stopped for as long.
    """
    clock = ClockAhead(timedelta(0))
    terms: dict[str, Any] = {"area": "esc", "esc": {"probe": {"urls": ["/"]}}}
    options = {"clock": BEFORE_REMOVAL, "visibility_seconds": 0}
    async with gate(tmp_path, clock=clock, simulator=options, **terms) as play:
        there, zone = play.connections, play.zone
        client = await there.service(play.start.spec, zone)
        play.start = play.start.model_copy(update={"area": Area.ESC})
        for step, body in (
            (Step.SET_SECRET, esc.secret_body(zone)),
            (Step.COMMIT, {"name": "esc", "change": {"always": True}}),
            (Step.ROLL_BACK, {"name": "esc", "change": {"always": True}}),
        ):
            reading, _ = await read_scope(there, client, zone, "")
            play.snapshot = await archive_snapshot(there, zone, Area.ESC, reading)
            clock.ahead = timedelta(seconds=ahead if sends or step is not Step.COMMIT else 0)
            result = await made(play, body, step)
            if sends or step is Step.COMMIT:
                assert result.status is ChangeStatus.ANSWERED, (step, result)
            else:
                assert result.status is ChangeStatus.NOTHING_HAPPENED and result.stands, (step, result)


async def test_what_a_worker_has_written_to_log_fields_it_can_take_back(tmp_path: Path) -> None:
    """Its rules and log jobs, by a clock that is ahead by more than the window."""
    async with log_writes(tmp_path, JOB, clock=ClockAhead(timedelta(seconds=40))) as zone:
        before = await zone.descriptions()
        assert (await zone.whole(Step.COMMIT, waits=TURN, **TIMES)).status is ChangeStatus.ANSWERED
        assert await zone.descriptions() != before
        back = await zone.whole(Step.ROLL_BACK, **TIMES)
        assert back.status is ChangeStatus.ANSWERED, back
        assert await zone.descriptions() == before

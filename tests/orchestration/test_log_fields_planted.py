"""Records of what was there before, planted by somebody who may write to the archive: they neither put rules
into a zone nor turn off a log job that is nobody's here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import PermitGrant, ZonePhase
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.stores.documents import create_record
from edgeshift.stores.documents.areas.log_fields import JobCreated, RulesBefore
from tests.kit import Scene, fleet_of, scene
from tests.kit.log_fields import SPEC, job_of, logged_zone, ruleset
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(180)]

NAME = "planted.example"
JOB = job_of(NAME)
EVIL = {
    "action": "log_custom_field",
    "expression": "true",
    "ref": "evil",
    "description": "of nobody",
    "action_parameters": {"request_fields": [{"name": "authorization"}]},
}


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def begun(play: Scene) -> str:
    """The zone is signed, and its step is about to write: where the records of that will lie, which begin
    with its permit, as whoever can read Temporal knows it.
    """
    slow = {"kind": "latency", "seconds": 1.5, "times": 1, "match": {"call": "rulesets.list"}}
    await play.control.send("POST", "faults", slow)
    await play.sign_zone(NAME)
    await play.zone_until(NAME, lambda found: found.phase is ZonePhase.COMMITTING)
    described = await play.campaign.describe()
    run = sha256((described.run_id or "").encode())[:16]
    async for event in play.zone(NAME).fetch_history_events():
        told = event.workflow_execution_signaled_event_attributes
        if told.signal_name == "permit":
            grant = PermitGrant.model_validate_json(told.input.payloads[0].data)
            return f"before/{play.zone_id(NAME)}/log-fields/{run}/{grant.permit.name}"
    raise AssertionError("the zone has no permit")


async def waits(play: Scene) -> None:
    """The zone waits for its sign-off."""
    await play.zone_until(NAME, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)


@pytest.mark.parametrize("ahead", [0, 5])
async def test_planted_rules_are_never_put(client: Client, tmp_path: Path, ahead: int) -> None:
    """As those of the version that is there, or of one that is none: the step names the record and sends
    nothing. The next one has a permit of its own, under which its records lie elsewhere.
    """
    zone = logged_zone(NAME)
    async with scene(client, tmp_path, fleet_of(zone), **SPEC) as play:
        await waits(play)
        there = await ruleset(play, NAME)
        record = RulesBefore(version=int(there["version"]) + ahead, rules=[EVIL])
        await create_record(play.archive, f"{await begun(play)}/{there['id']}/base", record)
        result = await play.zone(NAME).result()
        assert result.outcome is ZoneOutcome.ROLLED_BACK, result.reason
        told = [event.SerializeToString() async for event in play.zone(NAME).fetch_history_events()]
        assert any(b"/base in the archive" in one for one in told)
        # Ours in, and out again; the customers' as they were.
        assert len(await play.journal("rulesets.put", NAME)) == 2
        found = (await ruleset(play, NAME))["rules"]
        assert [rule["description"] for rule in found] == [rule["description"] for rule in there["rules"]]


async def test_a_log_job_that_nobody_signed_is_not_turned_off(client: Client, tmp_path: Path) -> None:
    """The rollback turns off the job that the campaign made, by the name that was signed."""
    zone = {"name": NAME, "plan": "enterprise", "logs": {"jobs": [JOB]}}
    async with scene(client, tmp_path, fleet_of(zone), **SPEC) as play:
        await waits(play)
        await create_record(play.archive, f"{await begun(play)}/new-job", JobCreated(name="customers"))
        result = await play.zone(NAME).result()
        assert result.outcome is ZoneOutcome.ROLLED_BACK, result.reason
        # The fields into its list, and out again; it is not turned off.
        assert len(await play.journal("logpush.jobs.update", NAME)) == 2

"""Pause, abort, late and forged words, and operators in mid-course: a scope that is watched or rolled back is
seen through.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from functools import partial
from pathlib import Path

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

from edgeshift.areas.esc.terms import EscSpec
from edgeshift.messages import Expire, Permit, PermitGrant, Revoke, Ruling, Step, Stop, ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.operations.again import begin_again
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import ESC, esc_stage, esc_zone, over
from tests.harness.disturbances.operators import reset, tasks
from tests.harness.oracles.reversible import Ending, esc_complaints
from tests.kit import OPERATOR, SCALE, eventually
from tests.kit.faults import Stage

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(400)]

LONG = over(ESC, esc={"observe": "48h", "every": "16h"})
"""Twelve seconds at the scale of scenes, a look every four: time for a person to say something."""
REFUSED = json.dumps(
    {"success": False, "errors": [{"code": 1000, "message": "no"}], "messages": [], "result": None}
)
SLOW = {"kind": "latency", "match": {"call": "esc.set"}, "seconds": 3.0}
SLOW_BACK = {"kind": "latency", "match": {"call": "esc.delete"}, "seconds": 3.0}


async def signed_until(stage: Stage, short: str, phase: ZonePhase) -> None:
    """Sign the zone's own proposal and wait until it is in a phase."""
    state = await stage.waits(short, within=120)
    await stage.play.sign_zone(stage.name(short), digest=state.digest)
    await stage.phase(short, phase, within=120)


async def is_true(stage: Stage, short: str) -> None:
    """The oracle has nothing against how the zone ended."""
    result = await stage.play.zone(stage.name(short)).result()
    edge = await stage.play.oracle(stage.name(short))
    assert not esc_complaints(Ending(short, result.outcome.value, result.reason), edge, edge["zone"])


async def test_a_pause_holds_no_way_back(temporal_client: Client, tmp_path: Path) -> None:
    """What gets worse while the campaign is paused is turned on again at once."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("worse", worse=True), esc_zone("other"), **LONG
    ) as stage:
        await stage.waits("other", within=120)
        await signed_until(stage, "worse", ZonePhase.WATCHING)
        await stage.play.ask("pause", "lunch")
        assert await stage.outcome("worse", 120) is ZoneOutcome.ROLLED_BACK
        assert (await stage.play.summary()).state == "paused"
        assert ("esc.set", "always") not in await stage.changes("other")
        await is_true(stage, "worse")
        await stage.play.ask("resume")
        await stage.finish(200)
        await is_true(stage, "other")
        await stage.check({3, 4})


@pytest.mark.parametrize("phase", [ZonePhase.WATCHING, ZonePhase.ROLLING_BACK])
async def test_an_abort_sees_through_what_was_turned_off(
    phase: ZonePhase, temporal_client: Client, tmp_path: Path
) -> None:
    """Aborted while it is watched or rolled back: it is rolled back to the end, and nothing else begins."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("worse", worse=True), esc_zone("other"), begin=False, **LONG
    ) as stage:
        await stage.play.control.send("POST", "faults", SLOW_BACK)
        await stage.play.begin()
        await stage.waits("other", within=120)
        await signed_until(stage, "worse", phase)
        await stage.play.ask("abort", "enough")
        assert await stage.outcome("worse", 120) is ZoneOutcome.ROLLED_BACK
        assert await stage.outcome("other", 120) is ZoneOutcome.ABORTED
        await stage.play.result()
        await stage.closed()
        await is_true(stage, "worse")
        await is_true(stage, "other")
        await stage.check({3, 4})


@pytest.mark.parametrize("worse", [False, True])
async def test_late_and_forged_words_change_nothing_of_what_is_under_way(
    worse: bool, temporal_client: Client, tmp_path: Path
) -> None:
    """Rejections, permits, expiries and stops of nobody, twice each, while it is watched and rolled back."""
    async with esc_stage(temporal_client, tmp_path, esc_zone("a", worse=worse), begin=False, **LONG) as stage:
        await stage.play.control.send("POST", "faults", SLOW_BACK)
        await stage.play.begin()
        await signed_until(stage, "a", ZonePhase.WATCHING)
        await _forge(stage, "a")
        if worse:
            await stage.phase("a", ZonePhase.ROLLING_BACK, within=120)
            await _forge(stage, "a")
        expected = ZoneOutcome.ROLLED_BACK if worse else ZoneOutcome.SETTLED
        assert await stage.outcome("a", 120) is expected
        await stage.finish(200)
        await is_true(stage, "a")
        assert len(await stage.changes("a")) == 2 + worse
        await stage.check({3, 4, 7})


async def _forge(stage: Stage, short: str) -> None:
    handle, state = stage.play.zone(stage.name(short)), await stage.play.state(stage.name(short))
    campaign = await stage.play.campaign.describe()
    index = stage.play.index(stage.name(short))
    reject = Decision(choice=Choice.REJECT, digest=state.digest, by="ann")
    permit = Permit(number=1, name="1-1", index=index, step=Step.COMMIT, expires_at=stage.play.now())
    for run in ("nobody", campaign.run_id or ""):
        for _ in range(2):
            await handle.signal("permit", PermitGrant(campaign_run=run, permit=permit, decisions=(reject,)))
            await handle.signal("ruling", Ruling(campaign_run=run, decision=reject))
            await handle.signal("expire", Expire(campaign_run=run, attempt=state.attempt))
            await handle.signal("sign_off", reject)
    await handle.signal("stop", Stop(campaign_run="nobody", by="eve", reason="forged"))
    await handle.signal("revoke", Revoke(campaign_run="nobody", number=1))
    await handle.signal("permit", {"nonsense": True})


async def test_a_scope_terminated_while_it_is_watched_is_named_and_left_with_a_person(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The campaign reads the service: esc is off, nobody has watched it, and it says so."""
    async with esc_stage(temporal_client, tmp_path, esc_zone("gone"), **LONG) as stage:
        await signed_until(stage, "gone", ZonePhase.WATCHING)
        await stage.play.zone(stage.name("gone")).terminate("by hand")
        result = await stage.finish(200)
        assert result.outcomes == {"unknown": 1}
        assert await stage.play.is_off(stage.name("gone"))
        assert await stage.changes("gone") == [("esc.set", "with_secret"), ("esc.set", "always")]


async def test_a_scope_terminated_while_it_is_rolled_back_is_not_called_settled(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Whatever the DELETE came to, the outcome leaves it with a person."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("gone", worse=True), begin=False, **ESC
    ) as stage:
        await stage.play.control.send("POST", "faults", SLOW_BACK)
        await stage.play.begin()
        await signed_until(stage, "gone", ZonePhase.ROLLING_BACK)
        await stage.play.zone(stage.name("gone")).terminate("by hand")
        result = await stage.finish(200)
        assert set(result.outcomes) <= {"unknown", "failed"}, result.outcomes


@pytest.mark.parametrize("worse", [False, True])
async def test_a_scope_that_is_reset_in_mid_course_is_not_turned_off_twice(
    worse: bool, temporal_client: Client, tmp_path: Path
) -> None:
    """The intents tell the new run what was sent; it sees the change through to the same outcome."""
    async with esc_stage(temporal_client, tmp_path, esc_zone("a", worse=worse), **LONG) as stage:
        await signed_until(stage, "a", ZonePhase.WATCHING)
        await _reset(stage, "a")
        expected = ZoneOutcome.ROLLED_BACK if worse else ZoneOutcome.SETTLED
        assert await stage.outcome("a", 200) is expected
        await stage.finish(200)
        assert (await stage.changes("a")).count(("esc.set", "always")) == 1
        await is_true(stage, "a")
        await stage.check({3, 4, 7})


async def test_a_scope_that_is_reset_to_before_its_probe_takes_up_what_was_signed_and_sent(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its new run has evidence that nobody has signed, while what people had signed is on the wire: that is
    seen through, and not taken for something that nobody has agreed to.
    """
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a"), begin=False, authority=ONE, **LONG
    ) as stage:
        await stage.play.control.send("POST", "faults", SLOW)
        await stage.play.begin()
        state = await stage.waits("a", within=120)
        await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        await eventually(partial(_intends, stage, "a", b'"commit"'), 30, "the change is on the wire")
        await _reset(stage, "a", "probe_esc_scope")
        assert await stage.outcome("a", 200) is ZoneOutcome.SETTLED
        await stage.finish(200)
        assert (await stage.changes("a")).count(("esc.set", "always")) == 1
        await is_true(stage, "a")
        await stage.check({3, 4, 7})


async def test_a_pause_waits_for_what_a_run_that_was_reset_has_on_the_wire(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The new run knows nothing of it, and says so: nothing is to take effect after the answer (rule 7)."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a"), begin=False, authority=ONE, **LONG
    ) as stage:
        await stage.play.begin()
        state = await stage.waits("a", within=120)
        await stage.play.control.send("POST", "faults", {**SLOW, "effect": "before", "seconds": 4.0})
        await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        await eventually(partial(_intends, stage, "a", b'"commit"'), 30, "the change is on the wire")
        await _reset(stage, "a", "probe_esc_scope")
        await stage.play.ask("pause", "lunch")
        sent = await stage.changes("a")
        assert sent.count(("esc.set", "always")) == 1
        await asyncio.sleep(5.0)
        assert await stage.changes("a") == sent
        await stage.play.ask("resume")
        await stage.finish(200)
        await is_true(stage, "a")
        await stage.check({3, 4})


@pytest.mark.parametrize("worse", [False, True])
async def test_a_change_is_not_taken_back_because_the_roots_keep_it_from_being_looked_at(
    worse: bool, temporal_client: Client, tmp_path: Path
) -> None:
    """They cannot be read when it is to be looked at, and can be a little later: what is seen then counts."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a", worse=worse), begin=False, authority=ONE, **ESC
    ) as stage:
        await stage.play.begin()
        await signed_until(stage, "a", ZonePhase.WATCHING)
        assert stage.play.keys is not None
        roots = stage.play.keys.roots
        aside = roots.rename(roots.with_suffix(".aside"))
        await asyncio.sleep(6.0)
        assert (await stage.phase("a", ZonePhase.WATCHING)).phase is ZonePhase.WATCHING
        aside.rename(roots)
        expected = ZoneOutcome.ROLLED_BACK if worse else ZoneOutcome.SETTLED
        assert await stage.outcome("a", 200) is expected
        assert bool(await stage.play.journal("esc.delete", stage.name("a"))) is worse
        await stage.finish(200)
        await is_true(stage, "a")


async def test_a_scope_that_is_reset_while_its_way_back_is_on_the_wire_sees_it_through(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The new run reads it as off and finds its own rollback in the archive: it does not take the change up
    again. A setting that shows the secret alone does not tell, so the rollback is sent once more.
    """
    async with esc_stage(temporal_client, tmp_path, esc_zone("a", worse=True), begin=False, **ESC) as stage:
        await stage.play.control.send("POST", "faults", SLOW_BACK)
        await stage.play.begin()
        await signed_until(stage, "a", ZonePhase.ROLLING_BACK)
        await eventually(partial(_intends, stage, "a", b'"roll_back"'), 30, "the rollback is on the wire")
        handle = stage.play.zone(stage.name("a"))
        assert await reset(stage.play.client, handle, (await tasks(handle))[0])
        result = await asyncio.wait_for(stage.play.zone(stage.name("a")).result(), 100)
        assert result.outcome is ZoneOutcome.ROLLED_BACK, result
        assert "when its workflow was reset" in result.reason
        await stage.finish(200)
        changes = [call for call, _ in await stage.changes("a")]
        assert (changes.count("esc.set"), changes.count("esc.delete")) == (2, 2), changes
        assert not await stage.play.is_off(stage.name("a"))
        await stage.check({3, 4, 7})


async def _intends(stage: Stage, short: str, step: bytes) -> bool:
    archive, prefix = stage.play.archive, f"intent/{stage.id(short)}/esc"
    found = [await archive.get_named(key) async for key in archive.list(prefix)]
    return any(step in (data or b"") for data in found)


async def _reset(stage: Stage, short: str, before: str = "change_zone") -> None:
    """What an operator's ``temporal workflow reset`` does, to the workflow task before the last change, or
    another activity.
    """
    handle = stage.play.zone(stage.name(short))
    described = await handle.describe()
    at, event_id = 0, 0
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            at = event.event_id
        if event.activity_task_scheduled_event_attributes.activity_type.name == before:
            event_id = at
    assert event_id
    await stage.play.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=stage.play.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=described.run_id),
            reason="by hand",
            workflow_task_finish_event_id=event_id,
            request_id=uuid.uuid4().hex,
        )
    )


async def test_what_takes_effect_after_it_was_given_up_is_watched_all_the_same(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The answer is lost and the effect comes long after: it gets worse, so it is turned on again."""
    terms = over(ESC, esc={"effect_limit": "2s"})
    simulator = {"esc_visibility_seconds": 5 * SCALE}
    async with esc_stage(
        temporal_client,
        tmp_path,
        esc_zone("worse", own=True, worse=True),
        begin=False,
        simulator=simulator,
        request_limit="1s500ms",
        **terms,
    ) as stage:
        await stage.fault("hang", "esc.set", "worse", effect="after")
        await stage.play.begin()
        await stage.finish(200)
        assert await stage.outcome("worse") is ZoneOutcome.ROLLED_BACK
        await is_true(stage, "worse")


async def test_a_way_back_that_nothing_came_of_is_taken_up_by_the_next_attempt(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Every DELETE was refused, and the scope's workflow is gone: what is off and worse is not
    called settled, however long ago that was.
    """
    refused = {"kind": "server_error", "status": 400, "body": REFUSED, "match": {"call": "esc.delete"}}
    async with esc_stage(temporal_client, tmp_path, esc_zone("a", worse=True), begin=False, **ESC) as stage:
        fault = await stage.play.control.send("POST", "faults", refused)
        await stage.play.begin()
        await signed_until(stage, "a", ZonePhase.ROLLING_BACK)
        await eventually(partial(_tried_back, stage, "a", 2), 60, "the rollback is tried again")
        await stage.play.zone(stage.name("a")).terminate("by hand")
        await stage.finish(200)
        await asyncio.sleep(stage.play.spec.scaled().section(EscSpec).effect_limit.total_seconds())
        await stage.play.control.send("DELETE", f"faults/{fault['id']}", None)
        await begin_again(
            stage.play.client, stage.play.spec.name, "retry", by=OPERATOR, places=["unknown", "failed"]
        )
        await stage.finish(200)
        assert await stage.outcome("a") is ZoneOutcome.ROLLED_BACK
        await is_true(stage, "a")


async def _tried_back(stage: Stage, short: str, times: int) -> bool:
    return len(await stage.play.journal("esc.delete", stage.name(short))) >= times


async def test_a_way_back_that_one_reading_shows_is_not_believed(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The DELETE was lost and one answer says that esc is on: it is asked again, and the rollback goes on."""
    quiet = esc_zone("a", worse=True, esc={"behaviours": []})
    async with esc_stage(
        temporal_client, tmp_path, quiet, begin=False, request_limit="1s500ms", **LONG
    ) as stage:
        await stage.fault("hang", "esc.delete", "a", effect="before")
        await stage.play.begin()
        await signed_until(stage, "a", ZonePhase.ROLLING_BACK)
        await eventually(partial(_tried_back, stage, "a", 1), 60, "the rollback is tried")
        await stage.fault("wrong_types", "esc.get", "a", replace={"/always": False})
        await stage.finish(200)
        assert await stage.outcome("a") is ZoneOutcome.ROLLED_BACK
        assert await stage.unfired() == []
        await is_true(stage, "a")


async def test_a_scope_terminated_before_its_change_shows_is_unknown(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It was answered and shows later: nobody is told that nothing came of it."""
    simulator = {"esc_visibility_seconds": 12 * SCALE}
    terms = over(ESC, esc={"effect_limit": "60s"})
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a", own=True), simulator=simulator, **terms
    ) as stage:
        await signed_until(stage, "a", ZonePhase.VERIFYING)
        await stage.play.zone(stage.name("a")).terminate("by hand")
        result = await stage.finish(200)
        assert result.outcomes == {"unknown": 1}

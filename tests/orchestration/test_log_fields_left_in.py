"""What a campaign has written in part and would forget: a step that stopped in the middle, an attempt that
was cut off, one reading that shows it undone. Whoever ends such a zone takes it back.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ChangeResult, ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from tests.kit import REVOKED, STRANGER, Scene, eventually, fleet_of, scene
from tests.kit.held import fault, set_status
from tests.kit.log_fields import logged_zone
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(300)]

SPEC: dict[str, Any] = {
    "area": "log-fields",
    "log_fields": {"request_headers": ["user-agent"], "verify": "40h", "every": "2h"},
    "commit": {"migration_limit": "8s", "poll": "1s"},
    "sweep": "2h",
}


def zone(short: str = "half") -> dict[str, Any]:
    """An Enterprise zone with a rule of others and a log job, whose name no other test has."""
    return logged_zone(f"{short}-{uuid.uuid4().hex[:8]}.example")


def half(play: Scene) -> str:
    """The name of the zone that a test is about."""
    return next(zone.name for zone in play.fleet.zones if zone.name.startswith("half"))


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def rules(play: Scene) -> list[str]:
    """The rules of custom log fields in the zone, by their descriptions."""
    lists = await play.control.get(f"zones/{play.zone_id(half(play))}")
    found = [item for item in lists["rulesets"] if item["phase"] == "http_log_custom_fields"]
    return [rule["description"] for rule in found[0]["rules"]]


async def ours(play: Scene) -> list[str]:
    """Those of the campaign."""
    return [description for description in await rules(play) if "edgeshift" in description]


async def changes(play: Scene) -> list[ChangeResult]:
    """What the zone's steps came to, by its history."""
    found = []
    async for event in play.zone(half(play)).fetch_history_events():
        done = event.activity_task_completed_event_attributes
        if event.HasField("activity_task_completed_event_attributes") and b'"status"' in (
            data := done.result.payloads[0].data
        ):
            found.append(ChangeResult.model_validate_json(data))
    return found


async def waits(play: Scene) -> None:
    """The zone waits for its sign-off."""
    await play.zone_until(half(play), lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)


async def held(play: Scene) -> None:
    """The zone waits for the service."""
    await play.zone_until(half(play), lambda found: found.phase is ZonePhase.WAITING_FOR_SERVICE)


async def ended(play: Scene, within: float = 90) -> tuple[ZoneOutcome, str]:
    """How the zone ended, and why."""
    found = await asyncio.wait_for(play.zone(half(play)).result(), within)
    return found.outcome, found.reason


async def test_rules_that_were_written_before_the_token_was_revoked_are_taken_back_at_an_abort(
    client: Client, tmp_path: Path
) -> None:
    """The reading right after the rules were put is refused: the zone waits, and knows what it wrote. It is
    taken back once the service can be called again.
    """
    async with scene(client, tmp_path, fleet_of(zone()), paced=True, **SPEC) as play:
        await waits(play)
        # Read once more before the rules are put, and then to write the jobs.
        async with fault(play, REVOKED, call="logpush.jobs.list", nth=2):
            await play.sign_zone(half(play))
            await held(play)
            assert await ours(play)
            (part,) = await changes(play)
            assert part.hold is not None and part.found and "before it was sent" not in part.reason
            await set_status(play, "expired")
            await play.ask("abort", "enough")
        await set_status(play, "active")
        outcome, reason = await ended(play)
        assert outcome is ZoneOutcome.ROLLED_BACK, reason
        assert not await ours(play)


async def test_a_reading_that_fails_in_the_middle_of_a_step_costs_nothing(
    client: Client, tmp_path: Path
) -> None:
    """The zone goes on with what it has written, under the same sign-off."""
    async with scene(client, tmp_path, fleet_of(zone()), **SPEC) as play:
        await waits(play)
        trouble = {"kind": "server_error", "status": 500, "times": 1}
        match = {"call": "logpush.jobs.list", "nth": 2}
        await play.control.send("POST", "faults", {**trouble, "match": match})
        await play.sign_zone(half(play))
        outcome, reason = await ended(play)
        assert outcome is ZoneOutcome.SETTLED, reason
        assert [one.status.value for one in await changes(play)][:2] == ["nothing_happened", "answered"]
        assert len(await play.journal("rulesets.put", half(play))) == 1


async def abort(play: Scene) -> None:
    """The campaign is aborted while the second attempt waits for its sign-off."""
    await waits(play)
    await play.ask("abort", "enough")


async def reject(play: Scene) -> None:
    """The second attempt is rejected."""
    await waits(play)
    await play.sign_zone(half(play), Choice.REJECT)


async def unread(play: Scene) -> None:
    """The campaign is aborted before the second attempt could read anything."""
    await held(play)
    await play.ask("abort", "enough")
    await set_status(play, "active")


async def go_on(play: Scene) -> None:
    """Somebody signs the second attempt."""
    await waits(play)
    await play.sign_zone(half(play))


@pytest.mark.parametrize("then", [abort, reject, unread, go_on], ids=lambda then: str(then.__name__))
async def test_what_an_attempt_that_was_cut_off_left_in_is_seen_to_by_the_next(
    client: Client, tmp_path: Path, then: Callable[[Scene], Awaitable[None]]
) -> None:
    """The zone's workflow is terminated between rules and log jobs, and begun again: it goes on, or takes out
    what the first attempt wrote.
    """
    fleet = fleet_of(zone(), zone("other"))
    async with scene(client, tmp_path, fleet, paced=True, **SPEC) as play:
        await waits(play)
        async with fault(play, REVOKED, call="logpush.jobs.update"):
            await play.sign_zone(half(play))
            await held(play)
            assert await ours(play)
            await play.zone(half(play)).terminate("by mistake")
        await play.until(lambda found: found.places.get("unknown") == 1)
        if then is unread:
            await set_status(play, "expired")
        await play.again("retry", half(play))
        await play.zone_until(half(play), lambda found: found.attempt == 2)
        await then(play)
        outcome, reason = await ended(play)
        expected = ZoneOutcome.SETTLED if then is go_on else ZoneOutcome.ROLLED_BACK
        assert outcome is expected, reason
        assert bool(await ours(play)) is (then is go_on)


async def test_a_part_that_a_terminated_zone_left_in_is_not_called_failed(
    client: Client, tmp_path: Path
) -> None:
    """It was terminated between rules and log jobs, and is looked at when all that was sent has shown."""
    fleet = fleet_of(zone(), zone("other"))
    terms = {**SPEC, "log_fields": {**SPEC["log_fields"], "effect_limit": "1s"}}
    async with scene(client, tmp_path, fleet, paced=True, **terms) as play:
        await waits(play)
        async with fault(play, REVOKED, call="logpush.jobs.update"):
            await play.sign_zone(half(play))
            await held(play)
            await asyncio.sleep(2)
            await play.zone(half(play)).terminate("by mistake")
        await play.until(lambda found: found.places.get("unknown", 0) + found.places.get("failed", 0) == 1)
        assert (await play.summary()).places.get("unknown") == 1
        assert await ours(play)


@pytest.mark.parametrize("resend", [0, 1])
async def test_what_a_write_of_ours_replaced_is_put_back_though_nothing_is_sent_again(
    client: Client, tmp_path: Path, resend: int
) -> None:
    """Somebody else writes just before the campaign does, whose step then stops; the next one, which would
    put it back, is lost, and the policy lets it be sent again or not. In neither case does a part stay.
    """
    terms = {**SPEC, "commit": {**SPEC["commit"], "resend_unchanged": resend}}
    async with scene(client, tmp_path, fleet_of(zone()), **terms) as play, play.visited():
        await waits(play)
        await play.stranger(half(play), [STRANGER], when="before_put", how="append")
        # Read twice before the rules are put; the third reading finds what was replaced.
        stops = {"kind": "server_error", "status": 500, "times": 1}
        await play.control.send("POST", "faults", {**stops, "match": {"call": "rulesets.get", "nth": 3}})
        lost = {"kind": "server_error", "status": 500, "effect": "before", "times": 1}
        await play.control.send("POST", "faults", {**lost, "match": {"call": "rulesets.put", "nth": 2}})
        await play.sign_zone(half(play))
        # What was not answered may be on the wire for as long as a request may take, also on the rollback.
        outcome, reason = await ended(play, 200)
        assert all(one["fired"] for one in (await play.control.get("faults"))["faults"])
        assert outcome is (ZoneOutcome.SETTLED if resend else ZoneOutcome.ROLLED_BACK), reason
        assert bool(await ours(play)) is bool(resend)
        assert "written in between" in await rules(play)


WRONG: dict[str, dict[str, Any]] = {
    "rulesets.list": {"kind": "wrong_types", "replace": {"/result": []}},
    "rulesets.get": {"kind": "server_error", "effect": "before", "status": 404, "body": '{"success": false}'},
}


@pytest.mark.parametrize("call", WRONG)
async def test_one_wrong_answer_does_not_show_a_lost_way_back_as_undone(
    client: Client, tmp_path: Path, call: str
) -> None:
    """The rollback never reached the service, and the next reading lacks the ruleset once: the rollback is
    sent again.
    """
    terms = {**SPEC, "log_fields": {**SPEC["log_fields"], "unverified": "roll_back"}}
    async with scene(client, tmp_path, fleet_of(zone()), **terms) as play:
        await waits(play)
        lost = {"kind": "hang", "effect": "before", "seconds": 4, "times": 1}
        match = {"call": "rulesets.put", "nth": 2}
        booked = await play.control.send("POST", "faults", {**lost, "match": match})
        await play.sign_zone(half(play))

        async def is_lost() -> bool:
            book = (await play.control.get("faults"))["faults"]
            return any(one["id"] == booked["id"] and one["fired"] for one in book)

        await eventually(is_lost, 60, "the rollback is lost")
        # It is looked for once by the step itself, and then by what settles the zone.
        wrong = {**WRONG[call], "times": 1, "match": {"call": call, "nth": 2}}
        await play.control.send("POST", "faults", wrong)
        outcome, reason = await ended(play)
        assert outcome is ZoneOutcome.ROLLED_BACK, reason
        assert all(one["fired"] for one in (await play.control.get("faults"))["faults"])
        assert not await ours(play)


async def test_a_zone_whose_workflow_was_terminated_is_seen_through_by_a_retry(
    client: Client, tmp_path: Path
) -> None:
    """Nobody watched it to the end, so it is unknown, not settled; a retry watches it, and writes nothing."""
    fleet = fleet_of(zone(), zone("other"))
    terms = {**SPEC, "log_fields": {**SPEC["log_fields"], "verify": "100h"}}
    async with scene(client, tmp_path, fleet, **terms) as play:
        await waits(play)
        await play.sign_zone(half(play))
        await play.zone_until(half(play), lambda found: found.phase is ZonePhase.WATCHING)
        await play.zone(half(play)).terminate("by mistake")
        await play.until(lambda found: found.places.get("unknown") == 1)
        # Everything is in place, but nobody has seen it in a log entry: a person is told so.
        (note,) = [note for note in (await play.summary()).notes if "ended before its word came" in note]
        assert "unknown, workflow terminated; the service shows the fields, but nobody has watched" in note
        await play.again("retry", half(play))
        await play.zone_until(half(play), lambda found: found.attempt == 2)
        await go_on(play)
        outcome, reason = await ended(play)
        assert outcome is ZoneOutcome.SETTLED, reason
        assert len(await play.journal("rulesets.put", half(play))) == 1

"""A zone of log-fields that is begun again, after its fields were taken out or never came: what people have
made of rules and log jobs by hand meanwhile is theirs, whatever becomes of the new attempt.
"""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from edgeshift.areas.log_fields.rules import OUR_REF, marked
from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.testbed.simulator.fleet_file import Fleet
from tests.kit import Scene, fleet_of, scene
from tests.kit.log_fields import SPEC, logged_zone, ruleset
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(180)]

ONE = {**SPEC, "sign_off": {"expires_after": "60d"}}
TWO = {**ONE, "log_fields": {**SPEC["log_fields"], "request_headers": ["user-agent", "accept"]}}
HAND_LISTED = "fields=RayID,RequestHeaders&timestamps=rfc3339"


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


def zones() -> Fleet:
    """The zone that a test is about, and one for whose sign-off the campaign waits on; of names that no other
    test has.
    """
    mine = uuid.uuid4().hex[:8]
    return fleet_of(logged_zone(f"again-{mine}.example"), logged_zone(f"other-{mine}.example"))


def name_of(play: Scene) -> str:
    return next(zone.name for zone in play.fleet.zones if zone.name.startswith("again"))


async def by_hand(play: Scene, method: str, path: str, body: Any = None) -> Any:
    """A call of the service's, as a person makes it with a token of his own."""
    async with httpx.AsyncClient() as http:
        answer = await http.request(
            method,
            f"{play.simulator.base_url}/zones/{play.zone_id(name_of(play))}{path}",
            headers={"authorization": f"Bearer {play.fleet.credentials[0].value}"},
            json=body,
        )
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


async def listed(play: Scene) -> str:
    """What the customer's log job lists."""
    (job,) = await by_hand(play, "GET", "/logpush/jobs")
    return str(job["logpull_options"])


async def list_by_hand(play: Scene) -> None:
    """The customer's log job lists what request headers need."""
    (job,) = await by_hand(play, "GET", "/logpush/jobs")
    await by_hand(play, "PUT", f"/logpush/jobs/{job['id']}", {"logpull_options": HAND_LISTED})


async def rule_by_hand(play: Scene, *names: str, **more: Any) -> None:
    """Beside the rules that are there, one with these request headers."""
    there = await ruleset(play, name_of(play))
    rule = {
        "action": "log_custom_field",
        "expression": "true",
        "enabled": True,
        "description": "by hand",
        "action_parameters": {"request_fields": [{"name": name} for name in names]},
        **more,
    }
    kept = [{key: value for key, value in one.items() if key != "version"} for one in there["rules"]]
    await by_hand(play, "PUT", f"/rulesets/{there['id']}", {"rules": [*kept, rule]})


async def fields(play: Scene) -> dict[str, list[str]]:
    """The request headers of each rule, by its description."""
    return {
        rule["description"]: [item["name"] for item in rule["action_parameters"]["request_fields"]]
        for rule in (await ruleset(play, name_of(play)))["rules"]
    }


async def signed(play: Scene) -> None:
    """The zone waits for its sign-off, and gets it."""
    name = name_of(play)
    await play.zone_until(name, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
    await play.sign_zone(name)


async def ended(play: Scene) -> tuple[ZoneOutcome, str]:
    """How the zone's latest attempt ended, and why."""
    found = await asyncio.wait_for(play.zone(name_of(play)).result(), 90)
    return found.outcome, found.reason


async def begun_again(play: Scene, place: str) -> None:
    """People begin the zone again, of which the campaign knows that it has ended."""
    await play.until(lambda found: found.places.get(place) == 1)
    await play.again("reopen" if place == "rolled_back" else "retry", name_of(play))
    await play.zone_until(name_of(play), lambda found: found.attempt == 2)


async def rolled_back_once(play: Scene) -> dict[str, list[str]]:
    """The first attempt is taken back: the rules as they were before it."""
    before = await fields(play)
    await signed(play)
    outcome, reason = await ended(play)
    assert outcome is ZoneOutcome.ROLLED_BACK, reason
    assert await fields(play) == before
    return before


async def test_a_later_attempt_takes_out_only_what_it_has_written_itself(
    client: Client, tmp_path: Path
) -> None:
    """After the first was rolled back another campaign has one of its fields logged, and the customer has his
    log job list what they need. The second adds the other field, and takes out no more than that.
    """
    async with scene(client, tmp_path, zones(), **TWO) as play:
        before = await rolled_back_once(play)
        of_another = marked("another", "3")
        await rule_by_hand(play, "accept", ref=OUR_REF, description=of_another)
        await list_by_hand(play)
        await begun_again(play, "rolled_back")
        await signed(play)
        outcome, reason = await ended(play)
        assert outcome is ZoneOutcome.ROLLED_BACK, reason
        assert len(await play.journal("rulesets.put", name_of(play))) == 5
        assert await fields(play) == {**before, of_another: ["accept"]}
        assert await listed(play) == HAND_LISTED


async def put_right_by_hand(play: Scene, ended_as: str) -> None:
    """The customer has the fields logged himself, and people begin the zone again that has ended so: it is
    settled already, and what is there is his.
    """
    await rule_by_hand(play, "user-agent")
    await list_by_hand(play)
    await begun_again(play, ended_as)
    outcome, reason = await ended(play)
    assert outcome is ZoneOutcome.ALREADY_SETTLED, reason
    assert "user-agent" in (await fields(play))["by hand"] and await listed(play) == HAND_LISTED


async def test_a_zone_that_was_rolled_back_and_put_right_by_hand_is_settled_already(
    client: Client, tmp_path: Path
) -> None:
    """There is nothing to sign, to send or to watch."""
    async with scene(client, tmp_path, zones(), **ONE) as play:
        await rolled_back_once(play)
        await put_right_by_hand(play, "rolled_back")


async def test_what_is_written_by_hand_after_a_commit_that_never_showed_stays(
    client: Client, tmp_path: Path
) -> None:
    """No request of the first attempt had an effect, and nobody was told so; the customer then has the fields
    logged himself. A retry finds them as his, and has nothing to take out.
    """
    terms = {**ONE, "commit": {**SPEC["commit"], "resend_unchanged": 0}}
    terms["log_fields"] = {**SPEC["log_fields"], "effect_limit": "4s"}
    async with scene(client, tmp_path, zones(), **terms) as play:
        lost = {"kind": "server_error", "status": 500, "effect": "before", "times": 50}
        await play.control.send("POST", "faults", {**lost, "match": {"call": "rulesets.put"}})
        await signed(play)
        outcome, reason = await ended(play)
        assert outcome is ZoneOutcome.UNKNOWN, reason
        await play.control.send("DELETE", "faults")
        await put_right_by_hand(play, "unknown")

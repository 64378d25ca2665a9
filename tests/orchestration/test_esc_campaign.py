"""Campaigns that turn Edge Side Code off, against the simulator's service and edge on a real Temporal."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.account_lock import HoldActivities
from activities.connections import Connections
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.messages import Held, ZonePhase
from edgeshift.model.fleet import Area, Zone, ZoneOutcome, migration_id
from edgeshift.model.sign_off import Choice
from edgeshift.operations import start_campaign
from edgeshift.stores.documents import CoveredZones, encoded
from tests.harness.aimed.scene import Stalled
from tests.kit import eventually, fleet_of, scene
from tests.kit.planned import start_by_plan
from tests.kit.queue import on_queue
from tests.kit.zones import ON, esc_zone

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(180)]

QUICK: dict[str, Any] = {
    "area": "esc",
    "esc": {
        "observe": "8h",
        "every": "4h",
        "probe": {"sample": 6, "rounds": 2, "per_second": 500, "sitemap": False, "urls": ["/", "/api/items"]},
    },
    "commit": {"migration_limit": "8s", "poll": "1s"},
}
SLOWLY: dict[str, Any] = {**QUICK, "esc": {**QUICK["esc"], "observe": "32h", "every": "16h"}}
"""A look every four seconds: time for somebody to do something while a scope is watched."""
STOPS = 7


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def test_a_scope_is_probed_signed_turned_off_and_watched(client: Client, tmp_path: Path) -> None:
    """A test secret is set, what people sign names the difference, and the edge serves without esc."""
    fleet = fleet_of(esc_zone("plain-a.example"), esc_zone("plain-b.example"))
    async with scene(client, tmp_path, fleet, **QUICK) as play:
        await play.sign_everything()
        assert await play.outcome("plain-a.example") is ZoneOutcome.SETTLED
        assert await play.is_off("plain-a.example") and await play.is_off("plain-b.example")
        posts = [entry["esc"]["asked"] for entry in await play.journal("esc.set", "plain-a.example")]
        assert posts == [["with_secret"], ["always"]]
        await play.check_rules(absent={STOPS})


async def test_a_customers_secret_stays_and_a_scope_that_is_off_is_left_alone(
    client: Client, tmp_path: Path
) -> None:
    """The probe uses the customer's own secret; where esc is off already, nothing is sent."""
    fleet = fleet_of(
        esc_zone("own.example", {**ON, "with_secret": "customer-0123456789"}),
        esc_zone("off.example", {**ON, "always": True}),
    )
    async with scene(client, tmp_path, fleet, **QUICK) as play:
        await play.sign_everything()
        assert await play.outcome("own.example") is ZoneOutcome.SETTLED
        assert await play.outcome("off.example") is ZoneOutcome.ALREADY_SETTLED
        assert [e["esc"]["asked"] for e in await play.journal("esc.set", "own.example")] == [["always"]]
        assert await play.journal("esc.set", "off.example") == []
        await play.check_rules(absent={STOPS})


async def test_a_secret_that_no_cookie_can_carry_ends_a_scope_at_once(client: Client, tmp_path: Path) -> None:
    """The probe could not send it however often it is tried: the scope is blocked when it is read, in the
    plan as well, and also where somebody sets such a secret only after that.
    """
    stalls = Stalled("probe_esc_scope")
    fleet = fleet_of(
        esc_zone("odd.example", {**ON, "with_secret": "blue moon"}),
        esc_zone("later.example", {**ON, "with_secret": "customer-0123456789"}),
    )
    async with scene(client, tmp_path, fleet, interceptors=[stalls], begin=False, **QUICK) as play:
        await start_by_plan(play)
        await asyncio.wait_for(stalls.begun.wait(), 60)
        path = f"{play.simulator.base_url}/zones/{play.zone_id('later.example')}/disable_esc"
        headers = {"authorization": f"Bearer {play.fleet.credentials[0].value}"}
        async with httpx.AsyncClient() as somebody:
            answer = await somebody.post(path, headers=headers, json={"with_secret": "semi;colon"})
            assert answer.status_code == 200
        stalls.go.set()
        for name in ("odd.example", "later.example"):
            result = await asyncio.wait_for(play.zone(name).result(), 60)
            assert result.outcome is ZoneOutcome.BLOCKED
            assert "cannot be sent as a cookie" in result.reason
            assert "moon" not in result.reason and "colon;" not in result.reason
            assert not await play.is_off(name)
        # Once by the plan, and twice by the scope, since it ends by that.
        assert len(await play.journal("esc.get", "odd.example")) == 3


async def test_what_gets_worse_afterwards_is_rolled_back(client: Client, tmp_path: Path) -> None:
    """An origin that fails once esc is off, which no probe can foresee, has it turned on again; the time it
    took is told.
    """
    worse = esc_zone("worse.example", edge={"failures": [{"path": "/api/items", "when": "esc_off"}]})
    async with scene(client, tmp_path, fleet_of(worse), **QUICK) as play:
        await play.sign_everything()
        result = await play.zone("worse.example").result()
        assert result.outcome is ZoneOutcome.ROLLED_BACK and "rolled back in" in result.reason
        assert not await play.is_off("worse.example")
        await play.check_rules(absent={STOPS})


async def test_an_account_stands_for_its_zones_and_holds_them(client: Client, tmp_path: Path) -> None:
    """One POST turns esc off for all of them; each was held while that was sent."""
    fleet = fleet_of(esc_zone("held-a.example"), esc_zone("held-b.example"))
    account = fleet.accounts[0].name
    terms: dict[str, Any] = {**QUICK, "esc": {**QUICK["esc"], "scope": "account"}}
    async with scene(client, tmp_path, fleet, **terms) as play:
        await play.sign_everything()
        assert await play.outcome(account) is ZoneOutcome.SETTLED
        assert await play.is_off("held-a.example") and await play.is_off("held-b.example")
        checks = {check.rule: check for check in await play.check_rules(absent={STOPS})}
        assert checks[9].checked >= 2


async def test_zones_that_an_account_held_begin_when_the_campaign_is_started_anew(
    client: Client, tmp_path: Path
) -> None:
    """The account is rejected; its file is changed to zones, whose last workflows are the account's holds."""
    fleet = fleet_of(esc_zone("anew-a.example"), esc_zone("anew-b.example"))
    account = fleet.accounts[0].name
    terms: dict[str, Any] = {**QUICK, "esc": {**QUICK["esc"], "scope": "account"}}
    async with scene(client, tmp_path, fleet, **terms) as play:
        await play.zone_until(
            account, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF and bool(found.evidence)
        )
        await play.sign_zone(account, Choice.REJECT)
        await play.result()
        by_zone = {
            **play.spec.model_dump(),
            "esc": {**play.spec.section(EscSpec).model_dump(), "scope": "zone"},
        }
        play.spec = type(play.spec).model_validate(by_zone)
        await start_campaign(play.client, play.archive, play.spec, by="olga", again=True)
        await play.until(lambda found: found.places.get("awaiting") == 2)


async def test_a_probe_below_an_account_that_is_off_proves_nothing(client: Client, tmp_path: Path) -> None:
    """Off was compared with off: the scope is signed by itself, by somebody who was told why."""
    fleet = fleet_of(esc_zone("below.example"))
    fleet.accounts[0].esc.always = True
    async with scene(client, tmp_path, fleet, **QUICK) as play:
        state = await play.zone_until(
            "below.example", lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF and bool(found.evidence)
        )
        assert state.evidence_verdict is EvidenceVerdict.INCONCLUSIVE
        shown = await play.archive.get_json(state.proposal)
        assert "off with off" in " ".join(shown["warnings"])
        await play.sign_zone("below.example")
        await play.result()
        assert await play.outcome("below.example") is ZoneOutcome.SETTLED
        await play.check_rules(absent={STOPS})


async def test_a_rollback_below_an_account_that_somebody_turned_off_is_made_once(
    client: Client, tmp_path: Path
) -> None:
    """The zone's own setting is on again, and its URLs cannot be: the account is named, and nobody is told
    that the rollback failed.
    """
    fleet = fleet_of(esc_zone("under.example"))
    async with scene(client, tmp_path, fleet, **SLOWLY) as play:
        await play.zone_until("under.example", lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
        await play.sign_zone("under.example")
        await play.zone_until("under.example", lambda found: found.phase is ZonePhase.WATCHING)
        path = f"{play.simulator.base_url}/accounts/{fleet.accounts[0].id}/disable_esc"
        headers = {"authorization": f"Bearer {play.fleet.credentials[0].value}"}
        async with httpx.AsyncClient() as somebody:
            assert (await somebody.post(path, headers=headers, json={"always": True})).status_code == 200
        failures = {"edge": {"failures": [{"path": "/", "when": "any"}]}}
        await play.control.send("PATCH", f"zones/{play.zone_id('under.example')}", failures)
        result = await asyncio.wait_for(play.zone("under.example").result(), 120)
        assert result.outcome is ZoneOutcome.ROLLED_BACK
        assert "its account's has it off for all its zones: 1 of 1 difference to before" in result.reason
        assert len(await play.journal("esc.delete", "under.example")) == 1


async def test_nothing_is_sent_once_the_removal_date_has_come(client: Client, tmp_path: Path) -> None:
    """The service's clock passes the date while a scope waits for its sign-off: it is not turned off."""
    async with scene(client, tmp_path, fleet_of(esc_zone("late.example")), **QUICK) as play:
        await play.zone_until("late.example", lambda state: state.phase == "awaiting_sign_off")
        await play.control.send("PUT", "clock", {"now": "2024-01-01T00:00:01Z"})
        await play.sign_everything()
        assert await play.outcome("late.example") is ZoneOutcome.BLOCKED
        assert len(await play.journal("esc.set", "late.example")) == 1
        await play.check_rules(absent={1, 8, STOPS})


async def test_no_step_begins_after_a_pause_has_answered(client: Client, tmp_path: Path) -> None:
    """A scope that is signed while the campaign is paused is turned off only after it was resumed."""
    async with scene(client, tmp_path, fleet_of(esc_zone("paused.example")), **QUICK) as play:
        await play.zone_until("paused.example", lambda state: state.phase == "awaiting_sign_off")
        await play.ask("pause")
        await play.sign_what_waits()
        await play.ask("resume")
        await play.sign_everything()
        assert await play.outcome("paused.example") is ZoneOutcome.SETTLED
        await play.check_rules()


async def test_a_scope_whose_workflow_was_terminated_is_seen_through_by_a_retry(
    client: Client, tmp_path: Path
) -> None:
    """Nobody watched it to the end, so it is unknown, not settled; a retry watches it, and sends nothing."""
    fleet = fleet_of(esc_zone("cut.example"), esc_zone("other.example"))
    async with scene(client, tmp_path, fleet, **{**SLOWLY, "sweep": "2h"}) as play:
        await play.zone_until("cut.example", lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
        await play.sign_zone("cut.example")
        await play.zone_until("cut.example", lambda found: found.phase is ZonePhase.WATCHING)
        await play.zone("cut.example").terminate("by mistake")
        await play.until(lambda found: found.places.get("unknown") == 1)
        await play.again("retry", "cut.example")
        await play.sign_everything()
        assert await play.outcome("cut.example") is ZoneOutcome.SETTLED
        asked = [entry["esc"]["asked"] for entry in await play.journal("esc.set", "cut.example")]
        assert asked.count(["always"]) == 1


async def test_a_scope_that_is_off_by_the_setting_and_on_by_its_urls_is_not_settled(
    client: Client, tmp_path: Path
) -> None:
    """The service shows ``always``, and the edge never acts on it: a person has to look."""
    own = esc_zone("slow.example", {**ON, "with_secret": "customer-0123456789"})
    slow = {"esc_effect_seconds": 1e9}
    async with scene(client, tmp_path, fleet_of(own), simulator=slow, **QUICK) as play:
        await play.sign_everything()
        result = await play.zone("slow.example").result()
        assert result.outcome is ZoneOutcome.UNKNOWN
        assert "answer as if it were on" in result.reason


@pytest.mark.parametrize("behaviours", [ON["behaviours"], []], ids=["differences", "none"])
async def test_esc_that_somebody_turns_on_meanwhile_is_not_settled(
    client: Client, tmp_path: Path, behaviours: list[Any]
) -> None:
    """Where a secret is configured the service shows that alone then, and no status: that is not off."""
    meddled = esc_zone("meddled.example", {"behaviours": behaviours})
    async with scene(client, tmp_path, fleet_of(meddled), **SLOWLY) as play:
        await play.zone_until("meddled.example", lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
        await play.sign_zone("meddled.example")
        await play.zone_until("meddled.example", lambda found: found.phase is ZonePhase.WATCHING)
        path = f"{play.simulator.base_url}/zones/{play.zone_id('meddled.example')}/disable_esc"
        headers = {"authorization": f"Bearer {play.fleet.credentials[0].value}"}
        async with httpx.AsyncClient() as somebody:
            assert (await somebody.delete(path, headers=headers)).status_code == 200
        result = await play.zone("meddled.example").result()
        assert result.outcome is ZoneOutcome.ROLLED_BACK and "somebody turned esc on" in result.reason
        assert not await play.is_off("meddled.example")


async def test_a_scope_that_somebody_turns_off_before_its_probe_is_read_again(
    client: Client, tmp_path: Path
) -> None:
    """There is nothing to compare any more, and nothing that a person would have to sign."""
    stalls = Stalled("probe_esc_scope")
    own = esc_zone("first.example", {**ON, "with_secret": "customer-0123456789"})
    async with scene(client, tmp_path, fleet_of(own), interceptors=[stalls], **QUICK) as play:
        await asyncio.wait_for(stalls.begun.wait(), 60)
        path = f"{play.simulator.base_url}/zones/{play.zone_id('first.example')}/disable_esc"
        headers = {"authorization": f"Bearer {play.fleet.credentials[0].value}"}
        async with httpx.AsyncClient() as somebody:
            answer = await somebody.post(path, headers=headers, json={"always": True})
            assert answer.status_code == 200
        await eventually(lambda: play.is_off("first.example"))
        stalls.go.set()
        assert await play.outcome("first.example") is ZoneOutcome.ALREADY_SETTLED
        assert len(await play.journal("esc.set", "first.example")) == 1


async def test_a_scope_that_was_settled_is_left_alone_by_a_campaign_begun_again(
    client: Client, tmp_path: Path
) -> None:
    """It was watched to its end: what its URLs have come to since is no reason to turn esc on again."""
    async with scene(client, tmp_path, fleet_of(esc_zone("done.example")), **QUICK) as play:
        await play.sign_everything()
        assert await play.outcome("done.example") is ZoneOutcome.SETTLED
        failures = {"edge": {"failures": [{"path": "/", "when": "any"}]}}
        await play.control.send("PATCH", f"zones/{play.zone_id('done.example')}", failures)
        await play.begin()
        await play.sign_everything()
        assert await play.outcome("done.example") is ZoneOutcome.ALREADY_SETTLED
        assert await play.is_off("done.example") and await play.journal("esc.delete", "done.example") == []


def holding(client: Client) -> tuple[HoldActivities, Callable[[int], Any], str]:
    """The activities that hold an account's one zone, what is asked of them in an attempt, and the hold's
    identifier. Nobody works on the holds.
    """
    document = {"id": uuid.uuid4().hex, "name": "held.example", "account": uuid.uuid4().hex, "plan": "free"}
    held = Zone.model_validate(document)

    async def value(answer: Any) -> Any:
        return answer

    connections = SimpleNamespace(
        temporal=client,
        archive=SimpleNamespace(get_object=lambda digest: value(encoded(CoveredZones((held,))))),
        spec=lambda digest: value(SimpleNamespace(time_scale=1)),
    )

    def of(attempt: int) -> Any:
        of_campaign = {"campaign": "campaign/c", "campaign_run": "r", "started_by": "olga"}
        start = SimpleNamespace(area=Area.ESC, spec="", attempt=attempt, **of_campaign)
        return SimpleNamespace(start=start, holder=f"account/{held.account}/esc", zones="")

    identifier = migration_id(held, Area.ESC)
    return HoldActivities(cast(Connections, connections)), of, identifier


async def test_a_hold_that_was_let_go_of_does_not_count_for_the_next_attempt(client: Client) -> None:
    """It runs until a worker has heard the word, and holds nothing: the next attempt takes one of its own."""
    holds, of, _ = holding(client)
    run = ActivityEnvironment().run
    assert await run(holds.hold, of(1)) == Held() == await run(holds.hold, of(1))
    await run(holds.release, of(1))
    # Nobody works here: the first hold has not heard of it.
    assert (await run(holds.hold, of(2))).others


async def test_a_worker_that_wakes_up_late_lets_go_of_no_later_attempts_hold(client: Client) -> None:
    """It was to let go of the first attempt's, which another worker has done."""
    holds, of, identifier = holding(client)
    run = ActivityEnvironment().run
    assert await run(holds.hold, of(2)) == Held()

    async def told() -> int:
        events = client.get_workflow_handle(identifier).fetch_history_events()
        return sum([event.HasField("workflow_execution_signaled_event_attributes") async for event in events])

    await run(holds.release, of(1))
    assert await told() == 0
    await run(holds.release, of(2))
    assert await told() == 1

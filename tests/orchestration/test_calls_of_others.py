"""How many calls a scope of esc and a zone of log-fields cost once the plan has read them, counted in the
simulator's journal.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from tests.kit import Scene, fleet_of, scene
from tests.kit.queue import on_queue
from tests.kit.zones import ON, esc_zone
from tests.orchestration import test_esc_campaign as esc
from tests.orchestration import test_log_fields_campaign as log_fields
from tests.orchestration.test_calls import planned

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(240)]


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def calls_of_one(play: Scene, looks: str) -> tuple[Counter[str], int]:
    """Plan the one zone, sign it, and have it settled: its calls by name, but for those that every look makes
    of it, and how many looks there were. ``looks``: the call that each look makes once.
    """
    await planned(play)
    before = len(await play.control.journal())
    await play.sign_everything()
    (zone,) = play.fleet.zones
    assert await play.outcome(zone.name) is ZoneOutcome.SETTLED
    journal = (await play.control.journal())[before:]
    last_write = max(place for place, entry in enumerate(journal) if entry["method"] != "GET")
    return (
        Counter(f"{entry['method']} {entry['call']}" for entry in journal[: last_write + 1]),
        sum(entry["call"] == looks for entry in journal[last_write + 1 :]),
    )


async def test_a_scope_of_esc_is_read_five_times_before_it_is_turned_off(
    client: Client, tmp_path: Path
) -> None:
    """Its setting twice, since one that shows a secret alone may be off by now; the setting with the secret,
    for the probe; its account's; and the setting afresh before the POST.
    """
    fleet = fleet_of(esc_zone("five.example", {**ON, "with_secret": "customer-0123456789"}))
    async with scene(client, tmp_path, fleet, begin=False, **esc.QUICK) as play:
        calls, after = await calls_of_one(play, "esc.get")
        assert calls == Counter({"GET esc.get": 5, "POST esc.set": 1}), calls
        # Two that show it, one of each look, and another one of the last.
        assert after >= 5, after
        await play.check_rules(absent={esc.STOPS})


async def test_a_blocked_zone_of_log_fields_is_read_twice(client: Client, tmp_path: Path) -> None:
    """What ends it is believed when two readings in a row say it, and no more are made than that takes."""
    full = {"request_headers": [f"x-{number}" for number in range(40)]}
    fleet = fleet_of(log_fields.zone("held.example", fields=[full]))
    async with scene(client, tmp_path, fleet, begin=False, **log_fields.QUICK) as play:
        await planned(play)
        before = len(await play.control.journal())
        await play.until(lambda seen: bool(seen.places.get("blocked")), 60)
        assert await play.outcome("held.example") is ZoneOutcome.BLOCKED
        calls = Counter(entry["call"] for entry in (await play.control.journal())[before:])
        assert calls["rulesets.list"] == 2 and set(calls.values()) == {2}, calls


async def test_a_zone_of_log_fields_costs_eleven_calls_until_its_rules_and_jobs_are_written(
    client: Client, tmp_path: Path
) -> None:
    """The list of rulesets, the rules and the jobs afresh; the rules once more, their PUT, the rules as
    stored, and the version before; the jobs once more, the job, its PUT, and the job as stored.
    """
    fleet = fleet_of(log_fields.zone("eleven.example", fields=[log_fields.FOREIGN]))
    async with (
        scene(client, tmp_path, fleet, begin=False, **log_fields.QUICK) as play,
        play.visited(),
    ):
        calls, after = await calls_of_one(play, "logpush.jobs.list")
        # The job as stored comes after the last write.
        assert calls == Counter(
            {
                "GET rulesets.list": 1,
                "GET rulesets.get": 3,
                "GET rulesets.versions.get": 1,
                "GET logpush.jobs.list": 2,
                "GET logpush.jobs.get": 1,
                "PUT rulesets.put": 1,
                "PUT logpush.jobs.update": 1,
            }
        ), calls
        assert after >= 2, after
        await play.check_rules(absent={log_fields.STOPS})

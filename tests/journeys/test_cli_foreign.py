"""Executions that somebody else has started in the namespace, called like campaigns: each verb tells of the
real campaigns, and names what it cannot read. The tests run in their order on one stack.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.common import TypedSearchAttributes

from edgeshift.messages import PUBLISHED
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect, of_campaign
from tests.journeys.cli_kit import Place, running_stack
from tests.kit.foreign import sealed

pytestmark = [pytest.mark.stack(35), pytest.mark.embedded, pytest.mark.timeout(900), pytest.mark.long]

SEALED, ODD = "campaign/sealed", "campaign/odd"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A stack with a campaign, and executions beside it that nobody's worker takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        with running_stack(tmp_path_factory.mktemp("foreign")) as found:
            found.campaign("one", "include: [shop-1.example, shop-2.example]")
            found.ok("start", "one.yaml", "--yes")
            found.until("one", lambda places: places.get("awaiting") == 2)
            asyncio.run(_begin(found.stack["address"]))
            yield found


async def _begin(address: str) -> None:
    client = await connect(TemporalSettings(address=address))
    hidden = sealed(client)
    queue = "of-somebody-else"
    await hidden.start_workflow("Campaign", "x", id=SEALED, task_queue=queue, memo={PUBLISHED: "x"})
    odd = {PUBLISHED: {"state": "paused", "filler": "x" * 300_000}}
    await client.start_workflow("Campaign", {"name": 1}, id=ODD, task_queue=queue, memo=odd)
    await client.start_workflow("Campaign", id="campaign/empty", task_queue=queue)
    await client.start_workflow("Campaign", "x", id="somebody", task_queue=queue, memo=odd)
    await hidden.start_workflow(
        "Foreign",
        "x",
        id="elsewhere",
        task_queue=queue,
        memo={"index": 0},
        search_attributes=TypedSearchAttributes(of_campaign("one", "mallory")),
    )


def test_campaigns_are_listed_beside_what_cannot_be_read(place: Place) -> None:
    """The real one with its state; the others by their names, on stderr."""
    ran = place.run("status", "--json")
    assert ran.code == 0, ran
    (line,) = json.loads(ran.out)["campaigns"]
    assert (line["name"], line["state"], line["zones"]) == ("one", "running", 2)
    assert "3 executions that cannot be read" in ran.err and SEALED in ran.err and ODD in ran.err
    assert place.json("status", "one")["summary"]["state"] == "running"
    assert f"the input of {ODD} cannot be read" in place.refused(1, "status", "odd")


def test_zones_are_found_and_told_of(place: Place) -> None:
    """By their names, although not every campaign can be asked for its zones."""
    assert "attempt 1" in place.ok("history", "shop-1.example").lower()
    assert place.ok("history", "shop-1.example", "--campaign", "one")
    assert place.ok("show", "shop-1.example")
    assert place.ok("report", "one", "--json")


def test_the_doctor_names_whose_summary_cannot_be_read(place: Place) -> None:
    """And says of the real campaign's archive what there is to say."""
    (check,) = [
        one
        for one in json.loads(place.run("doctor", "--json").out)["checks"]
        if one["name"] == "archive of campaigns"
    ]
    assert "1 running campaign began with this one; 3 executions with an unreadable summary" in check["text"]
    assert check["state"] == "warning" and SEALED in check["text"] and ODD in check["text"]


def test_alarms_tell_of_the_real_campaign_too(place: Place) -> None:
    """Those that cannot be read are an alarm, each by its name."""
    ran = place.run("alarms", "--json")
    told = json.loads(ran.out)
    assert {"odd", "sealed"} <= {one["campaign"] for one in told["alarms"]}, ran


def test_a_pause_and_a_resumption_of_all_reach_the_real_campaign(place: Place) -> None:
    """What runs and is not known to have stopped is named, and the exit code says so; what is not known to be
    paused is not resumed.
    """
    ran = place.run("pause", "--all", "--yes", "--json")
    told = json.loads(ran.out)
    assert [one["campaign"] for one in told["campaigns"]] == ["one"]
    assert sorted(one["campaign"] for one in told["failed"]) == ["empty", "odd", "sealed"]
    assert ran.code == 1 and all("cannot be read" in one["message"] for one in told["failed"])
    ran = place.run("resume", "--all", "--yes", "--json")
    assert ran.code == 0, ran
    told = json.loads(ran.out)
    assert [one["campaign"] for one in told["campaigns"]] == ["one"] and not told["failed"]
    assert sorted(told["left_out"]) == ["empty", "odd", "sealed"]

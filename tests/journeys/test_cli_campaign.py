"""A campaign from its file to its end, by the command line alone. The tests run in their order on one
stack.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.cli_kit import CLI, Place, running_stack

pytestmark = [pytest.mark.stack, pytest.mark.embedded, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A stack over the small fleet, and a campaign file for all of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        with running_stack(tmp_path_factory.mktemp("campaign")) as found:
            found.campaign("main", "all: true")
            yield found


def test_the_doctor_finds_all_well(place: Place) -> None:
    """Each part is named; no secret is shown."""
    told = place.json("doctor", "main.yaml")
    assert told["ok"]
    names = {check["name"].split(",")[0] for check in told["checks"]}
    assert {"Temporal", "search attributes", "retention", "worker", "archive", "tickets", "service"} <= names
    shown = place.ok("doctor", "main.yaml")
    token = next((place.folder / ".edgeshift/credentials").iterdir()).read_text().strip()
    assert "credential 1, file:" in shown and "no check failed" in shown and token not in shown


def test_a_plan_reads_and_changes_nothing(place: Place) -> None:
    """It says of each zone what would become of it, and sends nothing but readings."""
    shown = place.ok("plan", "main.yaml", "--out", "plan.json")
    told = json.loads((place.folder / "plan.json").read_text())
    assert told["verdicts"] == {"ready": 6, "needs_support": 1, "blocked": 1}
    for word in (
        "long.example",
        "legacy.example",
        "2 Enterprise zones wait 8h",
        "Forecast",
        "Next: edgeshift start",
    ):
        assert word in shown
    assert max(len(line) for line in shown.splitlines() if "plan.json" not in line) <= 80
    assert place.writes() == []


def test_a_start_asks_and_is_refused_where_nobody_can_answer(place: Place) -> None:
    """Without a terminal and without --yes nothing is started."""
    assert "pass --yes" in place.refused(6, "start", "main.yaml")
    assert "there is no campaign main" in place.refused(5, "pause", "main")


def test_a_campaign_is_started_once(place: Place) -> None:
    """Over the plan's targets; a second start names the campaign and its state."""
    out = place.ok("start", "main.yaml", "--yes", "--by", "olga")
    assert "those of the plan made" in out and "edgeshift watch main" in out
    said = place.refused(6, "start", "main.yaml", "--yes")
    assert "campaign main was started already and is running (started by olga, 8 zones)" in said


def test_what_cannot_be_signed_is_refused_with_its_reason(place: Place) -> None:
    """Unknown zone, nothing waiting, not listed, an old digest, a prefix of nothing: each by name."""
    came_to = {"awaiting": 5, "awaiting_separate": 1, "support": 1, "blocked": 1}
    place.until("main", lambda places: places == came_to)
    sign = ("sign-off", "approve", "main", "--yes")
    assert "did you mean shop-1.example?" in place.refused(5, *sign, "--zone", "shop1.example")
    assert "does not wait for a sign-off; it is needs support" in place.refused(
        5, *sign, "--zone", "long.example"
    )
    assert "it is blocked" in place.refused(5, *sign, "--zone", "legacy.example")
    said = place.refused(6, *sign, "--zone", "odd.example", "--by", "mallory")
    assert "'mallory' is not an approver of this campaign; approvers are ada, grace" in said
    said = place.refused(6, *sign, "--zone", "odd.example", "--by", "ada", "--digest", "0" * 64)
    assert "no longer proposes 000000000000…; it waits with " in said
    assert "is not a fingerprint" in place.refused(2, *sign, "--fingerprint", "zz")
    assert "waits for a sign-off of fingerprint 00000000" in place.refused(
        5, *sign, "--fingerprint", "00000000"
    )
    assert "has no wave 2\n\nhint: its waves are 1 to 1" in place.refused(2, *sign, "--wave", "2")
    assert "is not a phase" in place.refused(2, "status", "main", "--phase", "nonsense")
    assert "exactly one of" in place.refused(2, *sign, "--wave", "1", "--zone", "odd.example")
    assert "there is no campaign none" in place.refused(5, "sign-off", "reject", "none", "--wave", "1")
    assert all("validation" in str(entry["query"]) for entry in place.writes())


def test_a_pause_answers_and_nothing_begins_until_resume(place: Place) -> None:
    """What is signed meanwhile is committed after it."""
    assert "Campaign main is paused; no step was in flight." in place.ok("pause", "main", "--reason", "lunch")
    before = len(place.writes())
    out = place.ok(
        "sign-off", "approve", "main", "--wave", "1", "--yes", "--by", "ada", "--reason", "as expected"
    )
    assert "Not signed by this: their own evidence did not pass" in out and "editor.example" in out
    assert "this cannot be undone" in out and "evidence: pass" in out
    assert len(place.writes()) == before
    assert "Campaign main is running again; it was paused." in place.ok("resume", "main")
    place.until("main", lambda places: places.get("migrated") == 5)


def test_a_zone_whose_evidence_failed_is_signed_singly(place: Place) -> None:
    """Its findings are shown; a rejection of it does not touch others; reopened by name it waits again."""
    out = place.ok("sign-off", "reject", "main", "--zone", "editor.example", "--by", "grace", "--yes")
    assert "evidence: fail" in out and "false positive: rule" in out
    place.until("main", lambda places: places.get("rejected") == 1)
    said = place.refused(2, "retry", "main", "--outcome", "rejected")
    assert "'rejected' zones cannot be retried\n\nhint: use reopen" in said
    assert "nothing to reopen: none of these zones of campaign main is" in place.refused(5, "reopen", "main")
    assert "Campaign main restarts 1 zone." in place.ok("reopen", "main", "--zone", "editor.example")
    place.until("main", lambda places: places.get("awaiting_separate") == 1)
    place.ok("sign-off", "approve", "main", "--zone", "editor.example", "--by", "ada", "--yes")
    place.until("main", lambda places: places.get("migrated") == 6)


def test_support_is_told_of_only_for_a_zone_that_waits_for_it(place: Place) -> None:
    """The zone is read anew; one that is not fixed goes back to wait, with the ticket that it had."""
    assert "does not wait for support; it is migrated" in place.refused(
        5, "support-resolved", "main", "--zone", "odd.example"
    )
    out = place.ok("support-resolved", "main", "--zone", "long.example")
    assert "is read again" in out and ".md" in out
    place.until("main", lambda places: places.get("support") == 1)
    assert len(list((place.folder / ".edgeshift/tickets").glob("*.md"))) == 1


def test_a_zone_of_a_running_campaign_is_excluded_from_another(place: Place) -> None:
    """Named with the campaign that has it; nothing of it is touched."""
    place.campaign("other", "include: [long.example]")
    place.ok("start", "other.yaml", "--yes")
    place.until("other", lambda places: places.get("excluded") == 1)
    zone = place.json("status", "other", "--zone", "long.example")["zones"][0]
    assert zone["place"] == "excluded" and "main" in zone["reason"]


def test_an_abort_ends_it_and_a_closed_campaign_says_so(place: Place) -> None:
    """What waits ends as aborted; afterwards zones can be begun again, and the campaign only with --again."""
    assert "Campaign main is aborting. No commit is in flight." in place.ok(
        "abort", "main", "--yes", "--reason", "enough"
    )
    places = place.until("main", lambda places: places.get("aborted") == 1)
    assert places == {"migrated": 6, "blocked": 1, "aborted": 1}
    assert "campaign main is closed" in place.refused(6, "pause", "main")
    said = place.refused(6, "start", "main.yaml", "--yes")
    assert "has been run and is completed" in said and "--again" in said
    assert "restarts" not in place.refused(5, "retry", "main")
    assert "Campaign main is reopened: 1 zone restarts." in place.ok("retry", "main", "--outcome", "blocked")
    place.until("main", lambda places: places.get("blocked") == 1)


def test_each_zone_was_committed_once(place: Place) -> None:
    """By the simulator's journal: six zones, six commits, after all that was said above."""
    commits = [entry["path"] for entry in place.writes() if "pending" in str(entry["query"])]
    assert len(commits) == len(set(commits)) == 6


def test_a_worker_ends_when_it_is_told_to(place: Place) -> None:
    """SIGTERM: it takes no new work and exits with 0."""
    worker = subprocess.Popen(
        [*CLI, "worker"], cwd=place.folder, env=place.environment, stderr=subprocess.PIPE, text=True
    )
    assert worker.stderr is not None
    assert "worker runs" in worker.stderr.readline()
    worker.terminate()
    assert worker.wait(60) == 0

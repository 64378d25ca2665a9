"""What people see of a real campaign: watch, status, history and report through the real command line.

One embedded stack (Temporal, simulator, worker) and one campaign over 60 generated zones serve the whole
module; the tests run in their order.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from tests.journeys.cli_kit import counts, ran_by, sees_worker
from tests.kit.stack_file import without_rehearsed

pytestmark = [pytest.mark.stack(75), pytest.mark.embedded, pytest.mark.timeout(600), pytest.mark.long]

CLI = [sys.executable, "-m", "edgeshift.cli.main"]
LOOKS = 1.0
"""Seconds between two looks by the command line: a small machine also has the campaign to do."""
POLICY = """\
sign_off: {approvers: [alice, bob, carol], expires_after: 180d}
waits_for_support: 180d
advance: {failures: 10}
"""


class Place:
    """A folder with a running stack, and the command line in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = {name: value for name, value in os.environ.items() if not name.startswith("EDGESHIFT_")}
        kept = {name: value for name, value in os.environ.items() if name == "EDGESHIFT_TEMPORAL_CLI"}
        self.environment = {
            **names,
            **kept,
            "COLUMNS": "100",
            "EDGESHIFT_USER": "olga",
            "PYTHONIOENCODING": "utf-8",
        }

    def run(self, *arguments: str, code: int = 0) -> str:
        """The output of a verb that has to end with this exit code."""
        ran = ran_by(self.folder, self.environment, arguments)
        assert ran.code == code, f"{arguments}: {ran.code}\n{ran.out}\n{ran.err}"
        assert "Traceback" not in ran.err
        return ran.out if code == 0 else ran.err

    def json(self, *arguments: str) -> Any:
        """The JSON that a verb prints."""
        return json.loads(self.run(*arguments, "--json"))

    @property
    def address(self) -> str:
        """Where the stack's Temporal is."""
        stack = json.loads((self.folder / ".edgeshift" / "stack.json").read_text())
        return str(stack["address"])

    def until(self, found: Callable[[dict[str, int]], bool], seconds: float = 240) -> dict[str, int]:
        """The counts by place, once they are as wanted."""
        limit = time.monotonic() + seconds
        while True:
            places = counts(self.address, "rehearsal")
            if found(places):
                return places
            assert time.monotonic() < limit, places
            time.sleep(0.5)

    def until_at(self, phase: str, *names: str, seconds: float = 240) -> None:
        """Wait until these zones are at a place."""
        limit = time.monotonic() + seconds
        while missing := {*names} - {zone["name"] for zone in self.zones(phase)}:
            assert time.monotonic() < limit, missing
            time.sleep(LOOKS)

    def zones(self, phase: str) -> list[dict[str, Any]]:
        """The zones at a place."""
        found: list[dict[str, Any]] = self.json("status", "rehearsal", "--phase", phase)["zones"]
        return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A stack on which a campaign has come to wait for people."""
    here = Place(tmp_path_factory.mktemp("views"))
    here.environment["EDGESHIFT_TEMPORAL_CLI"] = str(temporal_cli_path)
    with (here.folder / "up.log").open("w") as log:
        command = [*CLI, "up", "--zones", "60", "--seed", "7", "--time-scale", "14400"]
        up = subprocess.Popen(command, cwd=here.folder, env=here.environment, stdout=log, stderr=log)
    try:
        _until(lambda: (here.folder / ".edgeshift" / "stack.json").exists(), up)
        # Whoever starts a campaign waits briefly for a worker, which comes late on a busy machine.
        doctor = ("doctor", "--json")
        _until(lambda: sees_worker(ran_by(here.folder, here.environment, doctor)), up)
        campaign = here.folder / ".edgeshift" / "campaign.yaml"
        campaign.write_text(without_rehearsed(campaign.read_text()) + POLICY)
        here.run("start", str(campaign), "--yes")
        at_work = {"pending", "working", "waiting", "permitted", "ready_validate"}
        here.until(lambda places: not at_work & places.keys(), 480)
        yield here
    finally:
        up.send_signal(signal.SIGINT)
        up.wait(timeout=120)


def _until(found: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + 90
    while not found():
        assert process.poll() is None, "the stack ended"
        assert time.monotonic() < limit, "the stack does not start"
        time.sleep(0.3)


def test_all_campaigns_are_listed(place: Place) -> None:
    """Status without a campaign names each with its state, its progress and who started it."""
    (line,) = place.json("status")["campaigns"]
    assert (line["name"], line["state"], line["started_by"], line["zones"]) == (
        "rehearsal",
        "running",
        "olga",
        60,
    )
    assert "rehearsal" in place.run("status")


def test_status_names_whoever_waits_and_why(place: Place) -> None:
    """Counts add up to all zones; zones that wait for people are there by name, with reason and digest."""
    told = place.json("status", "rehearsal")
    assert sum(told["summary"]["places"].values()) == 60
    waiting = [zone for zone in told["zones"] if zone["place"] == "awaiting"]
    assert len(waiting) == told["summary"]["places"]["awaiting"]
    assert all(re.fullmatch("[0-9a-f]{64}", zone["digest"]) for zone in waiting)
    support = [zone for zone in told["zones"] if zone["place"] == "support"]
    assert support
    assert all(zone["tickets"] and zone["reason"] for zone in support)
    shown = place.run("status", "rehearsal")
    for zone in support:
        assert zone["name"] in shown
    assert "time runs 14,400 times as fast" in shown


def test_one_zone_is_shown_with_how_to_sign_it(place: Place) -> None:
    """Status of a zone names its proposal and the command; an unknown zone is an error of its own."""
    zone = place.zones("awaiting_sign_off")[0]
    shown = place.run("status", "rehearsal", "--zone", zone["name"])
    assert zone["digest"] in shown
    assert f"edgeshift sign-off approve rehearsal --zone {zone['name']}" in shown
    assert "campaign rehearsal has no zone 'nowhere.example'" in place.run(
        "status", "rehearsal", "--zone", "nowhere.example", code=5
    )


def test_what_waits_is_a_page_for_approvers(place: Place) -> None:
    """Each fingerprint that waits has a sheet with its digest and its command; whoever waits for support is
    there with the ticket; the page asks nobody for anything.
    """
    told = place.json("status", "rehearsal")
    written = place.run("report", "rehearsal", "--for-approval", "--out", "out/approval.html")
    page = (place.folder / "out" / "approval.html").read_text().replace("<wbr>", "")
    reached = [one for one in told["summary"]["waiting"] if one["zones"] > one["separate"]]
    apart = told["summary"]["places"].get("awaiting_separate", 0)
    assert reached and f"({len(reached) + apart} sheets to decide)" in written
    for waiting in reached:
        assert waiting["fingerprint"] in page
        assert f'<span class="t">{waiting["fingerprint"][:12]}</span>' in page
    for zone in told["zones"]:
        if zone["place"] == "awaiting_separate":
            assert zone["digest"] in page
        if zone["place"] == "support":
            assert zone["name"] in page and zone["tickets"][0] in page
    assert "+ added" in page and "commit" in page and "must not be approved" not in page
    assert "<script" not in page and not re.findall(r"(?:src|href)=\"(?!#)", page)


def test_names_that_are_none_are_refused_plainly(place: Place) -> None:
    """Unknown campaigns and zones, and names that would change a query, are errors and never a traceback."""
    for verb in ("watch", "status", "report"):
        assert "there is no campaign autumn" in place.run(verb, "autumn", code=5)
    assert "is not a campaign's name" in place.run("status", "x' OR WorkflowId != '", code=2)
    assert "no campaign has a zone 'nowhere.example'" in place.run("history", "nowhere.example", code=5)
    assert "has no retained history" in place.run("history", "0" * 32, code=5)


def test_a_sign_off_is_followed_from_the_person_to_the_change(place: Place) -> None:
    """History tells who agreed to exactly what was sent: by fingerprint, and by the zone's own decision."""
    zones = place.zones("awaiting")
    first = zones[0]
    alone = next(zone for zone in zones if zone["fingerprint"] != first["fingerprint"])
    fingerprint = first["fingerprint"][:16]
    approve = ("sign-off", "approve", "rehearsal", "--yes")
    place.run(*approve, "--fingerprint", fingerprint, "--by", "alice", "--reason", "as the canary")
    place.run(*approve, "--zone", alone["name"], "--by", "bob", "--reason", "looked at it")
    place.until_at("migrated", first["name"], alone["name"])
    for zone, by in ((first, "alice"), (alone, "bob")):
        told = place.json("history", zone["name"])
        assert "was migrated by campaign rehearsal" in told["sentence"]
        assert f"{by} agreed to what was sent" in told["sentence"]
        (attempt,) = told["attempts"]
        commit = next(item for item in attempt["sendings"] if item["step"] == "commit")
        assert (commit["digest"], commit["agreed"]) == (zone["digest"], [by])
        sent = [entry for entry in attempt["entries"] if entry["kind"] == "sent"][-1]
        assert sent["because"][0].startswith(f"{by} approved")
        assert "permit" in sent["because"][1]
    shown = place.run("history", alone["id"])
    assert shown.strip().startswith(f"{alone['name']} was migrated")
    assert "“looked at it”" in shown


def test_a_rejection_is_told_with_its_reason(place: Place) -> None:
    """Who rejected a zone, and why, is in its history and in the list of rejected zones."""
    zone = place.zones("awaiting")[0]
    place.run(
        "sign-off",
        "reject",
        "rehearsal",
        "--zone",
        zone["name"],
        "--by",
        "carol",
        "--reason",
        "a sale",
        "--yes",
    )
    place.until(lambda places: places.get("rejected", 0) == 1)
    told = place.json("history", zone["name"], "--campaign", "rehearsal")
    assert "carol rejected it" in told["sentence"]
    assert "nothing was sent" in told["sentence"] or "only the validation was sent" in told["sentence"]
    (row,) = place.zones("rejected")
    assert "a sale" in row["reason"]


def test_a_zone_that_somebody_terminated_is_found_and_named(place: Place) -> None:
    """A workflow ended from outside is no outcome: its history says who did it, and the campaign notes it."""
    zone = place.zones("support")[0]
    address = place.address

    async def terminate() -> None:
        client = await Client.connect(address, identity="mallory@laptop")
        await client.get_workflow_handle(f"zone/{zone['id']}/waf").terminate(reason="tidying up")

    asyncio.run(terminate())
    place.until(lambda places: places.get("failed", 0) == 1)
    told = place.json("history", zone["name"])
    assert "the workflow was terminated: tidying up" in told["sentence"]
    assert told["attempts"][0]["entries"][-1]["by"] == "mallory@laptop"
    assert zone["name"] in place.run("status", "rehearsal")


def test_watch_leaves_cleanly_on_ctrl_c(place: Place) -> None:
    """On a terminal the picture is drawn in colours; Ctrl-C leaves at once and gives the cursor back."""
    main, other = pty.openpty()
    watching = subprocess.Popen(
        [*CLI, "watch", "rehearsal"],
        cwd=place.folder,
        env={**place.environment, "TERM": "xterm-256color", "LINES": "50"},
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
    )
    os.close(other)
    seen = _read(main, lambda text: "then to sign it" in text, 90)
    watching.send_signal(signal.SIGINT)
    seen += _read(main, lambda text: False, 30)
    assert watching.wait(timeout=30) == 130
    assert "awaiting a sign-off" in seen and "left; campaign rehearsal goes on as before" in seen
    assert "of 60 zones finished" in seen
    assert "█" in seen
    assert seen.rindex("\x1b[?25h") > seen.rindex("\x1b[?25l")
    assert "Traceback" not in seen


def _read(terminal: int, enough: Callable[[str], bool], seconds: float) -> str:
    seen, limit = b"", time.monotonic() + seconds
    while time.monotonic() < limit and not enough(seen.decode("utf-8", "replace")):
        if not select.select([terminal], [], [], 0.3)[0]:
            continue
        try:
            seen += os.read(terminal, 65536)
        except OSError:  # the other side has closed
            break
    return seen.decode("utf-8", "replace")


def test_watch_prints_plain_lines_and_ends_with_the_campaign(place: Place) -> None:
    """Without a terminal only changes are printed, as plain text; it ends when the campaign closes."""
    watching = subprocess.Popen(
        [*CLI, "watch", "rehearsal"],
        cwd=place.folder,
        env=place.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    text = ""
    while "rehearsal: running" not in text:
        line = watching.stdout.readline()
        assert line, text
        text += line
    place.run("abort", "rehearsal", "--yes", "--by", "alice", "--reason", "enough seen")
    text += watching.stdout.read()
    assert watching.wait(timeout=60) == 0
    assert "\x1b" not in text
    lines = text.splitlines()
    assert any("rehearsal: running" in line for line in lines)
    assert any("aborted by alice: enough seen" in line for line in lines)
    assert "rehearsal has closed" in text
    assert "60 of 60 zones finished (100 %)" in text


def test_the_report_tells_the_whole_campaign(place: Place) -> None:
    """One file: every zone, who agreed, tickets, evidence, failures; nothing to load; and a CSV beside it."""
    told = place.run("report", "rehearsal", "--out", "out/report.html", "--csv", "out/zones.csv")
    assert "60 zones" in told
    page = (place.folder / "out" / "report.html").read_text()
    status = place.json("status", "rehearsal")
    assert not re.findall(r"(?:src|href)=\"(?!#|data:text/csv)", page)
    assert "<script" not in page
    for text in ("as the canary", "looked at it", "a sale", "tidying up", "enough seen"):
        assert text in page
    for zone in status["zones"]:
        assert zone["name"] in page
    assert "cloudflare_ruleset" in page
    lines = (place.folder / "out" / "zones.csv").read_text().splitlines()
    assert len(lines) == 61
    assert sum(",migrated," in line for line in lines) == status["summary"]["places"]["migrated"]


def test_the_report_is_there_for_programs(place: Place) -> None:
    """Every zone with the codes of its reasons, and how many have which; each outcome has one."""
    told = place.json("report", "rehearsal")
    assert len(told["zones"]) == told["summary"]["count"] == 60
    for zone in told["zones"]:
        assert bool(zone["causes"]) or zone["closed_at"] is None
        assert zone["code"] == (zone["causes"][0]["code"] if zone["causes"] else "")
        assert zone["code"] != "other", zone
    migrated = told["summary"]["places"]["migrated"]
    assert told["codes"]["migrated"] == {"migrated_as_signed": migrated}
    assert set(told["codes"]["rejected"]) == {"rejected"}
    history = place.json("history", next(row["name"] for row in told["zones"] if row["place"] == "migrated"))
    assert history["attempts"][-1]["causes"] == [{"code": "migrated_as_signed"}]


def test_no_secret_is_in_what_people_see(place: Place) -> None:
    """No credential of the fleet appears in the report or in any output."""
    shown = (place.folder / "out" / "report.html").read_text() + place.run("status", "rehearsal")
    for secret in (place.folder / ".edgeshift" / "credentials").iterdir():
        assert secret.read_text().strip() not in shown


@pytest.mark.timeout(600)
async def test_a_closed_campaign_is_told_without_a_worker(
    place: Place, tmp_path: Path, temporal_cli_path: Path
) -> None:
    """Status, history and report of a closed campaign come from Temporal and the archive alone."""
    before = place.json("status", "rehearsal")
    copy = tmp_path / "temporal"
    copy.mkdir()
    for file in (place.folder / ".edgeshift" / "temporal").glob("*.db*"):
        (copy / file.name).write_bytes(file.read_bytes())
    alone = Place(tmp_path)
    async with embedded_temporal(copy) as server:
        alone.environment |= {
            "EDGESHIFT_TEMPORAL_ADDRESS": server.address,
            "EDGESHIFT_ARCHIVE_URL": str(place.folder / ".edgeshift" / "archive"),
            "EDGESHIFT_AUTHORITY_ROOTS": str(place.folder / ".edgeshift" / "authority" / "roots.yaml"),
        }
        after = await asyncio.to_thread(alone.json, "status", "rehearsal")
        assert after == before
        await asyncio.to_thread(alone.run, "report", "rehearsal")
        watched = await asyncio.to_thread(alone.run, "watch", "rehearsal")
    assert "60 of 60 zones finished" in watched
    assert "a sale" in (tmp_path / "rehearsal-report.html").read_text()

"""The demo, as a newcomer starts it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from edgeshift.model.fleet import Area
from edgeshift.testbed.demo.parts import PARTS

pytestmark = [pytest.mark.embedded, pytest.mark.stack(70)]

DEMO = [sys.executable, "-m", "edgeshift.cli.main", "demo"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "area", [pytest.param(area, marks=() if area is Area.WAF else pytest.mark.long) for area in PARTS]
)
def test_the_demo_shows_every_outcome_and_keeps_every_rule(tmp_path: Path, area: Area) -> None:
    """Of each area: exit 0; result, report and output say what happened; no state and no secret is left."""
    part, zones = PARTS[area], 70 if area is Area.WAF else 60
    done = subprocess.run(
        [*DEMO, "--area", area.value, "--zones", str(zones), "--seed", "2"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "out" / part.result).read_text())
    assert found["zones"] == sum(found["outcomes"].values())
    assert all(found["outcomes"][outcome.value] for outcome in part.shows)
    assert [rule["rule"] for rule in found["rules"]] == list(range(1, 13))
    assert all(rule["checked"] and not rule["violations"] for rule in found["rules"])
    assert "time scale 14,400" in done.stdout
    report = "demo-report.html" if area is Area.WAF else f"demo-{area.value}-report.html"
    left = {report, part.result} | ({"demo.json", "demo-tickets"} if area is Area.WAF else set())
    assert {path.name for path in (tmp_path / "out").iterdir()} == left
    # Where a path may break, the page says so.
    page = (tmp_path / "out" / report).read_text().replace("<wbr>", "")
    told = done.stdout + page
    for ticket in re.findall(r"/[^<> ]*/demo-tickets/[^<> ]*\.md", page):
        assert Path(ticket).is_file(), "the report names a ticket that is not there"
    assert ("demo-tickets" in page) is (area is Area.WAF)
    fleet = part.arrange(zones, 2).fleet
    secrets = [credential.value for credential in fleet.credentials]
    secrets += [zone.esc.with_secret for zone in fleet.zones if zone.esc.with_secret]
    assert not any(secret in told for secret in secrets)


def test_ctrl_c_ends_the_demo_and_leaves_nothing(tmp_path: Path) -> None:
    """Its children end with it, its state is removed, and the exit code says that it was stopped."""
    process = subprocess.Popen([*DEMO, "--zones", "60"], cwd=tmp_path, text=True, stdout=subprocess.PIPE)
    stack_file = tmp_path / "out" / "demo-state" / "stack.json"
    limit = time.monotonic() + 60
    while not stack_file.exists() and time.monotonic() < limit:
        time.sleep(0.1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not any(os.path.exists(f"/proc/{child}") for child in children)
    assert not list((tmp_path / "out").iterdir())


def test_a_folder_that_is_not_the_demos_is_left_alone(tmp_path: Path) -> None:
    """What somebody keeps under the name of the demo's state is not removed; the error names it."""
    kept = tmp_path / "out" / "demo-state" / "mine.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    done = subprocess.run([*DEMO, "--zones", "60"], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 1
    assert "demo-state is not an earlier demo's" in done.stderr
    assert kept.read_text() == "mine"

"""The campaign files that a stack writes: of each area, as they stand and with what they offer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from edgeshift.campaign_file.load import load_campaign
from edgeshift.model.fleet import Area
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.stack.credentials import campaign_text
from edgeshift.testbed.stack.paths import StackPaths


@pytest.mark.parametrize("area", [Area.WAF, Area.ESC, Area.LOG_FIELDS])
def test_waves_and_two_approvers_are_two_lines_away(tmp_path: Path, area: Area) -> None:
    """Without their # the last lines are a policy; with it, one person decides on one wave."""
    places = StackPaths(tmp_path / ".edgeshift", None)
    edge = "http://127.0.0.1:8791"
    text = campaign_text(places, generate_fleet(60, 1), "http://127.0.0.1:8790/client/v4", 3600, area, edge)
    file = tmp_path / "campaign.yaml"
    file.write_text(text)
    assert load_campaign(file).sign_off.required == 1
    file.write_text(re.sub(r"^# (?=waves:|sign_off:)", "", text, flags=re.MULTILINE))
    found = load_campaign(file)
    assert found.sign_off.required == 2 and found.sign_off.approvers == ("ada", "grace")
    assert [wave.name for wave in found.waves] == ["canary", "early"]

"""The campaign files that a stack writes: of each area, as they stand and with what they offer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from edgeshift.campaign_file.load import load_campaign
from edgeshift.campaign_file.warnings import warnings
from edgeshift.model.fleet import Area
from edgeshift.model.rollout import plan_waves
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.stack.credentials import campaign_text
from edgeshift.testbed.stack.paths import StackPaths
from tests.kit.stack_file import without_rehearsed


def written(folder: Path, area: Area) -> str:
    """The campaign file that a stack of 60 zones writes."""
    places = StackPaths(folder / ".edgeshift", None)
    edge = "http://127.0.0.1:8791"
    return campaign_text(places, generate_fleet(60, 1), "http://127.0.0.1:8790/client/v4", 3600, area, edge)


def test_the_first_campaign_has_two_waves_and_needs_two_people(tmp_path: Path) -> None:
    """The one with which a newcomer begins: a small wave ends before the next begins, and whoever starts it
    does not decide alone. It has no warning but that of the time scale.
    """
    file = tmp_path / "campaign.yaml"
    file.write_text(written(tmp_path, Area.WAF))
    found = load_campaign(file)
    assert [(wave.name, wave.size) for wave in plan_waves(found.waves, 60)] == [("canary", 6), ("rest", 54)]
    assert found.advance.percent == 50
    assert found.sign_off.required == 2 and found.sign_off.approvers == ("ada", "grace", "alan")
    assert [line.partition(":")[0] for line in warnings(found, signed=True)] == ["time scale 3600"]
    assert without_rehearsed(file.read_text()).endswith("\ntime_scale: 3600\n")


@pytest.mark.parametrize("area", [Area.ESC, Area.LOG_FIELDS])
def test_waves_and_two_approvers_are_two_lines_away(tmp_path: Path, area: Area) -> None:
    """Without their # the last lines are a policy; with it, one person decides on one wave."""
    text = written(tmp_path, area)
    file = tmp_path / "campaign.yaml"
    file.write_text(text)
    assert load_campaign(file).sign_off.required == 1
    file.write_text(re.sub(r"^# (?=waves:|sign_off:)", "", text, flags=re.MULTILINE))
    found = load_campaign(file)
    assert found.sign_off.required == 2 and found.sign_off.approvers == ("ada", "grace")
    assert [wave.name for wave in found.waves] == ["canary", "early"]

"""The campaign files that `edgeshift up` leaves in its folder are right as they are, one for each area."""

from pathlib import Path

import pytest

from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.load import parse_campaign
from edgeshift.model.fleet import Area
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.stack.credentials import campaign_text
from edgeshift.testbed.stack.paths import StackPaths


@pytest.mark.parametrize("area", list(Area))
def test_a_campaign_file_of_each_area_can_be_started(tmp_path: Path, area: Area) -> None:
    """It names the area, the whole fleet, and what the area needs to know of the simulator."""
    places = StackPaths(tmp_path)
    url, edge = "http://127.0.0.1:8780/client/v4", "http://127.0.0.1:8781"
    text = campaign_text(places, generate_fleet(6, 1), url, 600.0, area, edge)
    found = parse_campaign(text, str(places.campaign_of(area)))
    assert found.area is area and found.targets.all
    assert found.section(EscSpec).probe.edge == (edge if area is Area.ESC else None)
    assert bool(found.section(LogFieldsSpec).entries) is (area is Area.LOG_FIELDS)


def test_each_area_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Whoever tries one area does not overwrite another's."""
    names = [StackPaths(tmp_path).campaign_of(area).name for area in Area]
    assert names == ["campaign.yaml", "campaign-esc.yaml", "campaign-log-fields.yaml"]

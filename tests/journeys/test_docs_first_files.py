"""The file that `edgeshift init` writes can be planned and started as it is, for each area, on one stack, and
something of it comes to its sign-off.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeshift.campaign_file.load import load_campaign
from edgeshift.model.fleet import DEFAULT_AREA, Area
from tests.journeys.cli_kit import Place, running_stack

LOGGED = """\
- name: logged.example
  plan: enterprise
  account: Retail group
  logs:
    jobs:
    - destination: s3://edge-logs/logged?region=eu-west-1
      logpull_options: fields=RayID,EdgeStartTimestamp,RequestHeaders&timestamps=rfc3339
- name: jobless.example
  plan: enterprise
  account: Retail group
"""
"""Zones of the plan that has custom log fields, which few zones of a small generated fleet have: one with a
log job, one without any.
"""

pytestmark = [pytest.mark.stack(30), pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A stack of before 2024, whose fleet has zones for every area."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        made = Place(tmp_path_factory.mktemp("made"))
        made.ok("fleet", "generate", "--zones", "8", "--esc", "0.5", "--logs", "0.5", "--out", "fleet.yaml")
        fleet = (made.folder / "fleet.yaml").read_text() + LOGGED
        with running_stack(
            tmp_path_factory.mktemp("first"), fleet, "--clock", "2023-10-01T00:00:00Z"
        ) as found:
            yield found


@pytest.mark.parametrize("area", list(Area))
def test_the_file_of_init_runs_as_it_is(place: Place, area: Area) -> None:
    """It loads, is about every zone of the stack, and something of it comes to its sign-off."""
    usual = area is DEFAULT_AREA
    file = "campaign.yaml" if usual else f"{area.value}-first.yaml"
    said = place.ok("init", "--force") if usual else place.ok("init", file, "--area", area.value, "--force")
    assert "It is about the stack that runs in this folder" in said
    campaign = load_campaign(place.folder / file)
    assert campaign.area is area and campaign.targets.all
    assert "nothing was changed at the service" in place.ok("plan", file)
    assert f"Started campaign {campaign.name}" in place.ok("start", file, "--yes")
    place.until(campaign.name, lambda places: "awaiting" in places)

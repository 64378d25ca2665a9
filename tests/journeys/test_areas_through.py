"""A campaign of each reversible area over the command line, from the file of the running stack to its report.

Waf's way is that of test_cli_campaign.py, an installed area's that of test_installed_area.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from edgeshift.model.fleet import Area
from tests.journeys.cli_kit import Place, running_stack

pytestmark = [pytest.mark.stack(25), pytest.mark.embedded, pytest.mark.timeout(300)]

FLEET = """\
zones:
  - name: shop.example
    plan: enterprise
    esc: {behaviours: [{kind: response_header, path: /account/*, name: x-frame-options, value: DENY}]}
  - name: logged.example
    plan: enterprise
    traffic: {requests_per_minute: 600}
    logs:
      jobs:
      - destination: s3://edge-logs/logged?region=eu-west-1
        logpull_options: fields=RayID,EdgeStartTimestamp,RequestHeaders&timestamps=rfc3339
"""


class Journey(NamedTuple):
    """A campaign of the area about one zone of the fleet."""

    area: Area
    zone: str
    aside: list[str]
    """Calls that change something at the service before people sign, and no request of a visitor."""
    sent: list[str]
    """Calls that change something once they have signed."""
    said: str
    """What `show` says of the step before the sign-off."""
    told: str
    """How the zone's history says that it was done."""


JOURNEYS = [
    Journey(
        Area.ESC,
        "shop.example",
        ["esc.set"],
        ["esc.set"],
        "turn esc off for every request",
        "Esc was turned off for shop.example by campaign through-esc",
    ),
    Journey(
        Area.LOG_FIELDS,
        "logged.example",
        [],
        ["rulesets.create", "rulesets.put", "logpush.jobs.update"],
        "have these fields logged, beside what others log; it can be undone",
        "The custom fields of logged.example were written by campaign through-log-fields",
    ),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A stack of before 2024, over two zones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        with running_stack(
            tmp_path_factory.mktemp("areas"), FLEET, "--clock", "2023-10-01T00:00:00Z"
        ) as found:
            yield found


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda one: one.area.value)
def test_a_campaign_goes_from_its_file_to_its_report(place: Place, journey: Journey) -> None:
    """Nothing that visitors see is changed before somebody signs; then the change is sent, once. Status,
    history and report say how it ended, and who agreed.
    """
    area, name = journey.area.value, f"through-{journey.area.value}"
    made = (place.folder / f".edgeshift/campaign-{area}.yaml").read_text()
    text = made.replace(f"rehearsal-{area}", name).replace("all: true", f"include: [{journey.zone}]")
    file, before = place.write(f"{area}.yaml", text), len(place.writes())
    assert "nothing was changed at the service" in place.ok("plan", file)
    place.ok("start", file, "--yes")
    place.until(name, lambda places: places.get("awaiting") == 1)
    assert calls(place)[before:] == journey.aside
    assert journey.said in place.ok("show", journey.zone)
    place.ok("sign-off", "approve", name, "--zone", journey.zone, "--yes", "--by", "ada")
    ended = place.ok("status", name, "--until", "finished")
    assert "1 of 1" in ended and "none told wrong" in " ".join(ended.split())
    assert calls(place)[before:] == journey.aside + journey.sent
    history = " ".join(place.ok("history", journey.zone).split())
    assert journey.told in history and "ada agreed to what was sent" in history
    report = place.json("report", name)
    assert report["summary"]["places"] == {"settled": 1}
    written = place.ok("report", name, "--out", f"{area}.html")
    assert ("(1 scope)" if journey.area is Area.ESC else "(1 zone)") in written


def calls(place: Place) -> list[str]:
    """The calls that have changed something at the service, in their order."""
    return [entry["call"] for entry in place.writes()]

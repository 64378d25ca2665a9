"""The runbook of the area waf and of what every campaign stands on: each situation is brought about on a real
stack, its alarm is there, the commands of its entry run as they stand on the page, and the alarm is gone.

`make test` plays a seeded share of the situations, `make test-runbook` every one. Entries of the other areas:
test_runbook_areas.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edgeshift.alarms import KINDS
from tests.harness.running.share import shared
from tests.journeys.runbook_areas import AREAS
from tests.journeys.runbook_fleet import FLEET, LOGS, begin, full, temporal
from tests.journeys.runbook_kit import Desk, desk
from tests.journeys.runbook_surroundings import SURROUNDINGS
from tests.journeys.runbook_zones import ZONES
from tests.runbook import HEAD, commands_of

pytestmark = [pytest.mark.stack(80), pytest.mark.embedded, pytest.mark.timeout(600)]

SITUATIONS: dict[tuple[str, ...], Callable[[Desk], None]] = {**ZONES, **SURROUNDINGS}
ALWAYS = ("sign-off-waits", "paused")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Desk]:
    """A stack with a campaign in which most things that can be wrong with a zone are wrong."""
    with desk(tmp_path_factory.mktemp("runbook"), temporal_cli_path, FLEET) as found:
        begin(found)
        yield found


def test_a_sign_off_waits_and_a_campaign_is_paused(here: Desk) -> None:
    """One zone is rejected, the others of its fingerprint approved while the campaign stands still."""
    alarm = here.alarmed("sign-off-waits", "main", zone="waits-1.example")
    assert (alarm["severity"], alarm["runbook"]) == ("notice", "docs/runbook.md#sign-off-waits")
    assert "sign-off-waits" not in here.alarms("main", "--least", "warning")
    (zone,) = json.loads(here.ok("status", "main", "--zone", "waits-1.example", "--json"))["zones"]
    names = {"CAMPAIGN": "main", "ZONE": "waits-2.example", "FINGERPRINT": zone["fingerprint"][:12]}
    here.look("sign-off-waits", names)
    here.act("sign-off-waits", names, only=[1])
    here.ok("pause", "main", "--reason", "lunch")
    assert "lunch" in here.alarmed("paused", "main")["text"]
    here.act("sign-off-waits", names, only=[0])
    here.over("sign-off-waits", "main", zone="waits-1.example")
    # What was agreed to meets a configuration that has changed, a workflow that has ended, rules that differ.
    rule = {"expression": "ip.src eq 192.0.2.1", "action": "bypass", "products": ["waf"]}
    for name in full("drifts-1", "drifts-2"):
        here.control("PATCH", f"zones/{here.zone_id(name)}", {"add_firewall_rules": [rule]})
    other = {"/result/rules": LOGS}
    here.troubles["differs"] = here.fault("wrong_types", "differs.example", "entrypoint.get", replace=other)
    ended = f"zone/{here.zone_id('ended.example')}/waf"
    temporal(here, "workflow", "terminate", "--workflow-id", ended)
    here.look("paused", {"CAMPAIGN": "main"})
    here.act("paused", {"CAMPAIGN": "main"})
    here.over("paused", "main")
    here.assert_ran(ALWAYS)


@pytest.mark.parametrize("codes", shared("runbook", list(SITUATIONS), least=5), ids=lambda codes: codes[0])
def test_an_entry_ends_its_alarm(here: Desk, codes: tuple[str, ...]) -> None:
    """The situation is brought about, its alarm is there, every command runs as it stands, the alarm goes."""
    SITUATIONS[codes](here)
    here.assert_ran(codes)


def test_the_commands_of_its_first_lines_run(here: Desk) -> None:
    """Asking for alarms: of all, as JSON, and of the service too."""
    for command in commands_of(HEAD):
        here.run("head", command, {"CAMPAIGN": "main"})


def test_every_entry_is_played_somewhere() -> None:
    """Each by a situation of its own, here or in the other areas, which it has once."""
    played = [*ALWAYS, *AREAS, *(code for codes in SITUATIONS for code in codes)]
    assert sorted(played) == sorted(KINDS)

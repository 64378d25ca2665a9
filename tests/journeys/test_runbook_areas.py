"""The runbook of esc and log-fields: as test_runbook.py, of which this is the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.running.share import shared
from tests.journeys.runbook_areas import AREAS, AUTUMN, FLEET
from tests.journeys.runbook_kit import Desk, desk

pytestmark = [pytest.mark.stack(120), pytest.mark.embedded, pytest.mark.timeout(600), pytest.mark.long]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Desk]:
    """A stack in the autumn before Edge Side Code is removed."""
    with desk(tmp_path_factory.mktemp("areas"), temporal_cli_path, FLEET, AUTUMN) as found:
        yield found


@pytest.mark.parametrize("code", shared("runbook of areas", list(AREAS), least=1))
def test_an_entry_of_another_area_ends_its_alarm(here: Desk, code: str) -> None:
    """The situation is brought about, its alarm is there, every command runs as it stands, the alarm goes."""
    AREAS[code](here)
    here.assert_ran((code,))

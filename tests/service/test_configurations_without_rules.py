"""A new configuration without rules says something of the zone, however it is written; before a commit it is
no answer (docs/service.md §2.4).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from activities.waf.zone import read_configuration, read_zone
from edgeshift.areas import waf
from edgeshift.messages import ChangeStatus
from edgeshift.model.reasons import ReasonCode
from edgeshift.profiles import SPECIFICATION
from edgeshift.service_api import NotUnderstood
from tests.service.gate_kit import gate

WITHOUT = pytest.mark.parametrize("written", ["empty", "null", "left_out"])


@WITHOUT
async def test_a_zone_without_new_rules_is_blocked(written: str, tmp_path: Path) -> None:
    """Nothing could be proposed to it."""
    async with gate(tmp_path) as play:
        await play.control.send("PUT", "options", {"config_rules": written})
        client = await play.connections.service(play.start.spec, play.zone)
        reading = await read_zone(client, play.zone)
        found = waf.assess(reading, SPECIFICATION)
        assert (found.verdict, found.causes) == (waf.Verdict.BLOCKED, (ReasonCode.EMPTY_CONFIGURATION,))
        assert reading.config == {"name": "default", "rules": []}


@WITHOUT
async def test_a_change_takes_no_configuration_without_rules(written: str, tmp_path: Path) -> None:
    """It is not what was signed, nor a drift that people could sign: it is asked for again."""
    async with gate(tmp_path) as play:
        await play.control.send("PUT", "options", {"config_rules": written})
        client = await play.connections.service(play.start.spec, play.zone)
        with pytest.raises(NotUnderstood, match="rules"):
            await read_configuration(client, play.zone, urgent=True)
        assert (await play.validate()).status is ChangeStatus.NOTHING_HAPPENED
        assert await play.sent() == []

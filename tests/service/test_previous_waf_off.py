"""A zone past the migration whose new WAF runs no rule, which a service may call disabled: it is migrated
already, and one before the migration that shows the same switches is not (docs/service.md §2.4, §3.2).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from activities.waf.zone import read_zone
from edgeshift.areas import waf
from edgeshift.model.reason_texts import text_of
from edgeshift.profiles import SPECIFICATION
from edgeshift.service_api import Gone
from tests.service.gate_kit import Gate, gate

BY_RULES = {"new_status": "rules"}
OFF = {"previous_waf": {"enabled": False}}


async def found(play: Gate) -> tuple[waf.Reading, waf.Assessment]:
    client = await play.connections.service(play.start.spec, play.zone)
    reading = await read_zone(client, play.zone)
    return reading, waf.assess(reading, SPECIFICATION)


async def shows(play: Gate, **said: str) -> None:
    """Let the status say this, whatever is so."""
    replace = {f"/result/{key}": value for key, value in said.items()}
    fault = {"kind": "wrong_types", "match": {"call": "waf.status"}, "replace": replace}
    await play.control.send("POST", "faults", fault)


async def patch(play: Gate, **more: Any) -> None:
    await play.control.send("PATCH", f"zones/{play.zone.id}", more)


@pytest.mark.parametrize(("state", "stopped"), [("complete", False), ("default", True)])
@pytest.mark.parametrize("options", [{}, {"check_refused": "begun"}])
async def test_a_zone_past_the_migration_is_migrated_with_both_switches_off(
    options: dict[str, Any], state: str, stopped: bool, tmp_path: Path
) -> None:
    """By ``complete`` alone; in another state since the calls of the previous WAF have stopped."""
    async with gate(tmp_path, settings=OFF, simulator={**BY_RULES, **options}) as play:
        await patch(play, state=state)
        reading, assessment = await found(play)
        status = reading.status or {}
        assert (status["new_waf_status"], status["old_waf_status"]) == ("disabled", "disabled")
        assert assessment.verdict is waf.Verdict.ALREADY_MIGRATED
        assert "new one is disabled" in text_of(assessment.why[0])
        assert reading.stopped is stopped


@pytest.mark.parametrize("state", ["start", "default", "something new"])
async def test_a_zone_that_never_had_a_waf_is_not_migrated(state: str, tmp_path: Path) -> None:
    """Its previous WAF can still be read."""
    async with gate(tmp_path, settings=OFF, simulator=BY_RULES) as play:
        await shows(play, migration_state=state)
        assert (await found(play))[1].verdict is waf.Verdict.READY


@pytest.mark.parametrize(
    "said",
    [
        {"migration_state": "start"},
        {"migration_state": "complete", "old_waf_status": "enabled"},
        {"migration_state": "default", "old_waf_status": "draining"},
    ],
)
async def test_stopped_calls_alone_make_no_zone_migrated(said: dict[str, str], tmp_path: Path) -> None:
    """Where the status says that it has not begun, or that the previous WAF is not off, it is asked again."""
    async with gate(tmp_path, simulator=BY_RULES) as play:
        await patch(play, state="default")
        await shows(play, **said)
        with pytest.raises(Gone):
            await found(play)


async def test_calls_that_are_gone_for_another_reason_say_nothing(tmp_path: Path) -> None:
    """As those of firewall rules, while the previous WAF can be read."""
    async with gate(tmp_path, settings=OFF, simulator=BY_RULES) as play:
        await shows(play, migration_state="default")
        gone = {"kind": "server_error", "match": {"call": "firewall.rules.list"}, "status": 410}
        await play.control.send("POST", "faults", gone)
        with pytest.raises(Gone):
            await found(play)

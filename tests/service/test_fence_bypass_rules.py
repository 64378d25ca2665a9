"""Firewall rules that bypass the WAF, read once more just before a commit: what follows from them now is what
was signed, or nothing is sent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from activities.snapshots import archive_snapshot
from activities.waf.zone import read_zone
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area
from tests.service.gate_kit import Gate, gate

OFFICE = {"expression": "ip.src in {203.0.113.0/24}", "products": ["waf"], "id": "1" * 32}
SETTINGS: dict[str, Any] = {"firewall_rules": [OFFICE], "migration": {"firewall_rules": "left_out"}}


async def change_rules(play: Gate, **patch: Any) -> None:
    """Somebody changes the zone's firewall rules."""
    await play.control.send("PATCH", f"zones/{play.zone.id}", patch)


async def test_what_was_signed_follows_from_the_firewall_rules_of_now(tmp_path: Path) -> None:
    """The skip rule that the service's configuration lacks is made of them again, and sent."""
    async with gate(tmp_path, settings=SETTINGS) as play:
        assert play.body["rules"][0]["expression"] == OFFICE["expression"]
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.ANSWERED, result.reason
        assert [log_only for _, log_only in await play.sent()] == [False]


async def test_a_firewall_rule_that_changes_after_the_sign_off_is_a_drift(tmp_path: Path) -> None:
    """One that came, or went, or bypasses something else: each would make another proposal."""
    more = {"expression": "ip.src eq 198.51.100.1", "products": ["waf"]}
    for patch in ({"add_firewall_rules": [more]}, {"remove_firewall_rules": [OFFICE["id"]]}):
        folder = tmp_path / next(iter(patch))
        folder.mkdir()
        async with gate(folder, settings=SETTINGS) as play:
            await change_rules(play, **patch)
            result = await play.change(play.body, play.body)
            assert result.status is ChangeStatus.DRIFTED, result.reason
            assert "page rules or firewall rules have changed" in result.reason
            assert await play.sent() == []


async def test_a_reading_of_before_knows_of_no_firewall_rules(tmp_path: Path) -> None:
    """It was archived without them, and what was signed by it is sent as it was."""
    async with gate(tmp_path, settings=SETTINGS) as play:
        reading = await read_zone(await play.connections.service(play.start.spec, play.zone), play.zone)
        before = reading.model_copy(update={"firewall_rules": []})
        play.snapshot = await archive_snapshot(play.connections, play.zone, Area.WAF, before)
        body = {**play.body, "rules": play.body["rules"][1:]}
        since = len(await play.control.journal())
        result = await play.change(body, body)
        assert result.status is ChangeStatus.ANSWERED, result.reason
        calls = [one["call"] for one in (await play.control.journal())[since:]]
        assert "firewall.rules.list" not in calls

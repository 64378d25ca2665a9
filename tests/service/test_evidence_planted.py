"""What is planted in traffic, over HTTP: in shadow mode all of it is found, in plain mode what is not seen is
said.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench.evidence import BEGINS, Time, Windows, judge_fleet
from bench.evidence_planted import planted_fleet
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Kind
from edgeshift.areas.waf.evidence_texts import evidence_lines
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.model.counts import counted
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import Credential, ServiceClient
from edgeshift.service_api.events import SHORTEST_SPAN
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.server import running

DAY = timedelta(hours=24)


@pytest.mark.parametrize("seed", [101, 102])
async def test_all_that_is_planted_is_found_in_shadow_mode(seed: int, tmp_path: Path) -> None:
    """False positives and gaps by rule, path and number of clients, though old events come two minutes late;
    nothing is invented, and what both stop is counted exactly.
    """
    found = await judge_fleet(planted_fleet(seed, 2), ValidationMode.SHADOW, tmp_path, window=DAY)
    assert found.complaints == []
    assert found.planted == found.found and found.invented == 0
    assert found.planted["false_positive"] >= 4 and found.planted["gap"] >= 2
    assert found.verdicts == {"fail": 2}


async def test_plain_validation_names_what_it_cannot_see(tmp_path: Path) -> None:
    """Gaps are found; what the new WAF stops is not called a false positive, and its number is told."""
    windows = Windows(planted_fleet(103, 2), ValidationMode.ENFORCE, tmp_path, None, window=DAY)
    for zone, seen, real in await windows.judged():
        gaps = {(item.rule, item.path) for item in seen.findings if item.kind is Kind.GAP}
        assert gaps == {(rule, path) for kind, rule, path in real.places if kind == "gap"}, zone.name
        assert seen.false_positives == 0 and seen.unseen == real.stopped_by_new
        text = "\n".join(evidence_lines(seen))
        assert f"of {counted(seen.unseen, 'request')} that the new one stopped it is not seen" in text
        planted = {(rule, path) for kind, rule, path in real.places if kind == "false_positive"}
        assert planted <= {(item.rule, item.path) for item in seen.findings if item.kind is Kind.UNSEEN}


async def test_events_that_come_later_than_the_margin_are_no_reason_to_invent_gaps(tmp_path: Path) -> None:
    """The new WAF's events an hour late: what follows the edge of the window is left out, and what is missing
    is at worst a disagreement that people look at, never an agreement.
    """
    fleet = planted_fleet(104, 1)
    fleet.zones[0].traffic.false_positives = []
    fleet.zones[0].traffic.gaps = []
    fleet.zones[0].previous_waf.managed.rules = {}
    for late, verdict in ((240.0, EvidenceVerdict.PASS), (3600.0, EvidenceVerdict.FAIL)):
        folder = tmp_path / f"{late}"
        folder.mkdir()
        windows = Windows(fleet, ValidationMode.SHADOW, folder, None, late_seconds=late, window=DAY)
        ((_, seen, real),) = await windows.judged()
        assert not real.places
        assert seen.verdict is verdict
        assert (seen.agreed == real.alike) is (verdict is EvidenceVerdict.PASS)


async def test_more_events_than_can_be_read_are_said_to_be_missing(tmp_path: Path) -> None:
    """Pages are halved as long as there are queries left; then, and where a millisecond holds too many, the
    log says that it is not whole. No event comes twice.
    """
    fleet, time = planted_fleet(105, 1), Time()
    fleet.zones[0].traffic.requests_per_minute = 1
    async with running(fleet, tmp_path, options=SimulatorOptions(), clock=time) as served:
        time.now = BEGINS + DAY
        client = ServiceClient(served.base_url, Credential(token=fleet.credentials[0].value), pacer=Unpaced())
        try:
            arguments: dict[str, Any] = {
                "zone_id": fleet.zones[0].id, "since": BEGINS, "until": time.now
            }  # fmt: skip
            whole = await client.event_log(**arguments)
            assert whole.whole and len(whole.events) > 60
            paged = await client.event_log(**arguments, limit=30)
            key = [(item.rayName, item.ruleId, item.datetime) for item in whole.events]
            assert paged.whole
            assert sorted(map(str, key)) == sorted(
                str((item.rayName, item.ruleId, item.datetime)) for item in paged.events
            )
            few = await client.event_log(**arguments, limit=30, queries=4)
            assert not few.whole and 0 < len(few.events) < len(whole.events)
            first = datetime.fromisoformat(str(whole.events[0].datetime))
            crowded = await client.event_log(fleet.zones[0].id, first, first + SHORTEST_SPAN, limit=1)
            assert not crowded.whole and len(crowded.events) == 1
            month = await client.event_log(
                fleet.zones[0].id, time.now - timedelta(days=31), time.now, queries=2
            )
            assert month.whole
        finally:
            await client.aclose()

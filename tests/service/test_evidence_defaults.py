"""Rules that only log by default, over HTTP: what the previous WAF only simulates, and the new one only logs,
is no false positive, in shadow mode neither.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bench.evidence import Windows
from bench.evidence_planted import planted_fleet
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Kind
from edgeshift.areas.waf.evidence_terms import Evidence
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.service_api import NotFound, Outcome, ServerError, ServiceClient
from edgeshift.service_api.models import Ruleset
from edgeshift.testbed.simulator import traffic
from edgeshift.testbed.simulator.signatures import Shape
from edgeshift.testbed.simulator.traffic_shapes import ATTACKS

USERS = Shape("users", "benign", "GET", "/wp-json/wp/v2/users")
"""A request that each WAF has a rule for, which does not stop it."""


class Reads:
    """The reading of managed rulesets, which is counted, and may fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *failures: Exception | None) -> None:
        self.made: Counter[str] = Counter()
        self._failures = list(failures)
        real = ServiceClient.ruleset

        async def ruleset(client: ServiceClient, zone_id: str, ruleset_id: str, **how: Any) -> Ruleset:
            self.made[ruleset_id] += 1
            failure = self._failures.pop(0) if len(self._failures) > 1 else next(iter(self._failures), None)
            if failure is not None:
                raise failure
            return await real(client, zone_id, ruleset_id, **how)

        monkeypatch.setattr(ServiceClient, "ruleset", ruleset)


async def judged(folder: Path, monkeypatch: pytest.MonkeyPatch, mode: ValidationMode) -> list[Evidence]:
    """The windows of two Enterprise zones with default settings, and traffic of which both log a part."""
    monkeypatch.setattr(traffic, "BENIGN", (USERS,))
    monkeypatch.setattr(traffic, "ATTACKS", tuple(one for one in ATTACKS if one.key == "sqli"))
    fleet = planted_fleet(7, 2)
    for zone in fleet.zones:
        zone.traffic.false_positives, zone.traffic.gaps = [], []
        zone.previous_waf.managed.rules = {}
    found = await Windows(fleet, mode, folder, None, window=timedelta(hours=24)).judged()
    assert not any(real.places for _, _, real in found)
    return [seen for _, seen, _ in found]


async def test_what_both_wafs_only_log_is_no_false_positive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The managed rulesets are read once for both zones, and believed when they are alike twice."""
    reads = Reads(monkeypatch)
    for seen in await judged(tmp_path, monkeypatch, ValidationMode.SHADOW):
        assert seen.verdict is EvidenceVerdict.PASS, seen.why
        assert seen.false_positives == 0 and seen.agreed > 0
        assert [cell.requests > 0 for cell in seen.matrix if (cell.old, cell.new) == ("log", "log")] == [True]
    assert len(reads.made) == 2 and set(reads.made.values()) == {2}


async def test_where_no_managed_ruleset_is_shown_each_rule_may_stop_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cautious side: people look at it. It is asked for once."""
    none = NotFound("no such ruleset", call="rulesets.get", path="", outcome=Outcome.READ)
    reads = Reads(monkeypatch, none)
    for seen in await judged(tmp_path, monkeypatch, ValidationMode.SHADOW):
        assert seen.verdict is EvidenceVerdict.FAIL
        assert {item.path for item in seen.findings if item.kind is Kind.FALSE_POSITIVE} == {USERS.path}
    assert len(reads.made) == 2 and set(reads.made.values()) == {1}


async def test_a_failure_that_passes_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The activity is tried again, and nothing is judged by half."""
    Reads(monkeypatch, ServerError("not now", call="rulesets.get", path="", outcome=Outcome.READ))
    with pytest.raises(Exception, match="not now"):
        await judged(tmp_path, monkeypatch, ValidationMode.SHADOW)


async def test_where_the_new_rules_act_no_default_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the events say what each rule does."""
    reads = Reads(monkeypatch)
    found = await judged(tmp_path, monkeypatch, ValidationMode.ENFORCE)
    assert not reads.made and all(seen.false_positives == 0 for seen in found)

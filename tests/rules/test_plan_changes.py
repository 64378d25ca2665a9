"""What a later plan has otherwise than an earlier one, and which options of two campaign files differ."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.template import template_spec
from edgeshift.messages import PlanReport, ZoneAssessment
from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.operations.errors import BadInput
from edgeshift.operations.plans import changes_since, check_same, differing


def line(number: int, verdict: Verdict | None = Verdict.READY, fingerprint: str = "f") -> ZoneAssessment:
    zone = Zone(id=f"{number:032x}", name=f"zone-{number}.example", account="a" * 32, plan=Plan.PRO)
    return ZoneAssessment(index=number, zone=zone, verdict=verdict, fingerprint=fingerprint)


def report(*lines: ZoneAssessment) -> PlanReport:
    return PlanReport(name="waf-1", made_at=datetime(2024, 1, 1, tzinfo=UTC), zones=list(lines))


def test_a_later_plan_is_compared_zone_by_zone() -> None:
    """By identifier: who came, who is gone, other verdicts and proposals; a zone as before is not named."""
    before = report(line(1), line(2), line(3), line(4, None, ""), line(5))
    now = report(line(5), line(1), line(3, fingerprint="g"), line(4), line(6), line(7), line(8), line(9))
    found = changes_since(before, now)
    assert found and found.lines() == [
        "4 zones have come: zone-6.example, zone-7.example, zone-8.example and 1 more",
        "1 zone is gone: zone-2.example",
        "1 zone has another verdict: zone-4.example (could not be read → ready)",
        "1 zone proposes something else: zone-3.example",
    ]
    assert not changes_since(before, before) and changes_since(before, before).lines() == []


def test_options_that_differ_are_named_as_the_file_names_them() -> None:
    """Each by its path; a file that is the same passes."""
    one = template_spec("waf-1", Area.WAF)
    other = one.model_copy(update={"window": 7, "advance": one.advance.model_copy(update={"percent": 7.0})})
    assert differing(one, one) == [] and differing(one, other) == ["advance.percent", "window"]
    check_same(one, one)
    with pytest.raises(BadInput, match=r"planned: advance\.percent, window differ; plan again"):
        check_same(other, one)

"""Why evidence did not pass: the same words, and the same key, for every zone of which the same is true."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from edgeshift.areas.esc.report import Controls, Coverage, ProbeReport
from edgeshift.areas.waf.evidence import Evidence, EvidencePolicy
from edgeshift.areas.waf.evidence_terms import EvidenceCause
from edgeshift.areas.waf.preview_part import WafShown
from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.model.fleet import Area, Plan, Target, Zone
from edgeshift.operations.apart import Apart, alike, of_cause
from edgeshift.operations.areas.esc import PART as ESC
from edgeshift.operations.areas.waf import PART as WAF
from edgeshift.operations.errors import BadInput, NotFound
from edgeshift.operations.parts import Cause
from edgeshift.operations.zones import FoundZone
from tests.rules.evidence_kit import new, old, seen

STRICT = EvidencePolicy(enough=0)
NAMES = {"r1": "SQL injection", "r2": "XSS"}


def cause(found: Evidence) -> Cause | None:
    return WAF.cause(found, WafShown(names=NAMES))


def test_evidence_that_passed_has_no_cause() -> None:
    """Nor has a zone without evidence."""
    assert cause(seen(old("1"), new("1"), policy=STRICT)) is None
    assert WAF.cause(None, None) is None and ESC.cause(None, None) is None


def test_a_rule_is_the_cause_however_many_requests_it_stopped() -> None:
    """Two zones with other counts and paths have the same cause; another rule, and both together, another."""
    one = seen(new("1", ruleId="r1"), policy=STRICT)
    many = seen(*(new(str(n), ruleId="r1", clientRequestPath=f"/{n}") for n in range(9)), policy=STRICT)
    other = seen(new("1", ruleId="r2"), policy=STRICT)
    both = seen(new("1", ruleId="r2"), new("2", ruleId="r1"), policy=STRICT)
    assert one.cause is many.cause is EvidenceCause.FALSE_POSITIVES
    assert cause(one) == cause(many)
    found = [cause(one), cause(other), cause(both)]
    assert len({one.key for one in found if one}) == 3
    assert all(one is not None and one.key.startswith("false-positives-") for one in found)
    assert found[2] is not None and found[2].text == (
        "the new WAF alone stops requests: rules SQL injection (r1), XSS (r2)"
    )


def test_the_other_causes_have_their_own_words() -> None:
    """What the previous WAF alone stopped, by rule; what is not about a rule, by its code."""
    gap = seen(old("1", ruleId="r2"), policy=STRICT)
    assert gap.cause is EvidenceCause.GAPS
    found = cause(gap)
    assert found is not None and found.text == "the previous WAF alone stops requests: rule XSS (r2)"
    few = seen(old("1"), new("1"), policy=EvidencePolicy(enough=20))
    assert cause(few) == Cause("few-events", "too few events were seen")
    before = few.model_copy(update={"cause": None})
    assert cause(before) == Cause("inconclusive", "the evidence is: inconclusive")


@pytest.mark.parametrize(
    ("covered", "alarms", "unmarked", "key"),
    [
        (2, 0, (), None),
        (3, 0, (), "no-answer"),
        (2, 1, (), "changes-by-itself"),
        (3, 1, (), "no-answer+changes-by-itself"),
        (2, 0, ("www.shop.example",), "not-at-the-edge"),
    ],
)
def test_a_probe_that_says_too_little_says_why(
    covered: int, alarms: int, unmarked: tuple[str, ...], key: str | None
) -> None:
    """Zones without an answer, hosts that are not at the edge, and what changes by itself."""
    report = ProbeReport(
        coverage=Coverage(zones_covered=covered, zones_probed=2, hosts_unmarked=unmarked),
        controls=Controls(pairs=4, alarms=alarms),
        made_at=datetime(2024, 1, 1, tzinfo=UTC),
        rounds=3,
    )
    found = ESC.cause(report, None)
    assert (found.key if found else None) == key


def apart(number: int, cause: Cause) -> Apart:
    zone = Zone(id=f"{number:032x}", name=f"zone-{number}.example", account="a" * 32, plan=Plan.ENTERPRISE)
    state = ZoneState(
        zone=zone,
        campaign="campaign/waf-1",
        wave=0,
        attempt=1,
        phase=ZonePhase.AWAITING_SIGN_OFF,
        since=datetime(2024, 1, 1, tzinfo=UTC),
    )
    return Apart(FoundZone.of(number, Target(zone=zone, wave=0), Area.WAF, "waf-1"), state, cause)


def test_zones_are_grouped_and_found_by_how_a_key_begins() -> None:
    """The largest group first; a beginning that several keys have names them, and one that none has too."""
    few, one, other = Cause("few-events", "…"), Cause.of("gaps", "…", "r1"), Cause.of("gaps", "…", "r2")
    zones = [apart(1, one), apart(2, few), apart(3, other), apart(4, few)]
    assert [len(group.zones) for group in alike(zones)] == [2, 1, 1]
    assert [item.found.index for item in of_cause(zones, "few", "waf-1")] == [2, 4]
    assert [item.found.index for item in of_cause(zones, other.key, "waf-1")] == [3]
    with pytest.raises(BadInput, match="2 causes begin with 'gaps': gaps-"):
        of_cause(zones, "gaps", "waf-1")
    with pytest.raises(NotFound, match="no zone of campaign waf-1 waits by itself for cause 'unseen'"):
        of_cause(zones, "unseen", "waf-1")

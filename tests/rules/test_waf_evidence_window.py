"""A window as a whole: its edges, its sample, the matrix of what each WAF said, the window before it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf import OWASP_RULESET
from edgeshift.areas.waf.evidence import (
    Evidence,
    EvidencePolicy,
    Kind,
    Window,
    agreed_rules,
    judge,
)
from edgeshift.areas.waf.evidence_again import passes
from edgeshift.areas.waf.evidence_terms import EvidenceCause
from edgeshift.areas.waf.evidence_texts import evidence_lines, sample_line
from edgeshift.areas.waf.names import OWASP_SCORE_RULE
from edgeshift.areas.waf.requests import read_moment
from tests.rules.evidence_kit import LENIENT, OURS, counts, new, old, seen


def test_the_matrix_has_what_each_waf_said() -> None:
    """Old verdict by new verdict, in shadow mode."""
    found = seen(
        old("a", "block"), new("a"),
        old("b", "challenge"), new("b"),
        new("c"),
        old("d", "simulate"),
        old("e", "block"), new("e", "allow"),
    )  # fmt: skip
    assert {(cell.old, cell.new): cell.requests for cell in found.matrix} == {
        ("block", "would_stop"): 1,
        ("challenge", "would_stop"): 1,
        ("none", "would_stop"): 1,
        ("log", "none"): 1,
        ("block", "log"): 1,
    }
    assert counts(found) == (1, 1, 2)


def test_rules_of_both_sides_are_named() -> None:
    """What each rule stopped with the other WAF and alone; a finding names the rules of the other side, and
    every further one that would stop the request.
    """
    found = seen(
        old("a", ruleId="old1"), new("a", ruleId="new1"), new("a", ruleId="new2"),
        new("b", ruleId="new1"), new("b", ruleId="new2"), old("b", "simulate", ruleId="old2"),
    )  # fmt: skip
    lines = {(line.waf, line.rule): (line.alike, line.alone) for line in found.rules}
    assert lines == {("previous", "old1"): (1, 0), ("new", "new1"): (1, 1), ("new", "new2"): (1, 1)}
    (finding,) = found.findings
    assert (finding.rule, finding.also, finding.other) == ("new1", ("new2",), ("old2",))
    (alike,) = found.alike
    assert (alike.rule, alike.other, alike.verdict) == ("new1", ("old1",), EvidenceVerdict.PASS)


def test_clients_are_counted_one_by_one_and_shown_by_network() -> None:
    """Who sends most comes first; no address is kept."""
    found = seen(
        *(new(f"a{n}", clientIP="198.51.100.7") for n in range(3)),
        *(new(f"b{n}", clientIP="198.51.100.8") for n in range(2)),
        new("c", clientIP="2001:db8:7::9"),
    )
    assert found.clients == found.findings[0].clients == 3
    assert [(line.network, line.requests) for line in found.top_clients] == [
        ("198.51.100.0/24", 3),
        ("198.51.100.0/24", 2),
        ("2001:db8:7::/48", 1),
    ]


def at(minute: int) -> str:
    return f"2026-03-01T12:{minute:02}:00Z"


def test_requests_at_the_edges_are_left_out_whole() -> None:
    """One that began before the window or so late that its other half may be missing says nothing; one whose
    second event comes after the end is judged whole.
    """
    window = Window(since=read_moment(at(10)), until=read_moment(at(50)))
    events = [
        new("early", datetime=at(9)), old("early", datetime=at(10)),
        new("in", datetime=at(49)), old("in", datetime=at(51)),
        old("late", datetime=at(50)),
    ]  # fmt: skip
    found = judge(events, OURS, "shadow", LENIENT, window=window)
    assert counts(found) == (0, 0, 1) and found.outside == 2


def test_what_could_not_be_read_whole_never_passes() -> None:
    """More events than the service gives: what was seen may fail, and cannot pass."""
    alike = [item for n in range(30) for item in (old(f"a{n}"), new(f"a{n}"))]
    strict = EvidencePolicy()
    assert judge(alike, OURS, "shadow", strict).verdict is EvidenceVerdict.PASS
    cut = Window(whole=False)
    found = judge(alike, OURS, "shadow", strict, window=cut)
    assert found.verdict is EvidenceVerdict.INCONCLUSIVE and "more events" in found.why
    assert judge([*alike, new("w")], OURS, "shadow", strict, window=cut).verdict is EvidenceVerdict.FAIL


def test_a_sample_says_for_how_many_it_stands_and_may_be_too_coarse() -> None:
    """``share`` says how coarse it may be; by default any sample will do, and it is told."""
    alike = [
        item for n in range(30) for item in (old(f"a{n}", sampleInterval=90), new(f"a{n}", sampleInterval=90))
    ]
    found = judge(alike, OURS, "shadow", EvidencePolicy())
    assert (found.verdict, found.requests, found.stands_for) == (EvidenceVerdict.PASS, 30, 2700)
    assert "stands for about 2,700 requests" in sample_line(found)
    coarse = judge(alike, OURS, "shadow", EvidencePolicy(share=0.05))
    assert coarse.verdict is EvidenceVerdict.INCONCLUSIVE and "5%" in coarse.why
    assert judge(alike, OURS, "shadow", EvidencePolicy(share=0.01)).verdict is EvidenceVerdict.PASS


def test_for_how_many_an_event_stands_may_be_written_as_a_text() -> None:
    """A coarse sample must not pass for a fine one; what is no number stands for one request."""
    for given, stands_for in (("90", 2700), ("many", 30), ("-5", 30), ("", 30)):
        alike = [
            item
            for n in range(30)
            for item in (old(f"a{n}", sampleInterval=given), new(f"a{n}", sampleInterval=given))
        ]
        assert judge(alike, OURS, "shadow", EvidencePolicy()).stands_for == stands_for


def test_plain_validation_does_not_call_an_attack_a_false_positive() -> None:
    """What the new WAF stopped is not known to be either: inconclusive, and it says of how many."""
    found = judge([new(f"a{n}", "block") for n in range(30)], OURS, "enforce", EvidencePolicy())
    assert found.verdict is EvidenceVerdict.INCONCLUSIVE
    assert (found.false_positives, found.unseen) == (0, 30)
    assert "of 30 requests" in found.cannot_see and "is not seen" in found.why
    assert {item.kind for item in found.findings} == {Kind.UNSEEN}
    assert any("cannot see" in line for line in evidence_lines(found))


def test_what_agreed_in_the_shadow_window_counts_in_the_one_after_it() -> None:
    """A rule that stopped only what the previous WAF stopped is believed; one that is new is not."""
    events = [item for n in range(30) for item in (old(f"a{n}"), new(f"a{n}", ruleId="agrees"))]
    earlier = judge(events, OURS, "shadow", EvidencePolicy())
    known = Window(known=agreed_rules(earlier), earlier="e" * 64)
    again = [new(f"b{n}", "block", ruleId="agrees") for n in range(30)]
    found = judge(again, OURS, "enforce", EvidencePolicy(), window=known)
    assert found.verdict is EvidenceVerdict.PASS and found.as_before == 30
    stranger = [*again, new("c", "block", ruleId="strange")]
    assert judge(stranger, OURS, "enforce", EvidencePolicy(), window=known).verdict is (
        EvidenceVerdict.INCONCLUSIVE
    )
    failed = judge([*events, new("x", ruleId="agrees")], OURS, "shadow", EvidencePolicy())
    assert agreed_rules(failed) == agreed_rules(found) == frozenset()


def test_the_score_rule_agrees_on_no_request_but_that_one() -> None:
    """It acts on a sum of other rules: what it stopped with the previous WAF on one path in the shadow window
    says nothing of another request, and evidence by an earlier version that took it for agreement does not
    pass at the door.
    """
    score = {"ruleId": OWASP_SCORE_RULE, "rulesetId": OWASP_RULESET}
    events = [item for n in range(30) for item in (old(f"a{n}"), new(f"a{n}", **score))]
    events += [item for n in range(30) for item in (old(f"m{n}"), new(f"m{n}", ruleId="agrees"))]
    earlier = judge(events, OURS, "shadow", EvidencePolicy())
    assert earlier.verdict is EvidenceVerdict.PASS and agreed_rules(earlier) == {"agrees"}
    known = Window(
        since=read_moment(at(0)),
        until=read_moment(at(50)),
        known=agreed_rules(earlier),
        earlier="e" * 64,
    )
    blocked = [new(f"b{n}", "block", clientRequestPath="/checkout", **score) for n in range(50)]
    agreeing = [new(f"c{n}", "block", ruleId="agrees") for n in range(30)]
    found = judge([*blocked, *agreeing], OURS, "enforce", EvidencePolicy(), window=known)
    assert found.verdict is EvidenceVerdict.INCONCLUSIVE and found.cause is EvidenceCause.UNSEEN
    assert (found.unseen, found.as_before) == (80, 30)
    assert {item.rule: item.verdict for item in found.findings} == {
        OWASP_SCORE_RULE: EvidenceVerdict.INCONCLUSIVE,
        "agrees": EvidenceVerdict.INCONCLUSIVE,
    }
    by_then, window = datetime(2026, 3, 2, tzinfo=UTC), timedelta(minutes=50)
    believed = judge(agreeing, OURS, "enforce", EvidencePolicy(), window=known)
    assert passes(believed, EvidencePolicy(), window, by_then)
    before = found.model_copy(update={"verdict": EvidenceVerdict.PASS, "as_before": 80})
    assert not passes(before, EvidencePolicy(), window, by_then)
    assert passes(before, EvidencePolicy(false_positives=50), window, by_then)


def test_each_rule_and_path_has_a_verdict_of_its_own() -> None:
    """One that fails does not make the others fail."""
    events = [item for n in range(30) for item in (old(f"a{n}"), new(f"a{n}"))]
    found = judge(
        [*events, new("w", ruleId="wrong"), old("m", ruleId="missed")], OURS, "shadow", EvidencePolicy(gaps=1)
    )
    verdicts = {(item.kind, item.rule): item.verdict for item in (*found.findings, *found.alike)}
    assert verdicts == {
        (Kind.FALSE_POSITIVE, "wrong"): EvidenceVerdict.FAIL,
        (Kind.GAP, "missed"): EvidenceVerdict.PASS,
        (Kind.AGREED, "r1"): EvidenceVerdict.PASS,
    }


def test_shadow_says_that_the_rules_themselves_were_not_validated() -> None:
    """And how they can be."""
    lines = evidence_lines(seen(new("a")))
    assert any("only log mode was tested" in line for line in lines)
    assert any("consents.enforce_validation" in line for line in lines)
    assert not any("only log mode" in line for line in evidence_lines(seen(mode="enforce")))


def test_evidence_of_an_earlier_version_is_still_read() -> None:
    """The archive keeps it for good."""
    document = {
        "mode": "shadow", "verdict": "fail", "why": "x", "events": 3, "requests": 1, "agreed": 0,
        "false_positives": 1, "gaps": 0, "cannot_see": "",
        "findings": [{"kind": "false_positive", "rule": "r", "path": "/a", "requests": 1, "clients": 1,
                      "samples": ["s"]}],
    }  # fmt: skip
    assert "false positive: rule r on /a" in "\n".join(evidence_lines(Evidence.model_validate(document)))

"""Evidence of a validation window: what was planted is found, counted exactly, and nothing else is."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf import MANAGED_RULESET, OWASP_RULESET, Defaults, defaults_of, logs_anyway
from edgeshift.areas.waf.evidence import (
    MOST_FINDINGS,
    MOST_SAMPLES,
    TERMINATING,
    EvidencePolicy,
    Kind,
    judge,
)
from edgeshift.areas.waf.evidence_terms import ClientLine
from edgeshift.areas.waf.evidence_texts import clients_line, evidence_lines
from tests.rules.evidence_kit import LENIENT, OURS, Json, counts, event, new, old, seen


@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.integers(0, 12),
    st.sampled_from(sorted(TERMINATING)),
    st.sampled_from(["FirewallManaged", "firewallmanaged", "firewallManaged"]),
    st.randoms(use_true_random=False),
)
def test_planted_disagreement_is_counted_exactly(
    wrong: int, missed: int, agreed: int, stops: str, source: str, random: Any
) -> None:
    """By ray, in any order, in any case of source and action; noise around it changes nothing."""
    events = [
        *(event(f"w{n}", source, "log") for n in range(wrong)),
        *(old(f"m{n}", stops.upper()) for n in range(missed)),
        *(item for n in range(agreed) for item in (old(f"a{n}", stops), event(f"a{n}", source, "log"))),
        *(event(f"n{n}", "firewallManaged", "block", rulesetId="of another product") for n in range(5)),
        *(event(f"x{n}", "ratelimit", "block") for n in range(5)),
        *(old(f"s{n}", "simulate") for n in range(5)),
        *(old(f"w{n}", "log") for n in range(wrong)),
        *(new("", "log") for _ in range(3)),
    ]
    random.shuffle(events)
    found = seen(*events)
    assert counts(found) == (wrong, missed, agreed)
    assert found.requests == wrong + missed + agreed
    assert found.events == len(events)
    assert sum(item.requests for item in found.findings) == wrong + missed
    assert seen(*reversed(events)) == found
    assert counts(seen(*events, *events)) == counts(found)


def test_findings_are_by_rule_and_path_the_biggest_first() -> None:
    """Each with its requests, its clients, and a few samples."""
    events = [
        *(new(f"a{n}", ruleId="big", clientIP=f"192.0.2.{n % 3}") for n in range(9)),
        *(new(f"b{n}", ruleId="big", clientRequestPath="/login") for n in range(2)),
        *(old(f"c{n}", ruleId="old") for n in range(4)),
    ]
    found = seen(*events).findings
    assert [(item.kind, item.rule, item.path, item.requests, item.clients) for item in found] == [
        (Kind.FALSE_POSITIVE, "big", "/cart", 9, 3),
        (Kind.GAP, "old", "/cart", 4, 1),
        (Kind.FALSE_POSITIVE, "big", "/login", 2, 1),
    ]
    assert len(found[0].samples) == MOST_SAMPLES
    assert "GET shop.example/cart ray a0" in found[0].samples[0]


def test_clients_that_are_not_named_are_not_invented() -> None:
    """Events without an address say nothing of how many clients there were."""
    assert seen(new("a", clientIP=None), new("b", clientIP=None)).findings[0].clients == 0


def test_only_so_many_findings_are_kept_and_all_are_counted() -> None:
    """The archive holds the biggest; the counts hold everything."""
    found = seen(*(new(f"r{n}", ruleId=f"rule {n}") for n in range(MOST_FINDINGS * 2)))
    assert len(found.findings) == MOST_FINDINGS
    assert found.false_positives == MOST_FINDINGS * 2


def test_several_rules_on_one_request_are_one_request() -> None:
    """Named after the first of them, whatever the order in which the events come."""
    events = [
        new("a", ruleId="second", datetime="2026-03-01T12:00:02Z"),
        new("a", ruleId="first", rulesetId=OWASP_RULESET, datetime="2026-03-01T12:00:01Z"),
    ]
    for order in (events, events[::-1]):
        found = seen(*order)
        assert found.requests == 1
        assert [item.rule for item in found.findings] == ["first"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q", "token", "user[name]", ""]),
            st.sampled_from(["=", ""]),
            st.just("s3cret%20Value"),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["", "?"]),
)
def test_samples_have_no_values_of_the_query(parts: list[tuple[str, str, str]], mark: str) -> None:
    """Names may stay, values never; a part that is no pair is all value. Nor does a path carry a query."""
    query = mark + "&".join(name + equals + value if equals else value for name, equals, value in parts)
    path = "/cart?again=s3cret%20Value"
    found = seen(
        new("a", clientRequestQuery=query), old("b", clientRequestQuery=query, clientRequestPath=path)
    )
    assert "s3cret" not in found.model_dump_json()
    assert all(item.path == "/cart" and item.samples for item in found.findings)


def test_samples_keep_the_names_of_the_query() -> None:
    """They help to tell requests apart."""
    assert (
        "/cart?q=…&page=…&… ray" in seen(new("a", clientRequestQuery="?q=1&page=2&x1")).findings[0].samples[0]
    )


def test_other_rulesets_are_not_evidence() -> None:
    """Other products share the source: their events neither disagree nor make the window rich enough."""
    others = [new(f"o{n}", "block", rulesetId="other") for n in range(50)]
    found = seen(*others, policy=EvidencePolicy(enough=20))
    assert (found.events, found.compared, found.requests, found.findings) == (50, 0, 0, ())
    assert found.verdict is EvidenceVerdict.INCONCLUSIVE


def test_what_only_logs_by_the_proposal_itself_is_no_false_positive() -> None:
    """A rule that was set to log after a review would not have blocked: in shadow, too, it stops nothing."""
    events = [new("a", ruleId="logs"), new("b", ruleId="blocks"), old("c"), new("c", ruleId="logs")]

    def anyway(ruleset: str, rule: str) -> bool:
        return (ruleset, rule) == (MANAGED_RULESET, "logs")

    found = judge(events, OURS, "shadow", LENIENT, anyway)
    assert counts(found) == (1, 1, 0)
    assert [item.rule for item in found.findings] == ["blocks", "r1"]


def managed(**rules: tuple[str, list[str]]) -> dict[str, Defaults]:
    """The managed ruleset with these rules: the action of each, and its categories."""
    listed = [{"id": name, "action": what, "categories": of} for name, (what, of) in rules.items()]
    return {MANAGED_RULESET: defaults_of({"version": "57", "rules": listed})}


def test_a_rule_that_only_logs_by_default_is_no_false_positive() -> None:
    """The previous WAF's simulate, and its successor's log: in shadow it does what it always would."""
    events = [
        new("a", ruleId="logs"),
        old("a", "simulate"),
        new("b", ruleId="blocks"),
        new("c", ruleId="odd"),
    ]
    body = {"rules": [{"action": "execute", "action_parameters": {"id": MANAGED_RULESET}}]}
    known = managed(logs=("log", []), blocks=("block", []))
    found = judge(events, OURS, "shadow", LENIENT, partial(logs_anyway, body, managed=known))
    assert counts(found) == (2, 0, 0)
    assert [item.rule for item in found.findings] == ["blocks", "odd"]
    # Where the ruleset was not read, each may stop something.
    assert counts(judge(events, OURS, "shadow", LENIENT, partial(logs_anyway, body))) == (3, 0, 0)


@pytest.mark.parametrize(
    ("action", "overrides", "logs"),
    [
        ("log", {}, True),
        ("block", {}, False),
        ("log", {"action": "block"}, False),
        ("block", {"action": "log"}, True),
        ("block", {"categories": [{"category": "wordpress", "action": "log"}]}, True),
        ("block", {"categories": [{"category": "drupal", "action": "log"}]}, False),
        ("block", {"categories": [{"category": "wordpress", "enabled": True}]}, False),
        ("log", {"categories": [{"category": "wordpress", "action": "block"}]}, False),
        ("log", {"action": "log", "categories": [{"category": "wordpress", "action": "block"}]}, False),
        (
            "log",
            {
                "categories": [
                    {"category": "wordpress", "action": "log"},
                    {"category": "cms", "action": "block"},
                ]
            },
            False,
        ),
        ("block", {"rules": [{"id": "r", "action": "log"}]}, True),
        ("log", {"rules": [{"id": "r", "action": "block"}]}, False),
        (
            "block",
            {
                "rules": [{"id": "r", "action": "log"}],
                "categories": [{"category": "wordpress", "action": "block"}],
            },
            True,
        ),
        ("log", {"rules": [{"id": "r", "enabled": True}]}, True),
    ],
)
def test_an_override_beats_the_default_the_nearest_first(action: str, overrides: Json, logs: bool) -> None:
    """A rule's own, its categories', the ruleset's; of several categories that differ, none is believed."""
    known = managed(r=(action, ["wordpress", "cms"]))
    parameters = {"id": MANAGED_RULESET, "overrides": overrides}
    body = {"rules": [{"action": "execute", "action_parameters": parameters}]}
    assert logs_anyway(body, MANAGED_RULESET, "r", known) is logs
    body["rules"].append({"action": "execute", "action_parameters": {"id": MANAGED_RULESET, "version": "57"}})
    assert logs_anyway(body, MANAGED_RULESET, "r", known) is (logs and action == "log")


def test_a_default_of_another_version_or_of_no_sense_is_none() -> None:
    """What is pinned to a version may have other rules, and an odd answer says nothing."""
    for version, logs in (("57", True), ("latest", True), ("", True), (None, True), ("56", False)):
        parameters = {"id": MANAGED_RULESET, "version": version}
        body = {"rules": [{"action": "execute", "action_parameters": parameters}]}
        assert logs_anyway(body, MANAGED_RULESET, "r", managed(r=("log", []))) is logs, version
    odd = [
        {"id": "r", "action": 7},
        {"id": 7, "action": "log"},
        {"id": "s", "action": "log", "categories": "x"},
    ]
    for rules in (odd, None, "rules", [None]):
        assert defaults_of({"rules": rules}).rules == {}


def test_while_the_new_rules_enforce_a_log_is_no_block() -> None:
    """Then only what stops a request counts, and what cannot be seen is said."""
    found = seen(
        new("a", "log"), new("b", "block"), old("c"), new("d", "managed_challenge"), old("d"), mode="enforce"
    )
    assert (counts(found), found.unseen) == ((0, 1, 1), 1)
    assert "never judges" in found.cannot_see
    assert seen(new("a")).cannot_see == ""


@pytest.mark.parametrize(
    ("wrong", "missed", "agreed", "verdict"),
    [
        (0, 0, 10, EvidenceVerdict.PASS),
        (2, 0, 10, EvidenceVerdict.PASS),
        (3, 0, 10, EvidenceVerdict.FAIL),
        (0, 1, 10, EvidenceVerdict.PASS),
        (0, 2, 10, EvidenceVerdict.FAIL),
        (2, 1, 10, EvidenceVerdict.PASS),
        (0, 0, 9, EvidenceVerdict.INCONCLUSIVE),
        (1, 0, 9, EvidenceVerdict.INCONCLUSIVE),
        (2, 0, 9, EvidenceVerdict.PASS),
        (0, 0, 0, EvidenceVerdict.INCONCLUSIVE),
        (3, 0, 0, EvidenceVerdict.FAIL),
    ],
)
def test_the_verdict_follows_the_policy(
    wrong: int, missed: int, agreed: int, verdict: EvidenceVerdict
) -> None:
    """At most 2 false positives and 1 gap, at least 20 events; too much disagreement fails however few
    there are.
    """
    policy = EvidencePolicy(enough=20, false_positives=2, gaps=1)
    events = [new(f"w{n}") for n in range(wrong)] + [old(f"m{n}") for n in range(missed)]
    events += [item for n in range(agreed) for item in (old(f"a{n}"), new(f"a{n}"))]
    found = seen(*events, policy=policy)
    assert found.verdict is verdict
    assert found.why


def test_a_quiet_window_says_nothing() -> None:
    """No events at all are inconclusive by default, never a pass."""
    found = seen(policy=EvidencePolicy())
    assert found.verdict is EvidenceVerdict.INCONCLUSIVE
    assert "20 are needed" in found.why


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(sorted(event("", "", ""))), st.one_of(st.none(), st.text(), st.integers())
        )
    )
)
def test_odd_events_are_no_error(events: list[Json]) -> None:
    """Missing fields, nulls and numbers where texts are expected."""
    assert judge(events, OURS, "shadow", EvidencePolicy()).events == len(events)


RULES = ("r1", "r2", "r3")


@st.composite
def windows(draw: st.DrawFn) -> list[Json]:
    """Events of a few requests, of both WAFs, with fields that nobody knows."""
    found: list[Json] = []
    for number in range(draw(st.integers(0, 8))):
        more = {
            "datetime": f"2026-03-01T12:{draw(st.integers(0, 59)):02}:00Z",
            "clientIP": draw(st.sampled_from(["192.0.2.1", "192.0.2.2", "2001:db8::1", None])),
            "clientRequestPath": draw(st.sampled_from(["/cart", "/save", "/u/ann@example.com"])),
            "sampleInterval": draw(st.sampled_from([1, 7, None, "many"])),
            "unheardOf": draw(st.none() | st.integers() | st.lists(st.text(max_size=3), max_size=2)),
        }
        for source in draw(st.lists(st.sampled_from(["waf", "firewallManaged", "other"]), max_size=4)):
            action = draw(st.sampled_from(["block", "managed_challenge", "log", "simulate", "allow"]))
            rule = draw(st.sampled_from(RULES))
            found.append(event(f"ray{number}", source, action, ruleId=rule, **more))
    return found


@given(windows(), st.sampled_from(["shadow", "enforce"]), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_of_events_matters(found: list[Json], mode: str, random: Any) -> None:
    """Pages overlap, and two products write at their own pace: only what happened counts."""
    whole = seen(*found, mode=mode)
    mixed = [dict(item) for item in [*found, *found[: len(found) // 2]]]
    random.shuffle(mixed)
    assert seen(*mixed, mode=mode).model_dump(exclude={"events"}) == whole.model_dump(exclude={"events"})


@given(windows(), st.sampled_from(["shadow", "enforce"]))
def test_the_sums_agree(found: list[Json], mode: str) -> None:
    """The matrix, the findings, and the counts speak of the same requests."""
    one = seen(*found, mode=mode)
    assert one.requests == one.agreed + one.false_positives + one.gaps + one.unseen
    stopping = {"block", "challenge", "would_stop"}
    stopped = sum(cell.requests for cell in one.matrix if {cell.old, cell.new} & stopping)
    assert stopped == one.requests
    assert sum(item.requests for item in (*one.findings, *one.alike)) == one.requests
    assert all(sum(cell.requests for cell in item.said) == item.requests for item in one.findings)
    assert bool(one.cannot_see) == (mode == "enforce" or one.unseen > 0)
    assert "ann@example" not in one.model_dump_json() and "192.0.2.1" not in one.model_dump_json()


def test_rules_are_named_as_the_events_describe_them() -> None:
    """Each rule that stopped something, with its numbers; one that no event describes by its identifier."""
    said = {"description": "SQLi in a query"}
    events = [event(f"ray{n}", "firewallManaged", "log", **said) for n in range(3)]
    events += [event("other", "firewallManaged", "log", ruleId="r9")]
    found = judge(events, frozenset({MANAGED_RULESET}), "shadow", EvidencePolicy())
    assert found.names == {"r1": "SQLi in a query"}
    text = "\n".join(evidence_lines(found))
    assert "false positive: rule SQLi in a query (r1) on" in text
    assert "new WAF, rule SQLi in a query (r1) stopped 3 alone, 0 with the other WAF" in text
    assert "new WAF, rule r9 stopped 1 alone" in text


def test_a_network_is_named_once() -> None:
    """However many clients of it there were."""
    lines = tuple(ClientLine(network=one, requests=n) for one, n in (("a", 2), ("b", 4), ("a", 3)))
    assert clients_line(lines) == "a (5), b (4)"

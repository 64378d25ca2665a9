"""What people see of a body before they sign it: each rule, field and log job beside what the target has, and
nothing of it left out.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from edgeshift.areas.esc import body_items as esc_items
from edgeshift.areas.log_fields import Reading as LogReading
from edgeshift.areas.log_fields import body_items as log_items
from edgeshift.areas.log_fields import proposal_body
from edgeshift.areas.log_fields.terms import FieldSet, NewJobSpec
from edgeshift.areas.waf.answers import MANAGED_RULESET, OWASP_RULESET
from edgeshift.areas.waf.rule_items import items
from edgeshift.model.body_view import Item, Mark
from edgeshift.model.fleet import Plan, Zone
from edgeshift.profiles import SPECIFICATION

RULE = "5de7edfa648c4d6891dc3e7f84534ffa"
LOGIN = '(starts_with(http.request.uri.path, "/login"))'


def execute(ruleset: str = MANAGED_RULESET, **more: Any) -> dict[str, Any]:
    """A rule that runs a managed ruleset."""
    rule = {"action": "execute", "expression": "true", "action_parameters": {"id": ruleset}}
    return {**rule, **more}


def body(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"name": "default", "rules": list(rules)}


def said(found: tuple[Item, ...]) -> str:
    """All that a person reads of these items."""
    lines = [text for item in found for line in item.lines for text in (line.label, line.text, line.before)]
    return "\n".join([*(item.title for item in found), *(text for text in lines if text)])


def test_where_a_rule_applies_is_said() -> None:
    """Also where it is not every request."""
    (everywhere, login) = items(body(execute(), execute(OWASP_RULESET, expression=LOGIN)), None)
    assert {line.label: line.text for line in everywhere.lines}["on"] == "every request"
    assert {line.label: line.text for line in login.lines}["on"] == LOGIN
    assert everywhere.title == f"rule 1: execute the managed ruleset ({MANAGED_RULESET})"
    assert [everywhere.mark, login.mark] == [Mark.ADDED, Mark.ADDED]


def test_a_body_is_a_difference_from_the_rules_that_the_zone_has() -> None:
    """Rules that are the same, added, removed, and changed with what they were."""
    block = {"action": "block", "expression": 'http.host eq "a"', "id": "1", "version": "3"}
    gone = {"action": "log", "expression": "ssl"}
    new = {"action": "skip", "expression": 'http.host eq "b"', "action_parameters": {"ruleset": "current"}}
    before = body(block, execute(), gone)
    after = body({**block, "id": "2"}, execute(expression=LOGIN), new)
    same, changed, removed, added = sorted(
        items(after, before), key=lambda item: list("scra").index(item.mark[0])
    )
    assert (same.mark, removed.mark, added.mark) == (Mark.SAME, Mark.REMOVED, Mark.ADDED)
    assert removed.title == "rule 3: log" and added.title == "rule 3: skip"
    assert [(line.label, line.before, line.text) for line in changed.lines] == [
        ("on", "every request", LOGIN)
    ]
    assert all(item.mark is Mark.SAME for item in items(after, after))
    assert all(item.mark is Mark.ADDED for item in items(after, None))


def test_overrides_are_named_one_by_one() -> None:
    """Of the whole ruleset, of categories, and of single rules, by their names where they are known."""
    overrides = {
        "action": "log",
        "enabled": False,
        "categories": [{"category": "paranoia-level-3", "enabled": False}],
        "rules": [{"id": RULE, "action": "block", "enabled": True, "score_threshold": 40}],
    }
    rule = execute(action_parameters={"id": MANAGED_RULESET, "overrides": overrides})
    (item,) = items(body(rule), None, {RULE: "Anomaly:Header"})
    lines = {line.label: line.text for line in item.lines}
    assert lines["all of its rules"] == "action log, off"
    assert lines["category paranoia-level-3"] == "off"
    assert lines[f"rule Anomaly:Header ({RULE})"] == "action block, on, score threshold 40"


@pytest.mark.parametrize(
    "rule",
    [
        execute(enabled=False, logging={"enabled": True}, description="x" * 50),
        execute(action_parameters={"id": "f" * 32, "version": "latest", "matched_data": {"public_key": "k"}}),
        execute(action_parameters={"id": "f" * 32, "overrides": {"sensitivity_level": "low", "odd": [1]}}),
        execute(action_parameters={"id": "f" * 32, "overrides": {"rules": [{"id": RULE, "odd": {"a": 7}}]}}),
        {"action": "skip", "expression": "ssl", "action_parameters": {"rules": {"f" * 32: [RULE]}}},
        {"action": "skip", "expression": "ssl", "action_parameters": {"phases": ["http_ratelimit"]}},
        {"action": "block", "expression": "ssl", "ratelimit": {"period": 60}, "odd": None},
        {"action": "block", "expression": "ssl", "action_parameters": "odd"},
    ],
)
def test_nothing_of_a_rule_is_left_out(rule: dict[str, Any]) -> None:
    """Each value in it, and each key that says what it is, is among what people read."""
    text = said(items(body(rule), None))

    def leaves(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [leaf for one in value.values() for leaf in leaves(one)]
        return [leaf for one in value for leaf in leaves(one)] if isinstance(value, list) else [value]

    for leaf in leaves(rule):
        known = {True: ("on", "yes", "true"), False: ("off", "no"), "true": ("every request",)}
        known |= {"current": ("in this ruleset",)}
        wanted = known.get(leaf) or (json.dumps(leaf).strip('"'),)
        assert any(one in text for one in wanted), (leaf, text)


def test_overrides_to_be_deleted_are_named() -> None:
    """Each with its addresses and what it set."""
    override = {"id": "o1", "urls": ["a.example/*"], "rules": {"100008": "simulate"}}
    rule = {"action": "delete_override", "override": override}
    (item,) = items({"name": "delete_overrides", "rules": [rule]}, None)
    assert item.mark is Mark.REMOVED and item.title == "URI-based override o1"
    assert "a.example/*" in said((item,)) and "100008" in said((item,)) and "simulate" in said((item,))


def test_the_signed_differences_of_a_probe_are_all_there() -> None:
    """One for each change, with every place, and what is sent beside it."""
    one = {"feature": "redirect rule", "kind": "status", "what": "", "before": "301", "after": "200"}
    listed = [{**one, "host": f"{name}.example", "paths": ["/a", "/b"]} for name in ("x", "y")]
    probe = {"differences": listed, "hosts": ["x.example"], "sources": [], "zones": {}}
    signed = {
        "name": "disable_esc",
        "scope": "account",
        "covers": 2,
        "change": {"always": True},
        "probe": probe,
    }
    change, difference = esc_items.items(signed, False)
    assert (
        change.mark is Mark.CHANGED and '{"always":true}' in said((change,)) and "2 zones" in said((change,))
    )
    assert change.lines[0].before == "on" and change.lines[0].text == "off"
    text = said((difference,))
    assert "301" in text and "200" in text and "4 places" in text
    assert all(place in text for place in ("x.example/a", "x.example/b", "y.example/a", "y.example/b"))


def test_fields_and_log_jobs_are_a_difference_from_those_of_the_zone() -> None:
    """What is logged already, what is new, what a job lists before and after, and the job that is created."""
    job = {"id": 7, "name": "logs", "enabled": True, "dataset": "http_requests"}
    options = "fields=RayID&timestamps=rfc3339"
    rule = {
        "action": "log_custom_field",
        "expression": "true",
        "action_parameters": {"request_fields": [{"name": "x-theirs"}]},
    }
    zone = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
    wanted = FieldSet(request_headers=("x-theirs", "x-ours"), cookies=("sid",))
    reading = LogReading(
        plan=Plan.ENTERPRISE,
        ruleset={"id": "c" * 32, "rules": [rule]},
        jobs=[{**job, "logpull_options": options}, {**job, "id": 8, "enabled": False}],
    )
    found = {
        item.title: item
        for item in log_items.items(proposal_body(reading, zone, wanted, None), reading, SPECIFICATION, zone)
    }
    assert found["request header x-theirs"].mark is Mark.SAME
    assert found["request header x-ours"].mark is Mark.ADDED and found["cookie sid"].mark is Mark.ADDED
    changed = found["log job 7 logs"]
    assert changed.mark is Mark.CHANGED
    assert [(line.text, line.before) for line in changed.lines] == [
        ("Cookies, RequestHeaders", None),
        ("fields=RayID,Cookies,RequestHeaders&timestamps=rfc3339", options),
    ]
    assert not [title for title in found if "log job 8" in title]
    bare = LogReading(plan=Plan.ENTERPRISE)
    spec = NewJobSpec(destination="env:LOGS")
    made = log_items.items(proposal_body(bare, zone, wanted, spec), bare, SPECIFICATION, zone)
    assert made[0].title == "the zone's ruleset for custom log fields" and made[0].mark is Mark.ADDED
    assert made[-1].mark is Mark.ADDED and "env:LOGS" in said((made[-1],))


def test_the_new_job_that_the_zone_has_already_is_not_shown_as_added() -> None:
    """Neither where it pushes, nor where it is off and is turned on again."""
    zone = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
    wanted, spec = FieldSet(cookies=("sid",)), NewJobSpec(destination="env:LOGS")
    listed = "fields=" + ",".join(spec.fields)
    job = {"id": 9, "name": "edgeshift-shop.example", "dataset": "http_requests", "enabled": True}
    job["logpull_options"] = f"{listed}&timestamps=rfc3339"
    for enabled in (True, False):
        reading = LogReading(plan=Plan.ENTERPRISE, ruleset={}, jobs=[{**job, "enabled": enabled}])
        body = proposal_body(reading, zone, wanted, spec)
        assert body["jobs"]["new"]
        shown = log_items.items(body, reading, SPECIFICATION, zone)
        assert [item.title for item in shown if item.mark is Mark.ADDED] == ["cookie sid"]
        found = {item.title: item for item in shown}
        new = found["log job edgeshift-{zone}"]
        lines = {line.label: (line.text, line.before) for line in new.lines}
        if enabled:
            assert new.mark is Mark.SAME and lines == {"there already": ("log job 9", None)}
            assert found["log job 9 edgeshift-shop.example"].mark is Mark.CHANGED
        else:
            assert new.mark is Mark.CHANGED and lines["turned on again"] == ("log job 9", None)
            options = (f"{listed},Cookies&timestamps=rfc3339", job["logpull_options"])
            assert lines["logpull_options"] == options
            assert lines["destination"] == ("env:LOGS", None)

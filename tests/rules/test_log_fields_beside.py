"""What log entries tell of others' fields once a rule of ours is beside theirs."""

from __future__ import annotations

from typing import Any

from edgeshift.areas import log_fields
from edgeshift.areas.log_fields import OUR_REF, CustomField, Fate, Kind
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.profiles import SPECIFICATION

WANTED = FieldSet(request_headers=("x-a",))
JOBS = [
    {
        "id": 1,
        "dataset": "http_requests",
        "enabled": True,
        "logpull_options": "fields=RayID,Cookies,RequestHeaders",
    }
]
ENOUGH = 5


def rule(ref: str, **arrays: list[str]) -> dict[str, Any]:
    named = {f"{kind}_fields": [{"name": name} for name in names] for kind, names in arrays.items()}
    return {"ref": ref, "action": "log_custom_field", "expression": "true", "action_parameters": named}


THEIRS = rule("theirs", request=["x-t", "x-u"])
RULES = [THEIRS, rule(OUR_REF, request=["x-a"])]


def entry(*names: str) -> dict[str, Any]:
    return {"RayID": "7", "Cookies": {}, "RequestHeaders": dict.fromkeys(names, "1")}


def fate(before: list[dict[str, Any]], since: list[dict[str, Any]], rules: Any = RULES) -> Fate:
    return log_fields.beside(before, since, rules, WANTED, {}, JOBS, ENOUGH, SPECIFICATION).fate


def test_fields_of_others_are_those_of_their_enabled_rules_that_ours_does_not_have() -> None:
    """Whatever array they are in; ours is known by its ref."""
    ours = rule(OUR_REF, request=["x-a", "x-u"], cookie=["Id"])
    off = {**rule("off", response=["x-off"]), "enabled": False}
    found = log_fields.others_fields([THEIRS, ours, off, rule("more", response=["x-r"], cookie=["Id", "B"])])
    assert found == FieldSet(request_headers=("x-t",), response_headers=("x-r",), cookies=("B",))


def test_nothing_is_asked_of_fields_that_hardly_came_before() -> None:
    """In fewer than one of as many entries as are enough, or in none; nor where there is nothing of ours."""
    since = [entry("x-a")] * 50
    assert fate([], since) is fate([entry()] * 9, since) is Fate.NOT_ASKED
    assert fate([entry("x-t"), *[entry()] * 5], since) is Fate.NOT_ASKED
    assert fate([entry("x-t"), *[entry()] * 4], since) is Fate.STOPPED
    assert fate([entry("x-t")], since, RULES[1:]) is Fate.NOT_ASKED
    # What ours has is in theirs as well: nothing would tell which of them has it logged.
    assert fate([entry("x-t")], since, [rule("theirs", request=["x-t", "x-a"])]) is Fate.NOT_ASKED


def test_one_entry_with_both_shows_that_they_add_up() -> None:
    """However many have ours alone."""
    both = entry("x-a", "x-t")
    assert fate([entry("x-t")], [*[entry("x-a")] * 30, both]) is Fate.COME


def test_fields_that_would_have_come_often_enough_and_did_not_have_stopped() -> None:
    """As many entries as those in which they would have been so often; of the rest they may be missing."""
    assert fate([entry("x-t")] * 3, [entry("x-a")] * 5) is Fate.STOPPED
    assert fate([entry("x-t")] * 3, [entry("x-a")] * 4) is Fate.TOO_FEW
    half = [entry("x-t"), entry()]
    assert fate(half, [entry("x-a")] * 9) is Fate.TOO_FEW
    assert fate(half, [entry("x-a")] * 10) is Fate.STOPPED
    # Ours have to come, too.
    assert fate(half, [entry()] * 30) is Fate.TOO_FEW


def test_what_came_late_of_the_change_does_not_hide_that_they_stopped() -> None:
    """The newest entries count: in older ones some place of the service had not the change yet."""
    old, new = [entry("x-t")] * 5, [entry("x-a")] * 10
    assert fate([entry("x-t")], [*new, *old]) is Fate.STOPPED
    assert fate([entry("x-t")], [*new[:4], *old]) is Fate.APART


def test_theirs_that_come_without_ours_are_told_apart() -> None:
    """And the fields are named that came before."""
    found = log_fields.beside(
        [entry("x-t")], [entry("x-t")] * 9, RULES, WANTED, {}, JOBS, ENOUGH, SPECIFICATION
    )
    assert found.fate is Fate.ALONE and found.fields == (CustomField(Kind.REQUEST, "x-t"),)
    assert not found.settled

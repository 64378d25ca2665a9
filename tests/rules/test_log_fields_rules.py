"""Our rule beside the rules of others: nothing of theirs is lost, neither on the way in nor out."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.log_fields import (
    OUR_REF,
    carried,
    count,
    fields_of,
    fields_of_rule,
    merge,
    missing,
    rollback,
    unsound,
)
from edgeshift.areas.log_fields.terms import FieldSet

Json = dict[str, Any]
WANTED = FieldSet(request_headers=("x-a", "x-b"), response_headers=("etag",), cookies=("Id",))


def rule(name: str, **more: Any) -> Json:
    return {
        "id": f"{abs(hash(name)):032x}"[:32],
        "version": "3",
        "last_updated": "2022-01-01T00:00:00.000000Z",
        "ref": name,
        "action": "log_custom_field",
        "expression": "true",
        "description": name,
        "enabled": True,
        "action_parameters": {"request_fields": [{"name": f"x-{name}"}]},
        **more,
    }


def bare(found: Json) -> Json:
    return {key: value for key, value in found.items() if key not in ("version", "last_updated")}


def test_ours_comes_after_theirs_which_stay_as_they_are() -> None:
    """Every key of theirs, known or not, with its id; without what each write makes anew."""
    theirs = rule("theirs", logging={"enabled": True}, enabled=False)
    before = copy.deepcopy(theirs)
    found = merge([theirs], WANTED, "ours")
    assert found[0] == bare(theirs) and theirs == before
    assert found[1] == {
        "ref": OUR_REF,
        "action": "log_custom_field",
        "expression": "true",
        "description": "ours",
        "enabled": True,
        "action_parameters": {
            "request_fields": [{"name": "x-a"}, {"name": "x-b"}],
            "response_fields": [{"name": "etag"}],
            "cookie_fields": [{"name": "Id"}],
        },
    }


def test_what_others_have_logged_is_not_repeated() -> None:
    """A field counts once; the fields of a rule that is disabled are not logged."""
    on = rule("on", action_parameters={"request_fields": [{"name": "x-a"}]})
    off = rule("off", action_parameters={"request_fields": [{"name": "x-b"}]}, enabled=False)
    ours = merge([on, off], WANTED)[2]
    assert ours["action_parameters"]["request_fields"] == [{"name": "x-b"}]
    case = rule("case", action_parameters={"cookie_fields": [{"name": "id"}]})
    assert merge([case], WANTED)[1]["action_parameters"]["cookie_fields"] == [{"name": "Id"}]


def test_where_nothing_is_missing_nothing_is_added() -> None:
    """The rules are those that are there."""
    rules = [bare(rule("on", action_parameters={"request_fields": [{"name": "x-a"}]}))]
    assert merge(rules, FieldSet(request_headers=("x-a",))) == rules


def test_what_ours_had_from_an_earlier_run_stays() -> None:
    """A second campaign adds to the one rule, in its place, with its id."""
    first = [{**merge([], FieldSet(request_headers=("x-old",)))[0], "id": "1" * 32}, rule("theirs")]
    second = merge(first, FieldSet(cookies=("New",)))
    assert [item["ref"] for item in second] == [OUR_REF, "theirs"]
    assert second[0]["id"] == "1" * 32
    assert second[0]["action_parameters"] == {
        "request_fields": [{"name": "x-old"}],
        "cookie_fields": [{"name": "New"}],
    }


@pytest.mark.parametrize("broken", [{"enabled": False}, {"expression": "ssl"}, {"ref": "lost"}])
def test_our_own_rule_is_set_right_again(broken: Json) -> None:
    """Turned off, changed, or without its ref: it is ours by its description, and logs again."""
    rules = [{**merge([], WANTED)[0], **broken}]
    wanted = FieldSet(request_headers=("x-a", "x-new"))
    (found,) = merge(rules, wanted)
    assert found["ref"] == OUR_REF and found["enabled"] is True and found["expression"] == "true"
    assert missing([found], wanted) == ()


@pytest.mark.parametrize("broken", [{"enabled": False}, {"expression": "ssl"}])
def test_what_somebody_turned_off_in_our_rule_is_not_logged_again(broken: Json) -> None:
    """Nobody signs it: only what is wanted now comes back. A rollback leaves the rule as it was."""
    off = {**merge([], FieldSet(request_headers=("authorization",), cookies=("Id",)))[0], **broken}
    off |= {"id": "1" * 32, "description": "turned off"}
    off["action_parameters"]["raw_response_fields"] = [{"name": "x-secret"}]
    wanted = FieldSet(request_headers=("x-id",), cookies=("Id",))
    found = merge([off], wanted)
    assert set(fields_of_rule(found[0])) == carried(found) == set(fields_of(wanted))
    assert found[0]["id"] == off["id"]
    assert rollback([off], found, wanted) == [off]
    added = merge(found, FieldSet(request_headers=("x-of-another",)))
    (back,) = rollback([off], added, wanted)
    assert {field.name for field in fields_of_rule(back)} == {"authorization", "Id", "x-of-another"}


rules_of_others = st.lists(
    st.builds(
        lambda name, names, on: rule(
            name, enabled=on, action_parameters={"request_fields": [{"name": item} for item in names]}
        ),
        st.sampled_from(["p", "q", "r", "s"]),
        st.lists(st.sampled_from(["x-a", "x-b", "x-c"]), min_size=1, unique=True),
        st.booleans(),
    ),
    max_size=4,
    unique_by=lambda item: item["ref"],
)
field_sets = st.builds(
    FieldSet,
    request_headers=st.lists(st.sampled_from(["x-a", "x-b", "x-c", "x-d"]), unique=True).map(tuple),
    cookies=st.lists(st.sampled_from(["A", "a"]), unique=True).map(tuple),
)


@given(rules_of_others, field_sets, field_sets)
def test_merging_logs_all_and_changes_nobodys_rule(others: list[Json], one: FieldSet, two: FieldSet) -> None:
    """Whatever is there: all wanted fields are logged, the rules of others are as they were, in their order;
    and merging again changes nothing.
    """
    found = merge(merge(others, one), two)
    assert missing(found, one) == () and missing(found, two) == ()
    assert [item for item in found if item["ref"] != OUR_REF] == [bare(item) for item in others]
    assert merge(found, one) == found
    assert count(found) <= count(others) + len({*fields_of(one), *fields_of(two)})


@given(rules_of_others, field_sets, field_sets, rules_of_others, st.booleans())
def test_a_rollback_takes_out_what_was_added_and_nothing_else(
    others: list[Json], earlier: FieldSet, ours: FieldSet, later: list[Json], off: bool
) -> None:
    """What an earlier campaign had stays, turned off or not, and so does what others have written since."""
    before = [
        {**item, "enabled": False} if off and item["ref"] == OUR_REF else item
        for item in merge(others, earlier)
    ]
    since = [item for item in later if item["ref"] not in {known["ref"] for known in before}]
    found = rollback(before, [*merge(before, ours), *since], ours)
    assert found == [*before, *(bare(item) for item in since)]


def test_a_rollback_of_nothing_is_the_present() -> None:
    """Where somebody has taken our rule out already, there is nothing to take out."""
    present = [rule("theirs")]
    assert rollback([], present, WANTED) == [bare(present[0])]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (None, "no list of rules"),
        (["rule"], r"rules\[0\] is not an object"),
        ([{"ref": "r", "action": "log_custom_field"}], r"rules\[0\] \(r\) has no action or no expression"),
        ([rule("r", action_parameters=[])], "action_parameters is not an object"),
        ([rule("r", action_parameters={"cookie_fields": ["Id"]})], "cookie_fields is not a list of objects"),
        ([rule("r", action_parameters={"cookie_fields": {"name": "Id"}})], "cookie_fields is not a list"),
    ],
)
def test_rules_that_cannot_be_read_are_told_which(rules: Any, said: str) -> None:
    """They could neither be counted nor sent back: nothing is sent."""
    found = unsound(rules)
    assert found is not None and re.search(said, found)


def test_sound_rules_are_sound() -> None:
    """Also one without parameters, and one with arrays that are null."""
    assert unsound([rule("r"), rule("s", action_parameters=None)]) is None
    assert unsound([rule("s", action_parameters={"cookie_fields": None})]) is None
    assert carried([rule("s", action_parameters={"cookie_fields": None})]) == frozenset()

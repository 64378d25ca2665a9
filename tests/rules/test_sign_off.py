"""A sign-off counts when enough listed people, each once, agree to exactly this digest while it is valid."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from edgeshift.model.sign_off import (
    LONGEST_REASON,
    MOST_PASSED_ON,
    Choice,
    Decision,
    SignOffPolicy,
    Tally,
    passed_on,
    refusal,
    said_of_several,
    said_to_be_needed,
    still_needed,
    tally,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINE, SHAPE, OTHER = "a" * 64, "b" * 64, "c" * 64
KNOWN = frozenset({MINE, SHAPE})
PEOPLE = ("ann", "bob", "cleo")
DAY = timedelta(days=1)


def approve(by: str, digest: str = MINE, at: datetime | None = NOW) -> Decision:
    return Decision(choice=Choice.APPROVE, digest=digest, by=by, at=at)


def reject(by: str, digest: str = MINE, at: datetime | None = NOW) -> Decision:
    return Decision(choice=Choice.REJECT, digest=digest, by=by, at=at)


def policy(required: int = 1, approvers: tuple[str, ...] = PEOPLE, four_eyes: bool = False) -> SignOffPolicy:
    return SignOffPolicy(approvers=approvers, required=required, four_eyes=four_eyes, valid_for=DAY)


DECISIONS = st.lists(
    st.builds(
        Decision,
        choice=st.sampled_from(Choice),
        digest=st.sampled_from([MINE, SHAPE, OTHER]),
        by=st.sampled_from([*PEOPLE, "Ann", "dave", "eve"]),
        at=st.one_of(st.none(), st.integers(-30, 5).map(lambda hours: NOW + timedelta(hours=hours))),
    ),
    max_size=8,
)


@given(DECISIONS, st.integers(1, 3), st.booleans(), st.permutations(range(8)))
def test_what_decisions_amount_to(
    decisions: list[Decision], required: int, four_eyes: bool, order: list[int]
) -> None:
    """Rejection by a listed person wins; approval needs enough listed people, each once, while valid; in
    any order.
    """
    rules = policy(required, four_eyes=four_eyes)
    found = tally(decisions, KNOWN, rules, "ann", NOW)
    counting = [item for item in decisions if item.by in PEOPLE and item.digest in KNOWN]
    people = {
        item.by
        for item in counting
        if item.choice is Choice.APPROVE
        and item.at is not None
        and NOW - DAY < item.at <= NOW
        and not (four_eyes and item.by == "ann")
    }
    if any(item.choice is Choice.REJECT for item in counting):
        assert found is Tally.REJECTED
    else:
        assert (found is Tally.APPROVED) == (len(people) >= required)
    turned = [decisions[place] for place in order if place < len(decisions)]
    assert tally(turned, KNOWN, rules, "ann", NOW) is found
    assert tally([*decisions, *decisions], KNOWN, rules, "ann", NOW) is found


def test_an_approver_approves() -> None:
    """The plain case: one listed person, the zone's own digest or its fingerprint."""
    for digest in (MINE, SHAPE):
        assert tally([approve("ann", digest)], KNOWN, policy(), "zoe", NOW) is Tally.APPROVED


@pytest.mark.parametrize("by", ["mallory", "Ann", "ann2", "an"])
def test_an_unlisted_person_decides_nothing(by: str) -> None:
    """Neither approves nor rejects; names are compared exactly."""
    assert tally([approve(by), reject(by)], KNOWN, policy(), "zoe", NOW) is Tally.WAITING
    assert "is not an approver" in (refusal(approve(by), policy(), "zoe") or "")


def test_another_digest_decides_nothing() -> None:
    """An approval of what was proposed before is none of what is proposed now; nor is a rejection."""
    old = [approve("ann", OTHER), reject("bob", OTHER)]
    assert tally(old, KNOWN, policy(), "zoe", NOW) is Tally.WAITING


@pytest.mark.parametrize(
    ("age", "counts"),
    [
        (timedelta(0), True),
        (DAY - timedelta(microseconds=1), True),
        (DAY, False),
        (DAY * 30, False),
        (timedelta(seconds=-1), False),
    ],
)
def test_an_approval_counts_while_it_is_valid(age: timedelta, counts: bool) -> None:
    """From the moment it was given until ``valid_for`` later, and not from the future."""
    found = tally([approve("ann", at=NOW - age)], KNOWN, policy(), "zoe", NOW)
    assert found is (Tally.APPROVED if counts else Tally.WAITING)


def test_an_approval_without_a_time_decides_nothing() -> None:
    """The workflow sets the time; what nobody received has none."""
    assert tally([approve("ann", at=None)], KNOWN, policy(), "zoe", NOW) is Tally.WAITING


def test_one_person_is_one_approval() -> None:
    """However often, of whichever digest, and with whatever case and space where nobody is listed."""
    again = [approve("ann"), approve("ann", SHAPE), approve("ann", at=NOW - timedelta(hours=1))]
    assert tally(again, KNOWN, policy(2), "zoe", NOW) is Tally.WAITING
    anybody = policy(2, approvers=())
    assert (
        tally([approve("ann"), approve("Ann"), approve(" ann ")], KNOWN, anybody, "zoe", NOW) is Tally.WAITING
    )
    assert tally([approve("ann"), approve("bob", SHAPE)], KNOWN, policy(2), "zoe", NOW) is Tally.APPROVED


@pytest.mark.parametrize("started_by", ["ann", "Ann", " ann "])
@pytest.mark.parametrize("approvers", [PEOPLE, ()])
def test_four_eyes_keep_the_starter_from_approving(started_by: str, approvers: tuple[str, ...]) -> None:
    """Whoever started the campaign does not count, and may still reject."""
    rules = policy(approvers=approvers, four_eyes=True)
    assert tally([approve("ann")], KNOWN, rules, started_by, NOW) is Tally.WAITING
    assert "four eyes" in (refusal(approve("ann"), rules, started_by) or "")
    assert tally([approve("bob")], KNOWN, rules, started_by, NOW) is Tally.APPROVED
    assert tally([reject("ann"), approve("bob")], KNOWN, rules, started_by, NOW) is Tally.REJECTED


def test_a_rejection_wins_over_any_number_of_approvals() -> None:
    """Before them or after them, and also when it is old."""
    three = [approve(by) for by in PEOPLE]
    for late in (NOW, NOW - DAY * 9):
        assert tally([reject("bob", at=late), *three], KNOWN, policy(), "zoe", NOW) is Tally.REJECTED
        assert tally([*three, reject("bob", SHAPE, at=late)], KNOWN, policy(), "zoe", NOW) is Tally.REJECTED


def test_the_defaults_are_one_approver_and_a_fortnight() -> None:
    """A campaign that says nothing waits 14 days for one person's word."""
    rules = SignOffPolicy()
    assert (rules.required, rules.expires_after, rules.valid_for) == (
        1,
        timedelta(days=14),
        timedelta(days=14),
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"digest": "A" * 64},
        {"digest": "a" * 63},
        {"digest": ""},
        {"by": "  "},
        {"by": "x" * 201},
        {"reason": "x" * (LONGEST_REASON + 1)},
        {"choice": "maybe"},
    ],
)
def test_a_malformed_decision_is_refused(wrong: dict[str, str]) -> None:
    """A digest is 64 hexadecimal digits, a person has a name, a reason is short."""
    with pytest.raises(ValidationError):
        Decision.model_validate({"choice": "approve", "digest": MINE, "by": "ann", **wrong})


@pytest.mark.parametrize(
    "wrong", [{"required": 0}, {"required": 11}, {"approvers": [" "]}, {"approver": ["ann"]}]
)
def test_a_malformed_policy_is_refused(wrong: dict[str, object]) -> None:
    """Nobody required, an approver without a name, a key that does not exist."""
    with pytest.raises(ValidationError):
        SignOffPolicy.model_validate(wrong)


@given(DECISIONS, st.integers(1, 3), st.booleans())
def test_nothing_more_is_needed_exactly_where_it_is_approved(
    decisions: list[Decision], required: int, four_eyes: bool
) -> None:
    """Of decisions that are all about it, and of which none rejects it."""
    agreed = [one for one in decisions if one.choice is Choice.APPROVE and one.digest in KNOWN]
    asked = policy(required, four_eyes=four_eyes)
    more, others = still_needed(agreed, asked, "ann", NOW)
    approved = tally(agreed, KNOWN, asked, "ann", NOW) is Tally.APPROVED
    assert (more == 0) is approved
    # Whoever is named can still approve, and once as many have, it is approved.
    able = [approve(name) for name in others]
    if more and len(able) >= more:
        assert tally([*agreed, *able[:more]], KNOWN, asked, "ann", NOW) is Tally.APPROVED


def test_what_is_needed_is_said_with_who_can() -> None:
    """By name where there is no choice, as a number of them where there is, and without names for anybody."""
    assert said_to_be_needed(*still_needed([approve("ann")], policy(2), "olga", NOW)) == (
        "1 more approval is needed (one of: bob, cleo)"
    )
    assert said_to_be_needed(*still_needed([approve("ann")], policy(3), "olga", NOW)) == (
        "2 more approvals are needed (bob, cleo)"
    )
    anybody = policy(2, approvers=())
    assert said_to_be_needed(*still_needed([approve("ann")], anybody, "olga", NOW)) == (
        "1 more approval is needed"
    )
    assert said_to_be_needed(*still_needed([approve("ann")], policy(1), "olga", NOW)) == ""


def test_of_several_the_most_that_any_needs_is_said() -> None:
    """As the most where another one that lacks any lacks fewer; what lacks none does not matter."""

    def of(*people: str) -> tuple[int, tuple[str, ...]]:
        return still_needed([approve(name) for name in people], policy(3), "olga", NOW)

    most = "2 more approvals are needed (ann, cleo)"
    done = of("ann", "bob", "cleo")
    assert said_of_several([of("ann", "bob"), of("bob"), done]) == f"up to {most}"
    assert said_of_several([of("bob"), done, of("bob")]) == most
    assert said_of_several([done]) == ""


@given(
    DECISIONS,
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([(), PEOPLE]),
    st.integers(0, 30),
)
def test_what_is_passed_on_amounts_to_the_same(
    decisions: list[Decision], required: int, four_eyes: bool, approvers: tuple[str, ...], hours: int
) -> None:
    """As all that was said of the digest, now and as long as that counts; each person's word once."""
    said = [one.model_copy(update={"digest": MINE}) for one in decisions if one.at is None or one.at <= NOW]
    terms, of = policy(required, approvers, four_eyes), frozenset({MINE})
    few, later = passed_on(said, terms, "eve", NOW), NOW + timedelta(hours=hours)
    assert tally(few, of, terms, "eve", later) is tally(said, of, terms, "eve", later)
    assert len({one.by.casefold() for one in few}) == len(few)


def test_of_any_number_of_approvals_few_are_passed_on_the_latest() -> None:
    """Twice as many as a policy may ask for; a rejection by itself."""
    many = [approve(f"p{n}", at=NOW - timedelta(minutes=n)) for n in range(1_001)]
    few = passed_on(many, policy(10, ()), "olga", NOW)
    assert few == many[:MOST_PASSED_ON][::-1]
    assert tally(few, KNOWN, policy(10, ()), "olga", NOW) is Tally.APPROVED
    assert passed_on([*many, reject("zoe")], policy(10, ()), "olga", NOW) == [reject("zoe")]

"""How several users of the service share a campaign's window: by the rules alone."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.campaign.callers import HIDDEN, TargetCallers, callers_of, hide
from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.shares import Claims, in_turn, most_of_one
from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import Caller, Callers, ReportKind, Step
from tests.rules.ledger_kit import HOUR, NOW, ledger, report
from workflows.campaign.turns import Turns

ANN = Caller(credential="env:ANN", user="a")
BEN = Caller(credential="env:BEN", user="b")
BOB = Caller(credential="env:BOB", user="b")


def one(index: int) -> int:
    return 1


def claims(taken: int, ready: range = range(0), pending: range = range(0), most: int = 1_000) -> Claims:
    return Claims(taken, most, iter(ready), iter(pending))


def chosen(free: int, *users: Claims) -> list[int]:
    return [index for index, _ in in_turn(free, users, one)]


def test_a_user_whose_zones_do_not_end_keeps_its_share_and_the_others_get_each_place_that_is_freed() -> None:
    """A campaign of two users whose zones alternate; those of the first one never end. With the lowest index
    first, it had all 20 places after some forty grants.
    """
    ledger = dict.fromkeys(range(400), "ready")
    for _ in range(150):
        working = [index for index, place in ledger.items() if place == "working"]
        users = [
            Claims(
                sum(index % 2 == user for index in working),
                most_of_one(20, 1),
                iter([i for i, place in ledger.items() if place == "ready" and i % 2 == user]),
                iter(()),
            )
            for user in (0, 1)
        ]
        for index, _ in in_turn(20 - len(working), users, one):
            ledger[index] = "working"
        ends = next(index for index, place in ledger.items() if place == "working" and index % 2)
        ledger[ends] = "ended"
    slow = sum(place == "working" and index % 2 == 0 for index, place in ledger.items())
    assert (slow, sum(place == "ended" for place in ledger.values())) == (10, 150)


def test_each_place_goes_to_whoever_has_the_fewest() -> None:
    """However many each has in the list, and wherever in it."""
    assert chosen(4, claims(9, range(100)), claims(7, range(100, 200))) == [100, 101, 0, 102]
    assert chosen(3, claims(0, range(9)), claims(0, range(20, 29))) == [0, 20, 1]


def test_a_place_that_one_user_has_nobody_for_goes_to_another() -> None:
    """A window is not left empty for those who wait for people."""
    assert chosen(3, claims(9, range(5)), claims(0)) == [0, 1, 2]
    assert chosen(3, claims(9, range(5)), claims(0, range(7, 8))) == [7, 0, 1]
    assert chosen(3, claims(0), claims(0)) == []
    assert chosen(0, claims(0, range(5)), claims(0, range(7, 9))) == []
    assert chosen(-2, claims(0, range(5)), claims(0, range(7, 9))) == []


def test_places_are_kept_for_users_all_of_whose_zones_wait_for_people() -> None:
    """One whose calls are blocked by then has not taken what the others need once they are agreed to. In a
    window of one, nothing can be kept.
    """
    assert [most_of_one(20, others) for others in (0, 1, 3, 9)] == [20, 15, 12, 11]
    assert [most_of_one(2, others) for others in (0, 1, 4)] == [2, 1, 1]
    assert most_of_one(1, 1) == 1
    assert len(chosen(20, claims(0, range(50), most=15), claims(0))) == 15
    assert chosen(5, claims(15, range(50), most=15), claims(0, range(60, 70))) == [60, 61, 62, 63, 64]


@given(st.integers(1, 5_000), st.integers(0, 254), st.booleans())
def test_a_user_may_have_its_share_at_least(window: int, others: int, apart: bool) -> None:
    """Or one place, where there are more users than places; and all of them where it is the only one."""
    most = most_of_one(window, others, apart=apart)
    assert 1 <= most <= window
    assert most >= window // (others + 1) and (others or most == window)


@given(st.integers(1, 5_000), st.integers(1, 254))
def test_no_more_than_half_of_the_window_is_kept_for_others(window: int, others: int) -> None:
    """However many they are: the halves of their shares are less than half of the window together."""
    assert most_of_one(window, others) >= max(1, window // 2)
    assert most_of_one(window, 1) == most_of_one(window, 1, apart=True)


def test_campaigns_that_began_so_keep_half_of_each_share_by_itself() -> None:
    """With as many users as places, all but one place was kept from a user, whoever waited for it."""
    many = [(20, 19), (10, 9), (50, 48)]
    assert [most_of_one(*one, apart=True) for one in many] == [1, 1, 2]
    assert [most_of_one(*one) for one in many] == [10, 5, 25]


def test_one_that_stands_for_more_zones_than_its_user_may_have_goes_alone() -> None:
    """It would never go, else."""

    def found(taken: int) -> list[int]:
        users = claims(taken, range(1), most=15), claims(0, range(10, 11))
        return [index for index, _ in in_turn(20 - taken, users, {0: 18, 10: 1}.__getitem__)]

    assert found(0) == [0, 10]
    assert found(1) == [10]


def test_those_that_hold_a_sign_off_come_before_new_ones_of_their_user_alone() -> None:
    """What one user's zones are agreed to does not keep those of another from being started: its own limit
    is unused.
    """
    users = claims(5, range(50), range(50, 99)), claims(0, range(100, 101), range(200, 299))
    found = list(in_turn(7, users, one))
    assert found[:5] == [(100, False), (200, True), (201, True), (202, True), (203, True)]
    assert found[5:] == [(0, False), (204, True)]


def test_one_that_stands_for_more_zones_than_there_are_places_waits_for_its_places() -> None:
    """None of the others takes them meanwhile that has as many."""
    covers = {0: 5, 1: 1, 10: 1, 11: 1}.__getitem__

    def found(free: int, *taken: int) -> list[int]:
        users = claims(taken[0], range(2)), claims(taken[1], range(10, 12))
        return [index for index, _ in in_turn(free, users, covers)]

    assert found(4, 6, 6) == []
    assert found(4, 6, 5) == [10]
    assert found(6, 4, 6) == [0, 10]


def test_a_new_one_that_needs_more_places_than_there_are_holds_back_nobody_whose_people_have_signed() -> None:
    """An account of thirty zones that nobody has seen yet; its places come free once those that are ready
    have run out, since no other new one takes them.
    """
    covers = {0: 30}

    def found(free: int, taken: int, ready: range, new: range) -> list[tuple[int, bool]]:
        users = claims(0, pending=range(1)), claims(taken, ready, new)
        return list(in_turn(free, users, lambda index: covers.get(index, 1)))

    assert found(25, 15, range(10, 13), range(20, 29)) == [(10, False), (11, False), (12, False)]
    assert found(25, 15, range(0), range(20, 29)) == []
    assert found(33, 7, range(10, 13), range(20, 29)) == [(0, True), (10, False), (11, False), (12, False)]


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=5),
    st.integers(0, 40),
)
def test_no_place_is_left_free_and_nobody_gets_more_than_others_want(
    users: list[tuple[int, int, int]], free: int
) -> None:
    """Whatever each has and wants: whoever got a place has at most one more than who still wants one."""
    asked = [
        claims(
            taken,
            range(100 * number, 100 * number + ready),
            range(1000 + 100 * number, 1000 + 100 * number + new),
        )
        for number, (taken, ready, new) in enumerate(users)
    ]
    found = chosen(free, *asked)
    got = [sum(index % 1000 // 100 == number for index in found) for number in range(len(users))]
    wants = [ready + new for _, ready, new in users]
    assert len(found) == len(set(found)) == min(free, sum(wants))
    has = [taken + more for (taken, _, _), more in zip(users, got, strict=True)]
    still = [has[number] for number in range(len(users)) if got[number] < wants[number]]
    assert all(has[number] <= min(still) + 1 for number in range(len(users)) if got[number] and still)


def test_credentials_of_one_user_share_one_share() -> None:
    """The rate limit is the user's."""
    targets = [ANN, BEN, BOB, BEN, ANN]
    callers = TargetCallers(callers_of(targets), len(targets))
    assert callers.users == 2
    assert [callers.user_of(index) for index in range(5)] == [0, 1, 1, 1, 0]
    places = bytes([0, TargetState.AWAITING, TargetState.MIGRATED, 0, TargetState.FAILED])
    assert callers.users_left(places, b"") == {0, 1}
    assert callers.users_left(places[:2], bytes([HIDDEN, 0, 0, 0, 0])) == {1}
    assert callers.users_left(bytes([TargetState.MIGRATED]) * 5, b"") == set()
    assert [index for index, byte in enumerate(callers.others_than(1)) if byte == HIDDEN] == [0, 4]
    assert TargetCallers(callers_of([BEN, BOB]), 2).users == 1
    assert TargetCallers(Callers(), 3).users == 1
    hidden = hide(callers.others_than(1), callers.targets(frozenset({1})))
    found = ledger(5, begun=False)
    assert list(found.indexes(TargetState.PENDING, hidden=hidden)) == [2]


@pytest.mark.parametrize("off", [{}, {"recalled": False}, {"unrecorded": ["a ruling"]}], ids=str)
def test_no_place_is_kept_for_new_ones_while_none_is_started(off: dict[str, Any]) -> None:
    """While the archive does not say what was rejected, what people have signed takes the only place."""
    found = ledger(2)
    found.places[0], found.places[1] = TargetState.PENDING, TargetState.READY
    state: Any = SimpleNamespace(
        ledger=found,
        callers=TargetCallers(callers_of([ANN, BEN]), 2),
        shares_window=True,
        calls=SimpleNamespace(stopped=b""),
        wave=0,
        area=SimpleNamespace(reversible=True),
        start=SimpleNamespace(waves=[SimpleNamespace(end=2)], window=1, grows_by=None),
        **{"recalled": True, "unrecorded": [], **off},
    )
    assert Turns(state).to_grant() == ([1] if off else [])
    assert Turns(state).to_start() == ([] if off else [0])


@pytest.mark.parametrize("keeps", [True, False])
def test_who_takes_places_is_as_many_as_the_window_counts(keeps: bool) -> None:
    """Also of those that have set down their places, and that hold permits though they wait."""
    found: Ledger = ledger(6)
    found.keeps_places = keeps
    stopped = bytes([HIDDEN, HIDDEN, 0, 0, 0, 0])
    for index in (0, 1, 2):
        found.hear(report(1, ReportKind.SERVICE, index, idle=True), NOW)
    found.permit(1, Step.COMMIT, "p", NOW + HOUR, lambda: 7)
    found.permit(4, Step.COMMIT, "p", NOW + HOUR, lambda: 8)
    found.places[3] = TargetState.MIGRATED
    found.places[4] = TargetState.AWAITING

    def taking(mask: bytes) -> Iterator[int]:
        return found.taking_places(mask)

    for mask in (b"", stopped):
        assert len(list(taking(mask))) == found.in_flight() - found.set_down(mask)
    assert sorted(taking(b"")) == ([0, 1, 2, 4, 5] if keeps else [0, 1, 2, 5])

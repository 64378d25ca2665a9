"""What the service says of its limit, and how much room is left to others by it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.rate_limit.others import (
    FLOOR,
    Others,
    Report,
    Seen,
    Told,
    Window,
    keep,
    remaining_of,
    reported,
)
from edgeshift.rate_limit.terms import PaceTerms

TERMS = PaceTerms()
NOW = 1_700_000_000.0
POLICY = '"default";q=1200;w=300'


def said(remaining: int, reset: float = 300.0, limit: int = 1200, window: float = 300.0) -> Told:
    return Told(limit=limit, window=window, remaining=remaining, reset=reset)


def others(*reports: tuple[float, Told, int]) -> Others:
    """What processes saw: when, what, and their own calls."""
    return Others(
        reports={
            str(number): Report(at=NOW + at, told=what, own=own)
            for number, (at, what, own) in enumerate(reports)
        }
    )


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"ratelimit": '"default";r=50;t=30', "ratelimit-policy": POLICY}, said(50, 30)),
        (
            {"ratelimit": '"default"; r=50 ; t=30', "ratelimit-policy": '"default"; q=1200; w=300'},
            said(50, 30),
        ),
        ({"ratelimit": '"default";r=50', "ratelimit-policy": POLICY}, said(50, 0)),
        ({"ratelimit": '"default";r=50;t=900', "ratelimit-policy": POLICY}, said(50, 300)),
        (
            {
                "ratelimit": '"default";r=900;t=30, "burst";r=1;t=1',
                "ratelimit-policy": f'{POLICY}, "burst";q=10;w=5',
            },
            said(1, 1, 10, 5),
        ),
        ({"ratelimit": '"other";r=5, "default";r=50;t=30', "ratelimit-policy": POLICY}, said(50, 30)),
    ],
)
def test_headers_are_read_as_the_service_writes_them(headers: dict[str, str], expected: Told) -> None:
    """Of several limits the one that is used up most counts; one without a policy does not."""
    assert remaining_of(headers) == expected


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"ratelimit": '"default";r=50;t=30'},
        {"ratelimit-policy": POLICY},
        {"ratelimit": '"default";r=1201;t=30', "ratelimit-policy": POLICY},
        {"ratelimit": '"default";r=-1;t=30', "ratelimit-policy": POLICY},
        {"ratelimit": '"default";r=1.5;t=30', "ratelimit-policy": POLICY},
        {"ratelimit": '"default";r=NaN', "ratelimit-policy": POLICY},
        {"ratelimit": '"default";t=30', "ratelimit-policy": POLICY},
        {"ratelimit": '"default";r=0;t=30', "ratelimit-policy": '"default";q=0;w=300'},
        {"ratelimit": '"default";r=5;t=30', "ratelimit-policy": '"default";q=1200;w=0'},
        {"ratelimit": '"default";r=5;t=30', "ratelimit-policy": '"default";q=1200;w=999999999999'},
        {"ratelimit": '"other";r=5;t=30', "ratelimit-policy": POLICY},
        {"ratelimit": "50", "ratelimit-policy": "1200"},
    ],
)
def test_headers_that_nobody_can_reckon_with_say_nothing(headers: dict[str, str]) -> None:
    """Missing, malformed, or more remaining than the policy allows."""
    assert remaining_of(headers) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_header_breaks_the_reading(one: str, other: str) -> None:
    """Whatever stands there."""
    remaining_of({"ratelimit": one, "ratelimit-policy": other})
    remaining_of({"ratelimit": f'"default";r={one}', "ratelimit-policy": f'"default";q={other};w=1'})


@pytest.mark.parametrize(
    ("seen", "kept"),
    [
        (others(), 1.0),
        (others((0, said(12), 1188)), 1.0),
        (others((0, said(12), 948)), (1188 - 240) / 1188),
        (others((0, said(12), 474), (-5, said(20), 474)), (1188 - 240) / 1188),
        (others((0, said(60), 900)), (1188 - 240 + 4 * 48) / 1188),
        (others((0, said(1100), 20)), 1.0),
        (others((0, said(0), 0)), FLOOR),
        (others((0, said(12), 1500)), 1.0),
        (others((-300, said(0), 0)), 1.0),
        (others((0, said(50, 30, 100, 60), 25)), ((50 - 2) / 30 - 25 / 30) / TERMS.rate),
        (others((-31, said(50, 30, 100, 60), 25)), 1.0),
    ],
    ids=[
        "nothing known",
        "all is ours",
        "a fifth is not",
        "two processes",
        "much is free",
        "hardly anything used",
        "all is theirs",
        "counted otherwise",
        "a window ago",
        "a window that begins anew",
        "which has begun anew",
    ],
)
def test_as_much_is_kept_as_others_leave(seen: Others, kept: float) -> None:
    """What was used and was not used by any process, others have used."""
    assert keep(seen, NOW, TERMS) == pytest.approx(kept)


@given(
    st.lists(
        st.tuples(
            st.floats(-1000, 0),
            st.builds(
                lambda limit, window, left, reset: Told(
                    limit=limit, window=window, remaining=int(left * limit), reset=reset * window
                ),
                st.integers(1, 10**9),
                st.floats(0.1, 86_400),
                st.floats(0, 1),
                st.floats(0, 2),
            ),
            st.integers(0, 10**9),
        ),
        max_size=5,
    )
)
def test_what_is_kept_is_a_part(reports: list[tuple[float, Told, int]]) -> None:
    """Whatever anybody reports: never less than the floor, never more than all."""
    assert FLOOR <= keep(others(*reports), NOW, TERMS) <= 1


def test_an_older_report_never_replaces_a_newer_one() -> None:
    """Requests overtake each other; and what was seen a window ago is forgotten."""
    found = reported(Others(), NOW, "one", Seen(told=said(10), own=5, ago=1))
    assert reported(found, NOW + 1, "one", Seen(told=said(90), own=1, ago=30)) == found
    assert reported(found, NOW + 1, "two", None) == found
    assert reported(found, NOW + 300, "two", None) == Others()
    assert reported(Others(), NOW, "one", Seen(told=said(10), own=5, ago=301)) == Others()


def test_calls_get_fewer_as_less_remains_and_stop_where_nothing_does() -> None:
    """All slots while the reserve is there, half at half of it, none without; own calls since then count."""
    window = Window()
    assert window.share(0.0) == 1.0
    window.spent(99.0)
    for remaining, share in ((12, 1.0), (6, 0.5), (0, 0.0)):
        window.hear(said(remaining), 100.0)
        assert window.share(100.0) == pytest.approx(share)
    window.hear(said(9), 100.0)
    for moment in (100.1, 100.2, 100.3):
        window.spent(moment)
    assert window.share(100.3) == pytest.approx(0.5, abs=0.02)


def test_a_process_that_stopped_tries_again() -> None:
    """Where it hears no more since it calls no more, it takes a call for possible after a while; in a window
    that begins anew not before that.
    """
    window = Window()
    window.hear(said(0), 100.0)
    assert window.share(101.0) < 0.1
    assert window.share(130.0) == 1.0
    window.hear(said(0, reset=60), 200.0)
    assert window.share(259.0) == 0.0
    assert window.share(260.0) == 1.0


def test_an_answer_that_comes_late_says_nothing_new() -> None:
    """An answer to an earlier call than the last one heard of is not believed, whatever remained then."""
    window = Window()
    window.hear(said(3), 100.0)
    window.hear(said(900), 99.0)
    found = window.seen(101.0)
    assert found is not None and (found.told.remaining, found.ago) == (3, 1.0)


def test_own_calls_are_those_of_the_time_that_was_counted() -> None:
    """A window that rolls counts the last five minutes; one that begins anew what has passed of it. What is
    remembered does not grow without end.
    """
    window = Window()
    for second in range(2000):
        window.spent(float(second))
        window.hear(said(100), float(second))
    found: Any = window.seen(1999.0)
    assert found.own == 300
    window.hear(said(100, reset=200), 1999.0)
    found = window.seen(1999.0)
    assert found.own == 100
    assert len(window._made) < 1500

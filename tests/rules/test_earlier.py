"""What was sent before a request, and what of it has used up what people signed: one rule for the door and
for the verifier of audit files.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from edgeshift.authority.earlier import Effective, SentStep, earlier_than

AT = datetime(2024, 2, 1, 9, 30, 0, 500_000, tzinfo=UTC)
ASKED = SentStep("commit", 3, "d", "f")
COMMIT = SentStep("commit", 1, "d", "f", "run")
BACK = SentStep("roll_back", 1, "d", "f", "run")


def after(minutes: float) -> datetime:
    """So long after the first commit."""
    return AT + timedelta(minutes=minutes)


def test_the_attempt_before_began_with_the_first_that_it_sent() -> None:
    """The last of the attempts before counts, by the first of its requests; an attempt of another run by
    itself, and the one that is asked for not at all.
    """
    second = SentStep("validate", 2, "other", "other", "run")
    sent = [(COMMIT, after(0)), (second, after(9)), (second, after(5)), (ASKED, after(20))]
    assert earlier_than(ASKED, sent, ()).begun == after(5)
    again = SentStep("validate", 2, "other", "other", "run of later")
    assert earlier_than(ASKED, [*sent, (again, after(12))], ()).begun == after(12)
    assert earlier_than(COMMIT, sent, ()).begun is None


def test_runs_under_one_signed_start_are_one() -> None:
    """Whoever can send Temporal messages names any run: neither does a request of an earlier attempt under
    another one begin that attempt anew, nor is the same sent again more often by it.
    """
    runs = [SentStep("commit", 1, "d", "f", name, "start") for name in ("run", "x", "y")]
    asked = SentStep("commit", 2, "d", "f", "run", "start")
    assert earlier_than(asked, [(runs[0], after(0)), (runs[1], after(12))], ()).begun == after(0)
    alike = [Effective(one, after(minute), seen=True) for minute, one in enumerate(runs)]
    assert earlier_than(runs[0], (), alike[:1], resends=1).used == {}
    assert earlier_than(runs[0], (), alike, resends=1).used == {1: after(2)}


def test_alike_is_the_same_change_and_its_way_back() -> None:
    """By its digest or its fingerprint; another step of the same body is none of it."""
    assert ASKED.is_alike(COMMIT) and ASKED.is_alike(BACK)
    assert ASKED.is_alike(SentStep("commit", 1, None, "f")) and ASKED.is_alike(
        SentStep("commit", 1, "d", None)
    )
    assert not ASKED.is_alike(SentStep("commit", 1, "other", "other"))
    assert not ASKED.is_alike(SentStep("validate", 1, "d", "f"))


def test_what_was_taken_back_or_signed_as_ended_is_used_since() -> None:
    """Until the last of these moments; what was sent after it, and what had no end, uses nothing."""
    assert earlier_than(ASKED, (), [Effective(COMMIT, AT)]).used == {}
    taken = [Effective(COMMIT, AT), Effective(BACK, after(4)), Effective(BACK, after(-4))]
    assert earlier_than(ASKED, (), taken).used == {1: after(4)}
    ended = [after(-1), AT.replace(microsecond=0), after(7)]
    assert earlier_than(ASKED, (), [*taken, Effective(COMMIT, AT, ended)]).used == {1: after(7)}
    assert earlier_than(ASKED, (), [Effective(COMMIT, AT, ended[:1])]).used == {}
    in_its_second = earlier_than(ASKED, (), [Effective(COMMIT, AT, ended[:2])])
    assert in_its_second.used == {1: AT.replace(microsecond=0)}


def test_what_was_seen_to_its_end_is_used_beyond_what_may_be_sent_again() -> None:
    """Of each attempt by itself: within ``resends`` nobody may have been able to tell."""
    seen = [
        Effective(COMMIT, AT, seen=True),
        Effective(SentStep("commit", 2, "d", "f", "run"), AT, seen=True),
    ]
    assert earlier_than(ASKED, (), seen, resends=1).used == {}
    assert earlier_than(ASKED, (), seen, resends=0).used == {1: AT, 2: AT}
    more = [*seen, Effective(COMMIT, after(3), seen=True)]
    assert earlier_than(ASKED, (), more, resends=1).used == {1: after(3)}
    unseen = [*seen, Effective(COMMIT, after(3))]
    assert earlier_than(ASKED, (), unseen, resends=1).used == {}

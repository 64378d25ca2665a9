"""What follows from a reading of a scope's Edge Side Code, and which scopes come too late."""

from datetime import UTC, datetime, timedelta

import pytest

from edgeshift.areas import esc
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.esc.sendable import sendable
from edgeshift.areas.esc.terms import EscSpec, ProbeSpec
from edgeshift.model.fleet import Plan, ScopeKind, Wave, Zone
from edgeshift.profiles import SPECIFICATION

REMOVED_AT = datetime(2024, 1, 1, tzinfo=UTC)
BEFORE = datetime(2023, 10, 1, tzinfo=UTC)
TERMS = EscSpec(probe=ProbeSpec(sample=10, rounds=2, per_second=4), observe=timedelta(hours=1))


def zone(number: int, covers: int = 1) -> Zone:
    kind = ScopeKind.ACCOUNT if covers > 1 else ScopeKind.ZONE
    return Zone(
        id=f"{number:032x}",
        name=f"zone{number}.example",
        account="a" * 32,
        plan=Plan.ENTERPRISE,
        kind=kind,
        covers=covers,
    )


def one_wave(count: int) -> list[Wave]:
    return [Wave(number=0, name="all", first=0, end=count)]


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        (None, esc.Secret.NONE),
        ("", esc.Secret.NONE),
        ("hunter2", esc.Secret.OWN),
        ("edgeshift-abc", esc.Secret.TEST),
    ],
)
def test_a_secret_is_told_by_how_it_begins(secret: str | None, expected: esc.Secret) -> None:
    """What edgeshift made is known from what a customer set."""
    assert esc.whose(secret) is expected


def test_a_scope_that_is_off_already_needs_nothing() -> None:
    """``always`` that somebody has set is left as it is."""
    assert esc.assess(esc.Reading(always=True), BEFORE, SPECIFICATION).verdict is Verdict.ALREADY_SETTLED


def test_an_own_secret_is_warned_of_and_used() -> None:
    """Whoever signs knows that a roll-back may cost the customer's own secret."""
    found = esc.assess(esc.Reading(secret=esc.Secret.OWN), BEFORE, SPECIFICATION)
    assert found.verdict is Verdict.READY
    assert "secret of its own" in found.warnings[0]


def test_a_secret_that_cannot_be_sent_blocks_a_scope_that_is_on() -> None:
    """Nothing could be probed; one that is off already needs no probe. It is no part of the state."""
    odd = esc.Reading(secret=esc.Secret.OWN, sendable=False)
    found = esc.assess(odd, BEFORE, SPECIFICATION)
    assert (found.verdict, found.causes) == (Verdict.BLOCKED, ("secret_not_sendable",))
    assert "cannot be sent as a cookie" in found.reasons[0] and "1,000" in found.reasons[0]
    off = odd.model_copy(update={"always": True})
    assert esc.assess(off, BEFORE, SPECIFICATION).verdict is Verdict.ALREADY_SETTLED
    assert esc.state(odd) == esc.state(esc.Reading(secret=esc.Secret.OWN))
    assert esc.Reading.model_validate_json(odd.model_dump_json()) == odd
    assert "sendable" not in esc.Reading().model_dump_json()


@pytest.mark.parametrize(
    ("secret", "right"),
    [
        ("hunter2", True),
        ("a=b&c/d+e~", True),
        ("x" * 1_000, True),
        ("x" * 1_001, False),
        ("blue moon", False),
        ("semi;colon", False),
        ('quo"te', False),
        ("com,ma", False),
        ("back\\slash", False),
        ("ümlaut", False),
        ("line\n", False),
        ("", False),
    ],
)
def test_what_a_cookie_can_carry(secret: str, right: bool) -> None:
    """ASCII letters, digits and signs, as RFC 6265 lets a cookie's value have them."""
    assert sendable(secret) is right


@pytest.mark.parametrize(
    ("now", "blocked"),
    [
        (REMOVED_AT - timedelta(seconds=1), False),
        (REMOVED_AT, True),
        (REMOVED_AT + timedelta(days=900), True),
    ],
)
def test_past_the_removal_date_everything_is_refused(now: datetime, blocked: bool) -> None:
    """The second of the removal date itself is too late."""
    found = esc.assess(esc.Reading(), now, SPECIFICATION)
    assert (found.verdict is Verdict.BLOCKED) is blocked
    assert bool(esc.too_late(now, SPECIFICATION)) is blocked
    if blocked:
        assert "removed on 2024-01-01" in found.reasons[0]


def test_what_changes_between_reading_and_sending_is_seen_in_the_state() -> None:
    """Status, secret and the zones of an account are compared; the time is not."""
    states = {
        str(esc.state(reading))
        for reading in (
            esc.Reading(),
            esc.Reading(always=True),
            esc.Reading(secret=esc.Secret.OWN),
            esc.Reading(secret=esc.Secret.TEST),
            esc.Reading(covered="b" * 64),
        )
    }
    assert len(states) == 5


def test_nobody_is_late_while_there_is_time() -> None:
    """A hundred zones in an hour or two, with three months left."""
    targets = [zone(number) for number in range(100)]
    assert esc.late(targets, one_wave(100), TERMS, 20, 3.6, BEFORE, SPECIFICATION) == {}


def test_the_scopes_that_come_too_late_are_named_from_the_end() -> None:
    """Those at the end of the list are late first, and the time at which they could be done is told."""
    targets = [zone(number) for number in range(1000)]
    now = REMOVED_AT - timedelta(hours=1, minutes=20)
    found = esc.late(targets, one_wave(1000), TERMS, 20, 3.6, now, SPECIFICATION)
    assert found
    assert min(found) > 0
    assert set(found) == set(range(min(found), 1000))
    assert all(moment >= REMOVED_AT for moment in found.values())


def test_a_later_wave_waits_until_the_one_before_was_watched() -> None:
    """The window of observation of each wave comes before the next begins."""
    targets = [zone(number) for number in range(2)]
    waves = [Wave(number=0, name="a", first=0, end=1), Wave(number=1, name="b", first=1, end=2)]
    now = REMOVED_AT - timedelta(minutes=90)
    assert esc.late(targets, one_wave(2), TERMS, 20, 3.6, now, SPECIFICATION) == {}
    assert set(esc.late(targets, waves, TERMS, 20, 3.6, now, SPECIFICATION)) == {1}


def test_an_account_takes_the_time_of_all_its_zones() -> None:
    """What an account covers counts against the window and against the pace."""
    now = REMOVED_AT - timedelta(hours=1, minutes=3)
    assert esc.late([zone(1)], one_wave(1), TERMS, 20, 3.6, now, SPECIFICATION) == {}
    assert set(esc.late([zone(1, covers=500)], one_wave(1), TERMS, 500, 3.6, now, SPECIFICATION)) == {0}


def test_the_body_that_is_signed_names_scope_and_coverage() -> None:
    """A zone and an account never share a proposal."""
    probe: dict[str, object] = {"differences": []}
    assert esc.body(zone(1), probe) != esc.body(zone(1, covers=3), probe)
    assert esc.body(zone(1), probe)["change"] == {"always": True}

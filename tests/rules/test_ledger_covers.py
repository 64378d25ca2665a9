"""Targets that stand for several zones count as many in window, permits and failures."""

from datetime import UTC, datetime, timedelta

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.packing import as_text, pack_numbers
from edgeshift.campaign.target_states import FAILURES, IN_FLIGHT, TargetState

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def ledger(covers: list[int]) -> Ledger:
    return Ledger(len(covers), EPOCH, timedelta(hours=1), as_text(pack_numbers(covers)))


def test_an_account_counts_every_zone_that_it_covers() -> None:
    """Five zones in flight are five, also when they are one target."""
    found = ledger([5, 1, 7])
    found.begin(0)
    assert found.zones(*IN_FLIGHT) == 5
    assert found.number(*IN_FLIGHT) == 1
    found.begin(1)
    assert found.zones(*IN_FLIGHT) == 6


def test_only_what_fits_into_the_window_is_taken() -> None:
    """The order stays: a large target is not newer_attempts by small ones behind it."""
    found = ledger([2, 5, 1, 1])
    pending = list(found.indexes(TargetState.PENDING))
    assert found.within(pending, 1, 25) == []
    assert found.within(pending, 2, 25) == [0]
    assert found.within(pending, 6, 25) == [0]
    assert found.within(pending, 7, 25) == [0, 1]
    assert found.within(pending, 100, 3) == [0, 1, 2]
    assert found.within(pending, -3, 25) == []


def test_without_accounts_every_target_is_one_zone() -> None:
    """Nothing is carried for campaigns of zones."""
    found = Ledger(3, EPOCH, timedelta(hours=1))
    assert found.within(range(3), 2, 25) == [0, 1]
    assert found.covered(2) == 1


def test_a_failed_account_counts_as_its_zones_failed() -> None:
    """Later waves wait as if each of its zones had failed; so does one that was rolled back."""
    found = ledger([4, 2, 1])
    found.places[0], found.places[1], found.places[2] = (
        TargetState.FAILED,
        TargetState.ROLLED_BACK,
        TargetState.SETTLED,
    )
    assert found.zones(*FAILURES) == 6

"""What a campaign publishes stays small, whatever its size: each time it goes into the history."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from edgeshift.areas import area_of
from edgeshift.campaign.attempts import MOST_NAMED
from edgeshift.campaign.book import DecidingWord
from edgeshift.campaign.call_holds import CallHolds
from edgeshift.campaign.callers import TargetCallers
from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import MOST_TOLD_WRONG, Callers, Comparison, Person, Step, ToldWrong
from edgeshift.model.fleet import Area, Wave, ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.rate_limit.circuit import Trouble, held
from edgeshift.views.approvals import approvals_so_far
from edgeshift.views.figures import Pace
from edgeshift.views.live import campaign_view
from tests.rules.ledger_kit import FORTNIGHT, NOW
from workflows.campaign.batches import MOST_HOLDS
from workflows.campaign.summary import MOST_PUBLISHED, MOST_WAITING, published, summary

COUNT, SHAPES = 20_000, 2_000
WAVES = tuple(Wave(number=n, name=f"wave {n}", first=n * 1_000, end=n * 1_000 + 1_000) for n in range(20))
WRONG = [
    ToldWrong(index=n, told=ZoneOutcome.MIGRATED, shown=ZoneOutcome.UNKNOWN, said="s" * 200)
    for n in range(MOST_TOLD_WRONG)
]


def full() -> Any:
    """A campaign of 20 waves of which every list is full."""
    ledger = Ledger(COUNT, NOW, FORTNIGHT / 100, waves=WAVES)
    for number in range(SHAPES):
        ledger.know(f"{number:064x}", Step.COMMIT)
        word = DecidingWord(Choice.APPROVE, "ann", ledger.book.kept("w" * 500), NOW)
        ledger.book.record(f"{number:064x}", None, word)
    for index in range(COUNT):
        ledger.propose(index, index % SHAPES + 1)
        ledger.places[index] = list(TargetState)[index % 20] if index % 2 else TargetState.AWAITING
    for index in range(0, COUNT, 20):
        ledger.exclude(index, "x" * 500)
    start = SimpleNamespace(
        name="c",
        area=Area.WAF,
        waves=WAVES,
        time_scale=1.0,
        count=COUNT,
        started_by="olga",
        targets="0" * 64,
        spec="0" * 64,
        archive="0" * 32,
        window=100,
        grows_by=None,
        advance_failures=0,
    )
    holds = (held(Trouble.REFUSED, "s" * 999, NOW, "env:EDGE_TOKEN"),) * MOST_HOLDS
    callers = TargetCallers(Callers(), COUNT)
    return SimpleNamespace(
        ledger=ledger,
        start=start,
        aborted=None,
        paused=Person(by="ann", reason="w" * 500),
        stopped_at=NOW,
        calls=CallHolds(ledger, callers, holds),
        callers=callers,
        notes=["n" * 240] * 20,
        retrying=[],
        told_wrong=WRONG,
        wrong=10 * len(WRONG),
        compared=Comparison(outcomes=COUNT, read=20, wrong=len(WRONG)),
        pausing=0,
        wave=19,
        started_at=NOW,
        closed=False,
        stands_still=True,
        halted="",
        failures=0,
        area=area_of(Area.WAF),
    )


def test_what_is_published_is_bounded_where_every_list_is_full() -> None:
    """Tens of kilobytes, of which the counts are exact; the query has all."""
    state = full()
    found, whole = published(state, NOW), summary(state, NOW)
    assert len(found.model_dump_json()) < 32_000 < len(whole.model_dump_json())
    assert (len(found.told_wrong), len(whole.told_wrong), found.wrong) == (20, MOST_TOLD_WRONG, whole.wrong)
    assert (found.places, found.waves, found.open_runs) == (whole.places, whole.waves, whole.open_runs)
    assert found.fingerprints_waiting == whole.fingerprints_waiting > MOST_PUBLISHED
    assert found.waiting == whole.waiting[:MOST_PUBLISHED] and found.book == whole.book[-len(found.book) :]
    assert not found.begun_again
    state.ledger.attempts[COUNT - 1] = 2
    assert published(state, NOW).begun_again and summary(state, NOW).begun_again


@pytest.mark.parametrize("choice", list(Choice))
def test_what_is_published_is_bounded_whoever_decides(choice: Choice) -> None:
    """1,250 people with the longest names, on one fingerprint: a few are shown, and how many there are. An
    answer holds as many as there may be on every fingerprint.
    """
    state = full()
    latest = f"{SHAPES - 1:064x}"
    for number in range(1_250):
        name = f"{number:05d}" + "\u6f22" * 195
        state.ledger.book.record(latest, None, DecidingWord(choice, name, "w" * 80, NOW))
    entry = published(state, NOW).book[-1]
    assert len(published(state, NOW).model_dump_json().encode()) < 100_000
    assert (entry.fingerprint, len(entry.decisions), entry.earlier) == (latest, 20, 1_231)
    for fingerprint in (f"{number:064x}" for number in range(SHAPES)):
        for number in range(10):
            name = f"{number:05d}" + "\u6f22" * 195
            state.ledger.book.record(fingerprint, None, DecidingWord(choice, name, "", NOW))
    assert len(summary(state, NOW).model_dump_json().encode()) < 1_900_000


def test_approvals_that_are_not_shown_are_counted() -> None:
    """Whoever asks who has approved a fingerprint is told of how many more."""
    state = full()
    for number in range(49):
        state.ledger.book.record(
            f"{SHAPES - 1:064x}", None, DecidingWord(Choice.APPROVE, f"p{number}", "", NOW)
        )
    said = approvals_so_far(published(state, NOW), f"{SHAPES - 1:064x}")
    assert said == "approved by p29, p30, p31 and 47 more"


def test_pictures_count_what_is_not_listed() -> None:
    """What is published, as `watch` shows it, and the answer, as `status` does: neither lists all that
    wait or were left out.
    """
    state = full()
    excluded, waiting = state.ledger.number(TargetState.EXCLUDED), len(set(state.ledger.waiters.numbers()))
    assert excluded > MOST_NAMED and waiting > MOST_WAITING
    for said, listed in ((published(state, NOW), 8), (summary(state, NOW), 50)):
        console = Console(width=200)
        with console.capture() as captured:
            console.print(campaign_view(said, Pace().progress(said, NOW), NOW, most_waiting=listed))
        shown = captured.get()
        assert f"… {waiting - listed:,} more fingerprints: " in shown
        assert f"{excluded:,} zones left out, such as" in shown

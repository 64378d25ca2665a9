"""What a campaign counts as its targets move is what a walk over all of them would find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.packing import as_text, pack_numbers
from edgeshift.campaign.target_states import AWAITING, FAILURES, FINAL, TargetState
from edgeshift.messages import ReportKind, Step
from edgeshift.model.fleet import Wave, ZoneOutcome
from edgeshift.model.sign_off import Choice, Decision, SignOffPolicy
from tests.rules.ledger_kit import FORTNIGHT, HOUR, NOW, OTHER, SHAPE, report, said

COUNT = 12
WAVES = (
    Wave(number=0, name="one", first=0, end=3),
    Wave(number=1, name="two", first=3, end=4),
    Wave(number=2, name="three", first=4, end=COUNT),
)
COVERS = [1, 5, 2, 1, 7, 1, 1, 3, 1, 1, 2, 1]
POLICY = SignOffPolicy(approvers=("ann", "bob"))
THIRD = "c" * 64

INDEXES = st.integers(0, COUNT - 1)
SHAPES = st.sampled_from([SHAPE, OTHER, THIRD, "no digest"])
WAVE = st.sampled_from([None, 0, 1, 2])

Act = tuple[str, tuple[Any, ...]]

ACTS: st.SearchStrategy[Act] = st.one_of(
    st.tuples(st.just("begin"), st.tuples(INDEXES)),
    st.tuples(st.just("again"), st.tuples(INDEXES, st.booleans())),
    st.tuples(st.just("miss"), st.tuples(INDEXES)),
    st.tuples(st.just("exclude"), st.tuples(INDEXES)),
    st.tuples(st.just("finish"), st.tuples(INDEXES, st.sampled_from(ZoneOutcome))),
    st.tuples(st.just("stand_down"), st.tuples(INDEXES)),
    st.tuples(
        st.just("hear"),
        st.tuples(INDEXES, st.sampled_from(ReportKind), SHAPES, st.sampled_from(Step), st.booleans()),
    ),
    st.tuples(st.just("take_up"), st.tuples(INDEXES, st.integers(1, 4))),
    st.tuples(st.just("move"), st.tuples(INDEXES, st.sampled_from(TargetState))),
    st.tuples(st.just("permit"), st.tuples(INDEXES)),
    st.tuples(
        st.just("decide"),
        st.tuples(
            SHAPES.filter(lambda shape: len(shape) == 64),
            WAVE,
            st.sampled_from(Choice),
            st.sampled_from(["ann", "bob", "eve"]),
        ),
    ),
    st.tuples(st.just("accept"), st.tuples()),
    st.tuples(st.just("carry"), st.tuples()),
)


class Course:
    """A ledger to which anything may happen."""

    def __init__(self) -> None:
        self.ledger = self._new()
        self._numbers = count(1)

    def _new(self) -> Ledger:
        return Ledger(COUNT, NOW, FORTNIGHT / 100, as_text(pack_numbers(COVERS)), WAVES)

    def begin(self, index: int) -> None:
        if self.ledger.places[index] == TargetState.PENDING:
            self.ledger.begin(index)

    def again(self, index: int, named: bool) -> None:
        if self.ledger.places[index] >= TargetState.EXCLUDED:
            self.ledger.again(index, named=named)

    def miss(self, index: int) -> None:
        self.ledger.miss(index)

    def exclude(self, index: int) -> None:
        self.ledger.exclude(index, "taken")

    def finish(self, index: int, outcome: ZoneOutcome) -> None:
        self.ledger.finish(index, outcome)

    def stand_down(self, index: int) -> None:
        if self.ledger.places[index] == TargetState.PENDING:
            self.ledger.stand_down(index)

    def hear(self, index: int, kind: ReportKind, fingerprint: str, step: Step, joins: bool) -> None:
        attempt = self.ledger.attempts[index]
        word = report(
            next(self._numbers), kind, index, attempt, fingerprint=fingerprint, step=step, joins=joins
        )
        self.ledger.hear(word, NOW)
        self.ledger.apply_book([index], POLICY, "zoe", NOW)

    def take_up(self, index: int, attempt: int) -> None:
        self.ledger.take_up(index, attempt)

    def move(self, index: int, place: TargetState) -> None:
        self.ledger.places[index] = place

    def permit(self, index: int) -> None:
        self.ledger.permit(index, Step.COMMIT, "c", NOW + HOUR, lambda: next(self._numbers))

    def decide(self, fingerprint: str, wave: int | None, choice: Choice, by: str) -> None:
        before = self.ledger.number(*AWAITING)
        said(self.ledger, Decision(choice=choice, digest=fingerprint, by=by, at=NOW), wave=wave)
        moved = self.ledger.apply_to([fingerprint], POLICY, "zoe", NOW)
        assert moved == before - self.ledger.number(*AWAITING)
        # Nobody is left waiting whom the decision, looked at one by one, would have moved.
        self.ledger.apply_book(range(COUNT), POLICY, "zoe", NOW)
        assert before - self.ledger.number(*AWAITING) == moved

    def accept(self) -> None:
        self.ledger.accept_failures()

    def carry(self) -> None:
        carried = self._new()
        carried.unpack(self.ledger.packed())
        assert carried.packed() == self.ledger.packed()
        self.ledger = carried


def check(found: Ledger) -> None:
    """Every count, against a walk."""
    places = [TargetState(place) for place in found.places]
    everywhere = range(COUNT)
    for wave in (None, *WAVES):
        some = everywhere if wave is None else range(wave.first, wave.end)
        number = None if wave is None else wave.number
        counts = Counter(places[index] for index in some)
        assert found.tallies(number) == {
            place.name.lower(): counts[place] for place in TargetState if counts[place]
        }
        assert all(found.number(place, wave=number) == counts[place] for place in TargetState)
    for waves in range(len(WAVES)):
        end = WAVES[waves].end
        assert found.finished(waves + 1) == sum(place in FINAL for place in places[:end])
    assert found.finished() == sum(place in FINAL for place in places)
    assert found.open_runs() == sum(map(found.is_open, everywhere))
    for place in TargetState:
        assert found.zones(place) == sum(COVERS[index] for index in everywhere if places[index] is place)
        assert list(found.indexes(place)) == [index for index in everywhere if places[index] is place]
    failed = (index for index in everywhere if places[index] in FAILURES and index not in found.accepted)
    assert found.failures() == sum(COVERS[index] for index in failed)
    waiting: dict[tuple[int, int, int], list[int]] = {}
    for index in everywhere:
        if places[index] in AWAITING:
            waiting.setdefault(
                (found.group_numbers[index], found.places.wave_of(index), places[index]), []
            ).append(index)
    groups = [group for shape in found.waiters.numbers() for group, _ in found.waiters.groups(shape)]
    assert sorted(waiting) == groups
    assert all(found.waiters.members(group) == waiting[group] for group in groups)
    assert all(
        size == len(waiting[group])
        for shape in found.waiters.numbers()
        for group, size in found.waiters.groups(shape)
    )
    for index in everywhere:
        assert found.permits.of(index) == sorted(
            n for n, permit in found.permits.items() if permit.index == index
        )


@given(st.lists(ACTS, max_size=40))
def test_every_count_is_what_a_walk_over_all_finds(acts: list[Act]) -> None:
    """By place, wave and zones; who waits with what; permits by target; and after a continue-as-new too."""
    course = Course()
    for name, values in acts:
        act: Callable[..., None] = getattr(course, name)
        act(*values)
        check(course.ledger)


def test_a_group_is_known_by_its_first_target_that_waits_with_others() -> None:
    """One that waits for a sign-off of its own is an example only where there is no other."""
    course = Course()
    for index in range(COUNT):
        course.begin(index)
    course.hear(1, ReportKind.AWAITING, SHAPE, Step.COMMIT, False)
    waiters = course.ledger.waiters
    assert waiters.first(1) == 1
    course.hear(5, ReportKind.AWAITING, SHAPE, Step.COMMIT, True)
    assert (waiters.first(1), waiters.first(1, 0)) == (5, 1)

"""When a change is looked for: once it is due by what others took, then ever less often."""

from __future__ import annotations

import itertools
import math
import random
from statistics import mean, median

import pytest

from edgeshift.model.effect_times import AGREE, MOST_KEPT, SCOUTS, EffectTimes, Looks
from tests.rules.looks_kit import BEAT, LIMIT, Draw, played


def looked(looks: Looks, shows_at: float, *, learns: bool = True) -> list[float]:
    """When somebody looks for a change that shows at that time; the limit ends it."""
    found: list[float] = []
    while True:
        found.append(at := looks.due())
        if at >= shows_at:
            if learns:
                looks.showed(at)
            break
        looks.missed(at)
        if at >= looks.limit:
            break
    looks.end()
    return found


def of(times: EffectTimes, name: str, *, limit: float = LIMIT, soon: bool = False) -> Looks:
    """The looks for one target."""
    return Looks(times, name, beat=BEAT, limit=limit, soon=soon)


def test_who_knows_how_long_it_takes_looks_once() -> None:
    """Of a thousand changes that take as long as those before, hardly any is looked for twice, and none is
    found much later than it shows.
    """
    times = EffectTimes()
    looked(of(times, "first"), 300)
    looks = [looked(of(times, f"zone {number}"), 300) for number in range(1000)]
    assert mean(map(len, looks)) < 1.05
    assert mean(found[-1] for found in looks[100:]) < 300 * 1.15


@pytest.mark.parametrize("takes", [0.0, 3.0, 20.0, 300.0, 2000.0])
def test_many_that_begin_at_once_leave_the_looking_to_few(takes: float) -> None:
    """As long as nobody knows, some look early and the others wait for what those see."""
    times = EffectTimes()
    all_of_them = [of(times, f"zone {number}") for number in range(100)]
    due = [looks.due() for looks in all_of_them]
    assert sum(at < LIMIT / 12 for at in due) == SCOUTS
    assert not any(looks.is_certain for looks in all_of_them[SCOUTS:])
    looked(all_of_them[0], takes)
    rest = [looked(looks, takes) for looks in all_of_them[SCOUTS:]]
    assert mean(map(len, rest)) < 1.1


def test_where_nobody_has_seen_anything_they_do_not_look_all_at_once() -> None:
    """What waits for scouts in vain looks at times of its own, minutes apart."""
    times = EffectTimes(scouting=SCOUTS)
    first = sorted(of(times, f"zone {number}").due() for number in range(200))
    assert LIMIT / 12 <= first[0] < first[-1] <= LIMIT / 4
    assert max(later - sooner for sooner, later in itertools.pairwise(first)) < 60
    found = looked(of(times, "zone 7"), LIMIT * 2)
    assert len(found) < 15


@pytest.mark.parametrize("takes", [250.0, 700.0, 1500.0])
def test_the_median_follows_when_it_takes_longer_than_it_did(takes: float) -> None:
    """After as many as are remembered, it is looked for once again."""
    times = EffectTimes()
    for number in range(MOST_KEPT):
        looked(of(times, f"quick {number}"), 100)
    for number in range(3 * MOST_KEPT):
        looked(of(times, f"slow {number}"), takes)
    looks = [looked(of(times, f"zone {number}"), takes) for number in range(300)]
    assert mean(map(len, looks)) < 1.2


def test_what_takes_less_time_than_it_did_is_noticed() -> None:
    """A few are looked for early; where they are there, all that come after are looked for sooner."""
    times = EffectTimes()
    looked(of(times, "an outlier"), 3000)
    looks = [looked(of(times, f"zone {number}"), 300) for number in range(2000)]
    assert looks[-1][-1] < 300 * 1.6
    assert mean(map(len, looks)) < 1.1


def test_changes_that_take_different_times_are_first_looked_for_about_the_median() -> None:
    """And found soon after they show."""
    times, drawn = EffectTimes(), random.Random(7)
    taken = [drawn.uniform(200, 400) for _ in range(1000)]
    looks = [looked(of(times, f"zone {number}"), takes) for number, takes in enumerate(taken)]
    assert 240 < mean(found[0] for found in looks[50:]) < 400
    assert mean(map(len, looks)) < 2.2
    assert mean(found[-1] - takes for found, takes in zip(looks, taken, strict=True)) < 90


def spread(sigma: float) -> Draw:
    """Half of the changes take less than 300 seconds."""
    return lambda chance: 300 * math.exp(chance.gauss(0, sigma))


def in_two(chance: random.Random) -> float:
    """Most take two minutes, the others a quarter of an hour."""
    return 120.0 if chance.random() < 0.7 else 900.0


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("draw", "truly", "at_most", "late", "calls"),
    [
        (lambda _: 300.0, 300, 1.02, 20, 1.05),
        (spread(0.2), 300, 1.2, 60, 1.7),
        (spread(0.3), 300, 1.3, 85, 1.75),
        (spread(0.5), 300, 1.7, 150, 1.9),
        (in_two, 120, 1.2, 35, 2.6),
    ],
    ids=["constant", "0.2", "0.3", "0.5", "in two"],
)
def test_what_is_known_stays_at_the_median_of_times_that_differ(
    draw: Draw, truly: float, at_most: float, late: float, calls: float, seed: int
) -> None:
    """With many under way at a time, what is known does not climb, and changes are found soon."""
    found = played(draw, 3000, seed)
    known = found.known[300:]
    assert 0.9 * truly < median(known) < 1.2 * truly
    assert 0.8 * truly < min(known) and max(known) < at_most * truly
    assert mean(found.late) < late
    assert mean(found.calls) < calls


def test_how_long_zones_took_is_told_about_right() -> None:
    """The mean sizes a window, which has half as much room again."""
    found, chance = played(spread(0.3), 3000), random.Random(1)
    truly = mean(spread(0.3)(chance) for _ in range(3000))
    assert truly < mean(found.took) < 1.2 * truly


def test_no_look_by_itself_changes_what_is_known() -> None:
    """Neither one that finds its change early, nor one that finds it late."""
    times = EffectTimes()
    times.observe(None, 300)
    times.looked(150, True)
    times.looked(315, False)
    times.observe(600, 700, was_due_at=315)
    assert times.median == 300
    for _ in range(AGREE - 1):
        times.looked(150, True)
    assert times.median == 150


def test_who_is_looked_for_early_and_is_not_there_keeps_what_is_known() -> None:
    """As many as are there."""
    times = EffectTimes()
    times.observe(None, 300)
    for _ in range(10):
        times.looked(285, False)
        times.looked(285, True)
    assert times.median == 300


def test_of_what_other_workers_have_recorded_the_median_counts() -> None:
    """Whichever is read first."""
    times = EffectTimes()
    for seconds in (100, 320, 300, 310, 900):
        times.learn(seconds)
    assert times.median == 310


@pytest.mark.parametrize("known", [None, 0.0, 10.0, 300.0, 3599.0, 50_000.0])
@pytest.mark.parametrize("soon", [False, True])
def test_the_last_look_is_when_the_time_is_over(known: float | None, soon: bool) -> None:
    """Unchanged until the limit: somebody looks then, and not before alone; and the pauses never pass a
    twelfth of it once it is overdue.
    """
    times = EffectTimes()
    if known is not None:
        times.observe(None, known)
    for name in ("a", "b", "c", "d"):
        found = looked(of(times, name, soon=soon), LIMIT + 1, learns=False)
        assert found[-1] == LIMIT
        assert found == sorted(found)
        pauses = [later - sooner for sooner, later in itertools.pairwise(found)]
        assert all(pause <= max(LIMIT / 12, (known or 0) * 1.05) + 1e-6 for pause in pauses)
        assert all(pause >= BEAT / (2 * SCOUTS) for pause in pauses[1:-1])


def test_what_may_show_at_any_time_is_looked_for_at_once_and_teaches_nothing() -> None:
    """Nobody knows when, or whether, it was made."""
    times = EffectTimes()
    times.observe(None, 900)
    found = looked(of(times, "lost answer", soon=True), 120)
    assert found[0] == 0 and len(found) > 3
    assert times == EffectTimes(900, _told=[900])


def test_a_look_that_was_held_up_teaches_nothing() -> None:
    """Calls that stood still for an hour do not make migrations take an hour."""
    times = EffectTimes()
    looks = of(times, "held")
    looks.due()
    assert not looks.showed(3000)
    assert times.median is None


@pytest.mark.parametrize("known", [None, 300.0], ids=["nobody knows", "known"])
def test_how_long_a_change_took_is_without_what_its_look_waited_for(known: float | None) -> None:
    """One that was looked for an hour late, or was sent nobody knows when, took what others took."""
    times = EffectTimes()
    if known is not None:
        times.observe(None, known)
    held = of(times, "held")
    assert held.takes(held.due() + 3600) == known
    assert of(times, "lost answer", soon=True).takes(40) == known


def test_how_long_a_change_took_is_its_age_once_it_showed() -> None:
    """One that was there when it was due took no longer than is known; one that came later showed between
    two looks.
    """
    times = EffectTimes()
    first = of(times, "first")
    assert first.takes(first.due() + BEAT) == first.due() + BEAT
    times.observe(None, 300)
    looks = of(times, "later")
    at = looks.due()
    assert looks.takes(at) == 300 < at
    looks.missed(at)
    assert looks.takes(later := looks.due()) == (at + later) / 2 > at


def test_a_look_that_went_wrong_is_no_miss() -> None:
    """It may have shown by then: only a look that was answered says that it had not."""
    times = EffectTimes()
    times.observe(None, 300)
    looks = of(times, "unread")
    looks.failed(looks.due())
    assert looks.missed_at is None
    assert looks.due() > 300


@pytest.mark.parametrize("soon", [False, True], ids=["answered", "lost answer"])
@pytest.mark.parametrize("known", [None, 300.0], ids=["nobody knows", "known"])
def test_a_last_look_that_went_wrong_is_followed_by_one_in_time(known: float | None, soon: bool) -> None:
    """Whoever looks has four minutes more for that, and no pause of before would end within them."""
    times = EffectTimes()
    if known is not None:
        times.observe(None, known)
    looks = of(times, "unread at the end", soon=soon)
    while (at := looks.due()) < LIMIT:
        looks.missed(at)
    assert at == LIMIT
    looks.failed(at)
    assert LIMIT < looks.due() <= LIMIT + 120

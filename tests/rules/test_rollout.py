"""Waves: every target is in exactly one, and every shape of zone comes as early as it can."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from edgeshift.model.fleet import Plan, Zone
from edgeshift.model.rollout import WaveSpec, freeze, may_advance, plan_waves, stratified

SPECS = st.lists(
    st.one_of(
        st.builds(WaveSpec, zones=st.integers(1, 50)),
        st.builds(WaveSpec, percent=st.floats(0.01, 100)),
        st.builds(WaveSpec, name=st.sampled_from(["canary", "rest"])),
    ),
    max_size=6,
)


def zones(number: int, plan: Plan = Plan.PRO) -> list[Zone]:
    return [
        Zone(id=f"{place:032x}", name=f"z{place:05}.example", account="a" * 32, plan=plan)
        for place in range(number)
    ]


@given(SPECS, st.integers(0, 300))
def test_waves_partition_the_targets(specs: list[WaveSpec], total: int) -> None:
    """In order, without a gap or an overlap, none of them empty."""
    waves = plan_waves(specs, total)
    assert [wave.number for wave in waves] == list(range(len(waves)))
    assert [index for wave in waves for index in range(wave.first, wave.end)] == list(range(total))
    assert all(wave.size > 0 and wave.name for wave in waves)


@pytest.mark.parametrize(
    ("specs", "total", "sizes"),
    [
        ([], 10, [10]),
        ([WaveSpec(zones=3)], 10, [3, 7]),
        ([WaveSpec(zones=30)], 10, [10]),
        ([WaveSpec(percent=10), WaveSpec(percent=30), WaveSpec()], 120, [12, 36, 72]),
        ([WaveSpec(percent=1)], 10, [1, 9]),
        ([WaveSpec(percent=0.001)], 100_000, [1, 99_999]),
        ([WaveSpec(percent=50), WaveSpec(percent=50)], 10, [5, 5]),
        ([WaveSpec(percent=100)], 7, [7]),
        ([WaveSpec(zones=1), WaveSpec(percent=50), WaveSpec(zones=2)], 20, [1, 10, 2, 7]),
        ([WaveSpec(zones=5)], 0, []),
    ],
)
def test_sizes_and_percentages(specs: list[WaveSpec], total: int, sizes: list[int]) -> None:
    """A percentage is of all targets and at least one zone; what is left over is one more wave."""
    assert [wave.size for wave in plan_waves(specs, total)] == sizes


def test_waves_have_names() -> None:
    """Their own, or their number; the rest is the rest; a campaign without waves has one that is all."""
    waves = plan_waves([WaveSpec(name="canary", zones=1), WaveSpec(zones=1)], 5)
    assert [wave.name for wave in waves] == ["canary", "wave 2", "rest"]
    assert [wave.name for wave in plan_waves([], 5)] == ["all"]


@pytest.mark.parametrize(
    "wrong", [{"zones": 0}, {"zones": -1}, {"percent": 0}, {"percent": 101}, {"percent": "ten"}, {"size": 3}]
)
def test_a_malformed_wave_is_refused(wrong: dict[str, object]) -> None:
    """No zones, no percentage, more than everything, or a key that does not exist."""
    with pytest.raises(ValidationError):
        WaveSpec.model_validate(wrong)


SHAPES = st.lists(st.sampled_from("abcdefgh"), max_size=60)


@given(SHAPES)
def test_every_shape_comes_as_early_as_it_can(shapes: list[str]) -> None:
    """Of k shapes the first k zones show each once; and no shape has its n-th zone before every other has
    its n-th or has run out.
    """
    listed = zones(len(shapes))
    named = {zone.id: shape for zone, shape in zip(listed, shapes, strict=True)}
    order = [named[zone.id] for zone in stratified(listed, named)]
    assert Counter(order) == Counter(shapes)
    assert set(order[: len(set(shapes))]) == set(shapes)
    total, seen = Counter(shapes), Counter[str]()
    for shape in order:
        assert all(seen[other] >= min(seen[shape], total[other]) for other in total)
        seen[shape] += 1


@given(SHAPES)
def test_the_rarest_shape_is_first(shapes: list[str]) -> None:
    """So that a canary wave that is smaller than the number of shapes sees the rare ones."""
    listed = zones(len(shapes))
    named = {zone.id: shape for zone, shape in zip(listed, shapes, strict=True)}
    total = Counter(shapes)
    first = [named[zone.id] for zone in stratified(listed, named)][: len(total)]
    assert [total[shape] for shape in first] == sorted(total.values())


@given(st.permutations(range(12)), SHAPES.filter(lambda shapes: len(shapes) >= 12))
def test_the_order_does_not_depend_on_how_zones_were_listed(order: list[int], shapes: list[str]) -> None:
    """The service's pages may come in any order; the frozen list is the same, also where two zones share a
    name.
    """
    listed = zones(12)
    listed[3] = listed[3].model_copy(update={"name": listed[7].name})
    named = {zone.id: shape for zone, shape in zip(listed, shapes, strict=False)}
    assert stratified([listed[place] for place in order], named) == stratified(listed, named)


def test_without_an_assessment_the_plan_is_the_shape() -> None:
    """Before anything was read a zone is known by its plan alone."""
    listed = [*zones(5), Zone(id="f" * 32, name="zz.example", account="a" * 32, plan=Plan.ENTERPRISE)]
    assert [zone.plan for zone in stratified(listed, {})][:2] == [Plan.ENTERPRISE, Plan.PRO]


@given(SHAPES, SPECS)
def test_the_frozen_list_has_every_zone_once_in_its_wave(shapes: list[str], specs: list[WaveSpec]) -> None:
    """In the order of the waves."""
    listed = zones(len(shapes))
    named = {zone.id: shape for zone, shape in zip(listed, shapes, strict=True)}
    targets = freeze(listed, named, specs)
    assert sorted(target.zone.id for target in targets) == [zone.id for zone in listed]
    waves = plan_waves(specs, len(listed))
    for wave in waves:
        assert all(target.wave == wave.number for target in targets[wave.first : wave.end])


@pytest.mark.parametrize(
    ("finished", "started", "percent", "may"),
    [
        (0, 10, 100, False),
        (9, 10, 100, False),
        (10, 10, 100, True),
        (5, 10, 50, True),
        (4, 10, 50, False),
        (0, 0, 100, True),
    ],
)
def test_the_next_wave_waits_for_enough_outcomes(
    finished: int, started: int, percent: float, may: bool
) -> None:
    """Exactly at the percentage it may begin."""
    assert may_advance(finished, started, percent) is may

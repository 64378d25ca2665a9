"""Every family of cases. A family is a module with ``cases()``; adding one is adding it here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

from tests.harness.cases import Case
from tests.harness.families import (
    aimed,
    api,
    canaries,
    crowded,
    disturbances,
    kills,
    large,
    poison,
    refusals,
    seeds,
    unknown,
)
from tests.schedules import play as schedules

FAMILIES: tuple[Callable[[], list[Case]], ...] = (
    kills.cases,
    api.cases,
    disturbances.cases,
    aimed.cases,
    refusals.cases,
    large.cases,
    canaries.cases,
)


SEEDED: tuple[Callable[[int], list[Case]], ...] = (
    seeds.cases,
    unknown.cases,
    poison.cases,
    crowded.cases,
)
"""Families of random schedules: another seed of the run gives other ones."""

OTHER_SEEDS: tuple[Callable[[str], Case | None], ...] = (
    seeds.case_of,
    unknown.case_of,
    poison.case_of,
    crowded.case_of,
    schedules.case_of,
)
"""The case of an id of any seed, or None."""


@cache
def all_cases(seed: int = 1) -> tuple[Case, ...]:
    """The cases of the full run, by family, each once. ``seed``: of the run."""
    found = [case for cases in FAMILIES for case in cases()]
    found += [case for seeded in SEEDED for case in seeded(seed)]
    if twice := {one for one, times in Counter(case.id for case in found).items() if times > 1}:
        raise ValueError(f"cases with the same id: {', '.join(sorted(twice))}")
    return tuple(found)


def case_of(identifier: str) -> Case:
    """The case of an id, also of a seed that the full run has not. Raises ValueError for one that is none."""
    for known in OTHER_SEEDS:
        if (case := known(identifier)) is not None:
            return case
    for case in all_cases():
        if case.id == identifier:
            return case
    raise ValueError(f"there is no case {identifier!r}; `python -m tests.harness list` shows them all")

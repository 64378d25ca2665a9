"""Every family of cases. A family is a module with ``cases()``; adding one is adding it here."""

from __future__ import annotations

from collections.abc import Callable

from tests.harness import family_seeds
from tests.harness.cases import Case

FAMILIES: tuple[Callable[[], list[Case]], ...] = (family_seeds.cases,)


def all_cases() -> list[Case]:
    """The cases of the full run, by family, each once."""
    found = [case for cases in FAMILIES for case in cases()]
    ids = [case.id for case in found]
    if twice := {one for one in ids if ids.count(one) > 1}:
        raise ValueError(f"cases with the same id: {', '.join(sorted(twice))}")
    return found


def case_of(identifier: str) -> Case:
    """The case of an id, also of a seed that the full run has not. Raises ValueError for one that is none."""
    for case in all_cases():
        if case.id == identifier:
            return case
    if (seeded := family_seeds.case_of(identifier)) is not None:
        return seeded
    raise ValueError(f"there is no case {identifier!r}; `python -m tests.harness list` shows them all")

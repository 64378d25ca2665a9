"""Every mutant there is."""

from __future__ import annotations

from tests.mutants.contents import CONTENTS
from tests.mutants.door import AT_THE_DOOR
from tests.mutants.mutant import Mutant
from tests.mutants.reversible import REVERSIBLE
from tests.mutants.sending import SENDING
from tests.mutants.steering import STEERING
from tests.mutants.told import TOLD

MUTANTS: tuple[Mutant, ...] = (*SENDING, *CONTENTS, *STEERING, *REVERSIBLE, *AT_THE_DOOR, *TOLD)


def mutant_of(name: str) -> Mutant:
    """The mutant of a name. Raises ValueError."""
    for one in MUTANTS:
        if one.name == name:
            return one
    raise ValueError(f"there is no mutant {name!r}; there are {', '.join(one.name for one in MUTANTS)}")

"""Whose word counts in the cases of the harness: by the roots of their workers, each with a policy of its
own.

All but few cases have roots, so that every commit goes by the door; the people of each sign with keys of
their own. The others are rehearsals without roots, as any worker on this machine may run them: there names
count.
"""

from __future__ import annotations

import random

from tests.kit import APPROVER
from tests.kit.signing import Roster

ONE = Roster()
"""One approver is enough, who has not started the campaign. Others have keys and may not approve."""

TWO = Roster(approvers=(APPROVER, "bob"), required=2)
"""Two have to approve."""

FOUR_EYES = Roster(four_eyes=True)
"""Nobody who has started the campaign may approve."""

BOTH = Roster(approvers=(APPROVER, "bob"), required=2, four_eyes=True)

ROSTERS: tuple[Roster | None, ...] = (ONE, ONE, ONE, ONE, ONE, TWO, TWO, FOUR_EYES, FOUR_EYES, BOTH, None)
"""Each as often as it is drawn."""


def roster_in(seed: str) -> Roster | None:
    """Whose word counts in a case or a campaign; None: names do, in one of eleven."""
    return random.Random(f"{seed}/authority").choice(ROSTERS)

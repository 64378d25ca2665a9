"""Which forgeries are tried against a running campaign, and when: a fixed list for each area, which has every
kind against a zone that waits for people, and those that need none in every other phase as well.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.forgeries.running.kinds import KINDS


class Phase(StrEnum):
    """Where a campaign is when it is attacked."""

    WAITING = "waiting"
    """Its zones wait for people."""
    PAUSED = "paused"
    """It is paused by a signed word; one zone has every signature that it needs."""
    VALIDATING = "validating"
    """A zone is in its validation window. Only waf has one."""
    COMMITTING = "committing"
    """People have signed, and its zones are changed."""
    CHANGED = "changed"
    """Some zones are changed, and one of esc was taken back; another waits."""
    ABORTED = "aborted"
    """It was ended by a signed word."""
    CLOSED = "closed"
    """Every zone is changed, and it has closed."""


PHASES: Mapping[str, tuple[Phase, ...]] = {
    "waf": tuple(Phase),
    "esc": tuple(phase for phase in Phase if phase is not Phase.VALIDATING),
    "log-fields": tuple(phase for phase in Phase if phase is not Phase.VALIDATING),
}
"""The phases of a campaign of each area."""

AREAS = tuple(PHASES)


AGAINST_WAITING = 2 / 3


@dataclass(frozen=True)
class Try:
    """One forgery, in one phase."""

    kind: str
    phase: Phase


def kinds_of(area: str) -> list[str]:
    """The kinds that are tried against campaigns of an area."""
    return [name for name, kind in KINDS.items() if area in kind.areas]


def whole(area: str) -> list[Try]:
    """Every kind in every phase that it is for."""
    names = kinds_of(area)
    beside = [name for name in names if KINDS[name].beside]
    others = [phase for phase in PHASES[area] if phase is not Phase.WAITING]
    return [Try(name, Phase.WAITING) for name in names] + [
        Try(name, phase) for phase in others for name in beside
    ]


def some(area: str, count: int, seed: object) -> list[Try]:
    """So many of them: two of three against a waiting zone, up to each kind once; then each phase as often as
    any other, with kinds by chance; and from the beginning again.
    """
    chance, names = random.Random(f"{seed}/{area}"), kinds_of(area)
    found: list[Try] = []
    while len(found) < count:
        left = count - len(found)
        chance.shuffle(names)
        found += [Try(name, Phase.WAITING) for name in names[: math.ceil(left * AGAINST_WAITING)]]
        by_phase: defaultdict[Phase, list[Try]] = defaultdict(list)
        for one in whole(area):
            if one.phase is not Phase.WAITING:
                by_phase[one.phase].append(one)
        for mine in by_phase.values():
            chance.shuffle(mine)
        rows: Iterable[Sequence[Try]] = zip(*by_phase.values(), strict=True)
        found += [one for row in rows for one in row][: max(0, count - len(found))]
    return found

"""What came of a case, as JSON, and added up over cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field


class Verdict(BaseModel):
    """What the oracles and the checkers say of one case, or of several.

    ``zone_schedules``: zones that were played. ``lost_zones``: frozen targets without an outcome, or with
    one that the service contradicts. ``unknown_met``: mutating calls whose answer said nothing for certain,
    by the journal; ``unknown_resolved``: those of zones that ended without a person. ``outcomes``: how many
    zones ended how. ``not_final``: "zone: outcome, reason" of each zone that waits for a person. ``faults``:
    what was met, by kind, deaths of workers and disturbances too. ``complaints``: empty where all is well.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    zone_schedules: int = 0
    unsigned_commits: int = 0
    double_commits: int = 0
    lost_zones: int = 0
    unknown_met: int = 0
    unknown_resolved: int = 0
    outcomes: dict[str, int] = Field(default_factory=dict)
    not_final: list[str] = Field(default_factory=list)
    complaints: list[str] = Field(default_factory=list)
    faults: dict[str, int] = Field(default_factory=dict)
    seconds: float = 0.0

    def __add__(self, other: Verdict) -> Verdict:
        """Both together."""
        return added([self, other])


def added(verdicts: Iterable[Verdict]) -> Verdict:
    """All of them together; none is an empty one."""
    listed = list(verdicts)
    return Verdict(
        zone_schedules=sum(one.zone_schedules for one in listed),
        unsigned_commits=sum(one.unsigned_commits for one in listed),
        double_commits=sum(one.double_commits for one in listed),
        lost_zones=sum(one.lost_zones for one in listed),
        unknown_met=sum(one.unknown_met for one in listed),
        unknown_resolved=sum(one.unknown_resolved for one in listed),
        outcomes=_summed(one.outcomes for one in listed),
        not_final=[text for one in listed for text in one.not_final],
        complaints=[text for one in listed for text in one.complaints],
        faults=_summed(one.faults for one in listed),
        seconds=sum(one.seconds for one in listed),
    )


def _summed(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items()))

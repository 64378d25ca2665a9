"""How a campaign rolls out: waves, and the order of the targets in them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field, model_validator

from edgeshift.model.fleet import Target, Wave, Zone
from edgeshift.model.validators import NUMBER, Part, Trouble

REST = "rest"
"""The name of the wave of all zones that the waves of a file leave over."""


def wave_begins(name: str) -> str:
    """What a campaign notes when its next wave begins; whoever shows that otherwise leaves the note out."""
    return f"wave {name!r} begins"


class WaveSpec(Part):
    """One wave as a person writes it: a number of zones or a percentage of all; the last one may say
    neither.
    """

    name: str = Field(default="", description="What the wave is called; empty: wave 1, wave 2 and so on.")
    zones: Annotated[int, Field(ge=1), NUMBER] | None = Field(
        default=None, description="How many zones the wave takes."
    )
    percent: Annotated[float, Field(gt=0, le=100), NUMBER] | None = Field(
        default=None, description="Which percentage of all targets it takes, in place of zones."
    )

    @model_validator(mode="after")
    def _one_size(self) -> WaveSpec:
        if self.zones is not None and self.percent is not None:
            raise ValueError("has both zones and percent; keep one")
        return self

    @property
    def takes_rest(self) -> bool:
        """Whether it takes all that is left."""
        return self.zones is None and self.percent is None

    def size(self, total: int) -> int:
        """How many of ``total`` zones the wave takes at most; at least one."""
        if self.zones is not None:
            return self.zones
        return max(1, round(total * self.percent / 100)) if self.percent is not None else total


def wave_troubles(waves: Sequence[WaveSpec]) -> Iterator[Trouble]:
    """What is wrong with the waves together: one before the last that takes all the rest, more than 100
    percent.
    """
    total = 0.0
    for index, wave in enumerate(waves):
        if wave.takes_rest and index < len(waves) - 1:
            yield (index,), "has neither zones nor percent; only the last wave may take all the rest"
        total += wave.percent or 0
        if wave.percent is not None and total > 100.000001:
            yield (index, "percent"), f"the waves sum up to {total:g} percent; at most 100 can be given"
            total = 0.0


def plan_waves(specs: Sequence[WaveSpec], total: int) -> list[Wave]:
    """The waves over ``total`` targets. What the specs leave over becomes one last wave; empty waves are left
    out.
    """
    waves: list[Wave] = []
    first = 0
    for spec in [*specs, WaveSpec(name=REST)]:
        end = min(total, first + spec.size(total))
        if end > first:
            name = spec.name or f"wave {len(waves) + 1}"
            waves.append(Wave(number=len(waves), name=name, first=first, end=end))
        first = end
    if len(waves) == 1 and not specs:
        waves = [waves[0].model_copy(update={"name": "all"})]
    return waves


def stratified(zones: Sequence[Zone], group_of: Mapping[str, str]) -> list[Zone]:
    """The zones in an order in which every group comes as early as it can, the rarest first.

    ``group_of``: a zone's group by its id (its fingerprint, where an assessment knows it; else its plan). The
    first zone of each group comes first, then the second of each, and so on, so that a canary wave sees the
    rare groups.
    """
    groups: dict[str, list[Zone]] = defaultdict(list)
    for zone in sorted(zones, key=lambda zone: (zone.name, zone.id)):
        groups[group_of.get(zone.id, zone.plan.value)].append(zone)
    rarest_first = sorted(groups.values(), key=lambda group: (len(group), group[0].name, group[0].id))
    order: list[Zone] = []
    for place in range(max(map(len, rarest_first), default=0)):
        order.extend(group[place] for group in rarest_first if place < len(group))
    return order


def freeze(zones: Sequence[Zone], group_of: Mapping[str, str], specs: Sequence[WaveSpec]) -> list[Target]:
    """The frozen list of a campaign: every zone with its wave, in order."""
    order = stratified(zones, group_of)
    return [
        Target(zone=order[index], wave=wave.number)
        for wave in plan_waves(specs, len(order))
        for index in range(wave.first, wave.end)
    ]


def may_advance(finished: int, started: int, percent: float) -> bool:
    """Whether enough of the zones so far (``started``) have an outcome for the next wave to begin."""
    return finished * 100 >= started * percent

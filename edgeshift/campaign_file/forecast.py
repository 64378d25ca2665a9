"""What its rate limit lets a campaign do, by the calls that its targets cost. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from edgeshift.areas import area_of
from edgeshift.campaign_file.of_area import calls_of
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.counts import counted
from edgeshift.model.durations import say_duration


@dataclass(frozen=True)
class Measured:
    """What targets really cost: ``calls`` each, on average, of ``targets`` that ``campaign`` has changed."""

    campaign: str
    targets: int
    calls: float


@dataclass(frozen=True)
class Basis:
    """What some targets of a forecast cost. ``which``: what one of them is called, and ``noun``, in one word;
    ``targets``: how many they are; ``design``: calls that each takes where all goes well;
    ``measured``: what others like them took, or None where too few were counted.
    """

    which: str
    noun: str
    targets: int
    design: int
    measured: Measured | None = None

    @property
    def each(self) -> float:
        """The calls that one is reckoned with."""
        return self.measured.calls if self.measured else float(self.design)

    def said(self) -> str:
        """The basis as one sentence."""
        an = "an" if self.which[0] in "aeiouAEIOU" else "a"
        by_design = f"Calls {an} {self.which}: {self.design} by design"
        if self.measured is None:
            return f"{by_design}; none measured in this archive yet"
        found = self.measured
        return (
            f"{by_design}; {found.calls:,.3g} measured in campaign {found.campaign},"
            f" {counted(found.targets, self.noun)}"
        )


@dataclass(frozen=True)
class Forecast:
    """What the rate limit lets a campaign do, if one user's credentials are all that it has.

    ``calls_a_second`` of all users together; ``at_least``: how long its calls take, without waiting for
    anybody; ``waits``: what is not counted. ``noun``: what its targets are called; ``bases``: what the
    number of calls stands on.
    """

    users: int
    calls_a_second: float
    calls: int
    zones_an_hour: float
    at_least: timedelta
    waits: str
    noun: str = "zone"
    bases: tuple[Basis, ...] = ()

    def said(self) -> str:
        """The forecast as one sentence."""
        return (
            f"{counted(self.calls, 'call')} at {self.calls_a_second:.2g} a second"
            f" ({counted(self.users, 'user')}): at most {self.zones_an_hour:,.0f} {self.noun}s an hour,"
            f" so at least {say_duration(self.at_least)} of calls,"
            f" {self.waits}"
        )

    def as_data(self) -> dict[str, Any]:
        """The forecast for programs."""
        return {
            "calls": self.calls,
            "calls_a_second": round(self.calls_a_second, 3),
            "zones_an_hour": round(self.zones_an_hour, 1),
            "at_least_seconds": int(self.at_least.total_seconds()),
            "calls_a_zone": [asdict(basis) for basis in self.bases],
        }


def calls_a_second(spec: CampaignSpec) -> float:
    """Calls that all users of the campaign together may make, less the people's share (docs/service.md §8,
    observed).
    """
    rate, per_address = spec.service.rate, spec.service.facts.rate.per_address
    paced = users_of(spec) * rate.requests / max(rate.per.total_seconds(), 1e-6) * 0.99 * (1 - rate.people)
    return min(paced, per_address * spec.time_scale) if per_address else paced


def users_of(spec: CampaignSpec) -> int:
    """How many rate limits the campaign's credentials count against."""
    return len({spec.service.caller(credential) for credential in spec.service.credentials})


def zones_a_second(spec: CampaignSpec) -> float:
    """Zones that the rate limit of all users together allows to be changed."""
    return calls_a_second(spec) / area_of(spec.area).calls


def forecast(
    spec: CampaignSpec, *, enterprise: int, others: int, measured: Mapping[bool, Measured] | None = None
) -> Forecast:
    """What so many targets to work on take by the rate limit alone. ``enterprise``: those of them that the
    area validates, where it does. ``measured``: what others took, of those that are validated
    and of the rest.
    """
    area, a_second, zones = area_of(spec.area), calls_a_second(spec), enterprise + others
    noun, known = area.words.get("zone", "zone"), measured or {}
    if area.validates:
        bases = [
            Basis("Enterprise zone", noun, enterprise, calls_of(spec, validated=True), known.get(True)),
            Basis("zone of another plan", noun, others, calls_of(spec), known.get(False)),
        ]
    else:
        bases = [Basis(noun, noun, zones, calls_of(spec), known.get(False))]
    bases = [basis for basis in bases if basis.targets]
    calls = round(sum(basis.targets * basis.each for basis in bases))
    seconds = calls / a_second
    return Forecast(
        users=users_of(spec),
        calls_a_second=a_second,
        calls=calls,
        zones_an_hour=zones / seconds * 3600 if seconds else 0.0,
        at_least=timedelta(seconds=round(seconds)),
        waits=area.waits,
        noun=noun,
        bases=tuple(bases),
    )

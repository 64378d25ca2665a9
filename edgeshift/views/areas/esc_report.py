"""What a report of the area esc has of its own: each change that probes found, with the feature that replaces
it and where it was seen. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import BaseModel, Field

from edgeshift.areas.esc.difference_texts import named
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.views.rolled_back import MOST_LINES, UndoneSections, rolled_back
from edgeshift.views.rows import ZoneRow

MOST_PLACES = 3


class Change(BaseModel):
    """One change, wherever it was seen. ``feature``: what replaces it; ``before``: with Edge Side Code."""

    feature: str
    what: str
    before: str
    after: str
    places: list[str]

    @property
    def where(self) -> str:
        """The first places, and how many more there are."""
        more = len(self.places) - MOST_PLACES
        return ", ".join(self.places[:MOST_PLACES]) + (f" and {more:,} more" if more > 0 else "")


class FeatureLine(BaseModel):
    """A replacement feature: how many changes ask for it, and how many zones have one of them."""

    feature: str
    changes: int
    zones: int


class EscSections(UndoneSections):
    """What the probes of a campaign found. ``left_out``: changes that the table does not show."""

    probed: int = 0
    urls: int = 0
    pairs: int = 0
    alarms: int = 0
    silent: int = 0
    features: list[FeatureLine] = Field(default_factory=list)
    changes: list[Change] = Field(default_factory=list)
    left_out: int = 0


def sections(rows: Sequence[ZoneRow], probes: Mapping[int, ProbeReport]) -> EscSections:
    """The sections about these scopes. ``probes``: by their index, as far as gathered."""
    found = changes(probes.values())
    return EscSections(
        rolled_back=rolled_back(rows),
        probed=len(probes),
        urls=sum(report.coverage.urls for report in probes.values()),
        pairs=sum(report.controls.pairs for report in probes.values()),
        alarms=sum(report.controls.alarms for report in probes.values()),
        silent=sum(
            report.coverage.zones_covered - report.coverage.zones_probed for report in probes.values()
        ),
        features=_features(found),
        changes=found[:MOST_LINES],
        left_out=max(0, len(found) - MOST_LINES),
    )


def changes(reports: Iterable[ProbeReport]) -> list[Change]:
    """Every change that these probes found, by feature, the most frequent of each first."""
    places: dict[tuple[str, str, str, str], list[str]] = {}
    for report in reports:
        for one in report.differences:
            what = named(one.kind.value, one.what)
            key = (one.feature.value, what, one.before or "absent", one.after or "absent")
            places.setdefault(key, []).append(f"{one.host}{one.path}")
    ranked = sorted(places.items(), key=lambda item: (item[0][0], -len(item[1]), item[0]))
    return [
        Change(feature=feature, what=what, before=before, after=after, places=sorted(found))
        for (feature, what, before, after), found in ranked
    ]


def _features(found: Sequence[Change]) -> list[FeatureLine]:
    counts = Counter(one.feature for one in found)
    hosts: dict[str, set[str]] = {}
    for one in found:
        hosts.setdefault(one.feature, set()).update(place.partition("/")[0] for place in one.places)
    return [
        FeatureLine(feature=feature, changes=number, zones=len(hosts[feature]))
        for feature, number in counts.most_common()
    ]

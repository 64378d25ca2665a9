"""What a probe found: each change once, with the feature that replaces it and where it was seen. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from edgeshift.areas.esc.probe import Difference, ProbeReport

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


def changes(reports: Iterable[ProbeReport]) -> list[Change]:
    """Every change that these probes found, by feature, the most frequent of each first."""
    places: dict[tuple[str, str, str, str], list[str]] = {}
    for report in reports:
        for one in report.differences:
            key = (one.feature.value, _what(one), one.before or "absent", one.after or "absent")
            places.setdefault(key, []).append(f"{one.host}{one.path}")
    ranked = sorted(places.items(), key=lambda item: (item[0][0], -len(item[1]), item[0]))
    return [
        Change(feature=feature, what=what, before=before, after=after, places=sorted(found))
        for (feature, what, before, after), found in ranked
    ]


def _what(one: Difference) -> str:
    return one.kind.value if one.what in ("", one.kind.value) else f"{one.kind.value} {one.what}"

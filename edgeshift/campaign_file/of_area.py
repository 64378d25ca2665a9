"""What an area says of its campaign files (edgeshift/areas/parts.py). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from edgeshift.areas import area_of
from edgeshift.areas.area import OLD, Times
from edgeshift.areas.parts import PartOf
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.durations import say_duration
from edgeshift.model.validators import Where

LEAST = timedelta(seconds=1)
"""The shortest time after which something is done again, or for which something counts."""


def too_short(where: Where, duration: timedelta) -> Iterator[tuple[Where, str]]:
    """The mistake of a duration with which nothing is ever done, or not as it was meant; or none."""
    if duration < LEAST:
        yield where, f"is {say_duration(duration)}; at least {say_duration(LEAST)} is right"


class CampaignFilePart:
    """One area's part of campaign files."""

    def warnings(self, spec: CampaignSpec) -> list[str]:
        """One sentence for each thing that the area allows and that may surprise."""
        return []

    def new_mistakes(self, spec: CampaignSpec) -> Iterable[tuple[Where, str]]:
        """What a new file may not have, though a campaign that an earlier version has archived is read with
        it, each with its path from the file.
        """
        return ()

    def template(self) -> dict[str, Any]:
        """The sections of a new file whose defaults would be refused, by their keys."""
        return {}


def times_of(spec: CampaignSpec) -> Times | None:
    """How long a change of one target takes in this campaign, its section as scaled as the campaign is; None
    where neither a section nor the area says so.
    """
    area = area_of(spec.area)
    own = spec.own_sections.get(area.section.key) if area.section else None
    if own is not None and own.times is not None:
        return own.times
    return area.usual.faster(spec.time_scale) if area.usual else None


def calls_of(spec: CampaignSpec, *, validated: bool = False) -> int:
    """The calls that a target of this campaign takes where all goes well."""
    area = area_of(spec.area)
    calls = area.calls_validated if validated and area.calls_validated else area.calls
    if validated and spec.validation.window >= OLD:
        calls += area.calls_read_anew
    times = times_of(spec) if area.calls_a_look else None
    return calls + (area.calls_a_look * -(-times.watch // times.every) if times else 0)


CAMPAIGN_FILE = PartOf("campaign_file", CampaignFilePart)

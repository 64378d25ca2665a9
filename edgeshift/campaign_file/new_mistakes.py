"""What a new campaign file may not have, though a campaign that an earlier version has archived is read with
it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from edgeshift.campaign_file.service import MOST_CREDENTIALS
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.durations import say_duration
from edgeshift.model.validators import Where

LEAST = timedelta(seconds=1)
"""The shortest time after which something is done again."""


def new_mistakes(spec: CampaignSpec) -> Iterator[tuple[Where, str]]:
    """Each mistake, with its path."""
    if (number := len(spec.service.credentials)) > MOST_CREDENTIALS:
        yield ("service", "credentials"), f"has {number} items; it must have at most {MOST_CREDENTIALS}"
    for place, adjustment in enumerate(spec.adjustments):
        if why := adjustment.threshold_in_vain():
            yield ("adjustments", place, "score_threshold"), why
    yield from _too_short(spec)


def _too_short(spec: CampaignSpec) -> Iterator[tuple[Where, str]]:
    given: tuple[tuple[Where, timedelta], ...] = ((("sweep",), spec.sweep),)
    for where, duration in given:
        if duration < LEAST:
            yield where, f"is {say_duration(duration)}; at least {say_duration(LEAST)} is right"

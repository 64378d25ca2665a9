"""What a new campaign file may not have, though a campaign that an earlier version has archived is read with
it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, get_args

from edgeshift.campaign_file.options import field_at
from edgeshift.campaign_file.service import MOST_CREDENTIALS
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.durations import say_duration
from edgeshift.model.validators import Where
from edgeshift.rate_limit.terms import LONGEST_WINDOW

Mistakes = Iterator[tuple[Where, str]]

LEAST = timedelta(seconds=1)
"""The shortest time after which something is done again, or for which something counts."""


def new_mistakes(spec: CampaignSpec) -> Mistakes:
    """Each mistake, with its path."""
    if (number := len(spec.service.credentials)) > MOST_CREDENTIALS:
        yield ("service", "credentials"), f"has {number} items; it must have at most {MOST_CREDENTIALS}"
    for place, adjustment in enumerate(spec.adjustments):
        if why := adjustment.threshold_in_vain():
            yield ("adjustments", place, "score_threshold"), why
    yield from _out_of_bounds(spec)


def _out_of_bounds(spec: CampaignSpec) -> Mistakes:
    """Durations with which nothing is ever done, or not as it was meant."""
    per = spec.service.rate.per
    given: tuple[tuple[Where, timedelta], ...] = (
        (("sweep",), spec.sweep),
        (("silence",), spec.silence),
        (("sign_off", "valid_for"), spec.sign_off.valid_for),
        (("service", "rate", "per"), per),
    )
    for where, duration in given:
        if duration < LEAST:
            yield where, f"is {say_duration(duration)}; at least {say_duration(LEAST)} is right"
    if per > (most := timedelta(seconds=LONGEST_WINDOW)):
        yield ("service", "rate", "per"), f"is {say_duration(per)}; at most {say_duration(most)} is right"


def without_unit(value: Any, where: Where = ()) -> Mistakes:
    """The durations of a file that are bare numbers: whoever means hours would get seconds."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from without_unit(item, (*where, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from without_unit(item, (*where, index))
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and _is_duration(where):
        # What is no number of seconds either is complained of as such.
        said = str(value) if abs(value) < 1e9 else "…"
        yield where, f"has no unit; write {said}s, {said}m or {said}h, as it is meant"


def _is_duration(where: Where) -> bool:
    field = field_at(where)
    return field is not None and _has_duration(field.annotation)


def _has_duration(annotation: Any) -> bool:
    return annotation is timedelta or any(map(_has_duration, get_args(annotation)))

"""What a new campaign file may not have, though a campaign that an earlier version has archived is read with
it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, get_args

from edgeshift.campaign_file.of_area import CAMPAIGN_FILE, too_short
from edgeshift.campaign_file.options import field_at
from edgeshift.campaign_file.service import MOST_CREDENTIALS
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.durations import say_duration
from edgeshift.model.rollout import REST
from edgeshift.model.validators import Where
from edgeshift.rate_limit.terms import LONGEST_WINDOW

Mistakes = Iterator[tuple[Where, str]]

LARGEST_NUMBER = 2**53 - 1
"""The largest whole number that the archive's JSON can hold exactly."""

_NO_TEXT = re.compile("[\ud800-\udfff]")
_NUMBERED = re.compile(r"wave (\d{1,4})")


def new_mistakes(spec: CampaignSpec) -> Mistakes:
    """Each mistake of a file that is right by its model, with its path."""
    yield from _of_credentials(spec)
    yield from _of_users(spec)
    yield from CAMPAIGN_FILE.of(spec.area).new_mistakes(spec)
    yield from _of_waves(spec)
    yield from _of_tickets(spec)
    yield from _out_of_bounds(spec)


def _of_credentials(spec: CampaignSpec) -> Mistakes:
    credentials = spec.service.credentials
    if (number := len(credentials)) > MOST_CREDENTIALS:
        yield ("service", "credentials"), f"has {number} items; it must have at most {MOST_CREDENTIALS}"
        return
    first, *others = [place for place, one in enumerate(credentials) if not one.accounts] or [0]
    for place in others:
        said = f"names no accounts, as item {first + 1} does, and would never be used; name its accounts"
        yield ("service", "credentials", place), f"{said}, or remove it"


def _of_users(spec: CampaignSpec) -> Mistakes:
    """Credentials of one user that would be given a rate limit each, where the service has one for both. The
    name of a quota keeps the case of its user, since running campaigns count by it.
    """
    credentials = spec.service.credentials[:MOST_CREDENTIALS]
    for place, one in enumerate(credentials):
        where: Where = ("service", "credentials", place, "user")
        others = [(number, other) for number, other in enumerate(credentials, 1) if other.user != one.user]
        alike = [
            number for number, other in others if "@" in one.user and other.user.lower() == one.user.lower()
        ]
        same = [number for number, other in others if number <= place and other.reference == one.reference]
        if alike and one.user != one.user.lower():
            said = f"is the user of item {alike[0]} in another case, and both share one rate limit"
            yield where, f"{said}; write it in lower case"
        elif same and not set(same) & set(alike):
            said = f"is another than that of item {same[0]}, whose secret is the same"
            yield where, f"{said}; write one user in both, since they have one rate limit"


def _of_waves(spec: CampaignSpec) -> Mistakes:
    """Waves that would have the name of another one."""
    seen: dict[str, int] = {}
    for place, wave in enumerate(spec.waves):
        where: Where = ("waves", place, "name")
        name, number = wave.name, _NUMBERED.fullmatch(wave.name)
        if not name:
            continue
        if name in seen:
            yield where, f"{name!r} is the name of wave {seen[name] + 1}, too; each needs its own"
        elif name == REST and not wave.takes_rest:
            yield where, f"{name!r} is what the wave of all other zones is called; write another name"
        elif number and 0 < (n := int(number[1])) <= len(spec.waves) and not spec.waves[n - 1].name:
            yield (
                where,
                f"{name!r} is what wave {n}, which has no name, is called; name that one",
            )
        seen.setdefault(name, place)


def _of_tickets(spec: CampaignSpec) -> Mistakes:
    """What is a webhook's, without one: tickets would go to a folder on each worker, and nobody be told."""
    tickets = spec.tickets
    if tickets.webhook is None:
        for name in ("secret", "proxy", "ca_file"):
            if getattr(tickets, name) is not None:
                yield ("tickets", name), "means nothing without tickets.webhook; give that, or remove this"


def _out_of_bounds(spec: CampaignSpec) -> Mistakes:
    """Durations with which nothing is ever done, or not as it was meant."""
    per = spec.service.rate.per
    given: tuple[tuple[Where, timedelta], ...] = (
        (("sweep",), spec.sweep),
        (("silence",), spec.silence),
        (("sign_off", "valid_for"), spec.sign_off.valid_for),
        (("sign_off", "expires_after"), spec.sign_off.expires_after),
        (("service", "request_limit"), spec.service.request_limit),
        (("commit", "lease"), spec.commit.lease),
        (("commit", "send_window"), spec.commit.send_window),
        (("commit", "migration_limit"), spec.commit.migration_limit),
        (("service", "rate", "per"), per),
    )
    for where, duration in given:
        yield from too_short(where, duration)
    if per > (most := timedelta(seconds=LONGEST_WINDOW)):
        yield ("service", "rate", "per"), f"is {say_duration(per)}; at most {say_duration(most)} is right"


def as_written(value: Any, where: Where = ()) -> Mistakes:
    """What may not stand in a file as it is written: a duration that is a bare number, since whoever means
    hours would get seconds, and what the archive's JSON cannot hold.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            if _NO_TEXT.search(key):
                yield where, "has a key with half of a character, such as \\ud800; remove it"
            yield from as_written(item, (*where, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from as_written(item, (*where, index))
    elif isinstance(value, str):
        if _NO_TEXT.search(value):
            yield where, "has half of a character, such as \\ud800; remove it"
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number_as_written(value, where)


def _number_as_written(value: float, where: Where) -> Mistakes:
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        yield where, f"is a number of more than 15 digits; it must be at most {LARGEST_NUMBER:,}"
    elif _is_duration(where):
        yield where, f"has no unit; write {value:g}s, {value:g}m or {value:g}h, as it is meant"


def _is_duration(where: Where) -> bool:
    field = field_at(where)
    return field is not None and _has_duration(field.annotation)


def _has_duration(annotation: Any) -> bool:
    return annotation is timedelta or any(map(_has_duration, get_args(annotation)))

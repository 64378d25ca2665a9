"""What each field of a campaign file allows and the whole does not: values that exclude each other, things
named twice, secrets inside of URLs. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from ipaddress import ip_address
from typing import Any, get_args
from urllib.parse import urlsplit

from edgeshift.areas.waf.redacted import shown_path
from edgeshift.campaign_file.area_sense import area_trouble
from edgeshift.campaign_file.mistakes import Where, model_at
from edgeshift.model.durations import parse_duration, say_duration
from edgeshift.runtime.secret_refs import is_reference

_URL = "it is written as http://HOST:PORT/PATH or https://…"

_KEPT = (
    "this URL may hold a key, and the file is archived; keep the URL where the worker finds it, and name that"
    " place as env:NAME or file:PATH"
)


def holds_key(url: str) -> bool:
    """Whether a URL has a query, or a path with a part that looks like a key."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.query) or shown_path(parts.path) != parts.path


def odd_types(value: object, where: Where = ()) -> Iterator[tuple[Where, str]]:
    """``true`` and ``false`` where a number is wanted: Python would count them as 1 and 0."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from odd_types(item, (*where, str(key)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from odd_types(item, (*where, index))
    elif isinstance(value, bool) and where and (model := model_at(where[:-1])) is not None:
        field = model.model_fields.get(str(where[-1]))
        if field is not None and {int, float} & {field.annotation, *get_args(field.annotation)}:
            yield where, f"is {str(value).lower()}; it must be a number"


def senseless(value: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    """What each field allows and the whole does not: values that exclude each other, or secrets inside of
    URLs.
    """
    yield from _lists(value)
    yield from area_trouble(value)
    yield from _waves(value.get("waves"))
    sign_off = _mapping(value.get("sign_off"))
    approvers, required = sign_off.get("approvers"), sign_off.get("required")
    if (
        isinstance(approvers, list)
        and approvers
        and isinstance(required, int)
        and required > len(set(map(str, approvers)))
    ):
        said = f"{required} must approve, but only {len(set(map(str, approvers)))} may"
        said += "; list more approvers or require fewer"
        yield ("sign_off", "required"), said
    yield from _request_trouble(_mapping(value.get("service")))
    for where, url in (
        (("service", "base_url"), _mapping(value.get("service")).get("base_url")),
        (("service", "proxy"), _mapping(value.get("service")).get("proxy")),
        (("tickets", "webhook"), _mapping(value.get("tickets")).get("webhook")),
        (("esc", "probe", "edge"), _mapping(_mapping(value.get("esc")).get("probe")).get("edge")),
    ):
        if isinstance(url, str) and not (where[-1] in ("proxy", "webhook") and is_reference(url)):
            if where[-1] == "webhook" and holds_key(url):
                yield where, _KEPT
            yield from ((where, said) for said in _url_trouble(url, plain_is_wrong=where[-1] == "base_url"))
    adjustments = value.get("adjustments")
    for index, item in enumerate(adjustments if isinstance(adjustments, list) else ()):
        if isinstance(item, Mapping) and not {"action", "enabled", "score_threshold"} & set(item):
            yield ("adjustments", index), "changes nothing; give action, enabled or score_threshold"


LONGEST_REQUEST = timedelta(minutes=1)
"""The longest time that one request may be given: a worker that is told to stop sees it through."""


def _request_trouble(service: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    try:
        limit = parse_duration(service.get("request_limit", LONGEST_REQUEST))
    except ValueError:
        return
    if limit > LONGEST_REQUEST:
        said = f"is {say_duration(limit)}; at most {say_duration(LONGEST_REQUEST)} is right"
        yield ("service", "request_limit"), said


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _url_trouble(url: str, *, plain_is_wrong: bool) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        trouble = parts.scheme not in ("http", "https") or not parts.hostname
        _ = parts.port
    except ValueError:
        yield f"is no URL; {_URL}"
        return
    if trouble:
        yield f"is no URL; {_URL}"
    elif parts.scheme == "http" and plain_is_wrong and not _loopback(str(parts.hostname)):
        yield "http to another machine would send credentials in plain text; use https"
    elif parts.username is not None or parts.password is not None:
        yield "a user or password does not belong into a URL of this file, which is archived; leave it out"


def _lists(value: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    targets = _mapping(value.get("targets"))
    for outer, key, inside in (
        ("targets", "include", targets.get("include")),
        ("targets", "exclude", targets.get("exclude")),
        ("targets", "accounts", targets.get("accounts")),
        ("sign_off", "approvers", _mapping(value.get("sign_off")).get("approvers")),
    ):
        seen: dict[str, int] = {}
        for index, item in enumerate(inside if isinstance(inside, list) else ()):
            if isinstance(item, str):
                if not item.strip():
                    yield (outer, key, index), "is empty; remove it or give a name"
                elif item.lower() in seen:
                    yield (
                        (outer, key, index),
                        f"{item!r} is listed twice, first as item {seen[item.lower()] + 1}",
                    )
                seen.setdefault(item.lower(), index)
    include, exclude = targets.get("include"), targets.get("exclude")
    if isinstance(include, list) and isinstance(exclude, list):
        out = {item.lower() for item in exclude if isinstance(item, str)}
        for index, item in enumerate(include):
            if isinstance(item, str) and item.strip() and item.lower() in out:
                yield ("targets", "include", index), f"{item!r} is also under exclude; keep it in one of them"


def _waves(waves: object) -> Iterator[tuple[Where, str]]:
    if not isinstance(waves, list):
        return
    total = 0.0
    for index, wave in enumerate(waves):
        wave = _mapping(wave)
        if wave.get("zones") is not None and wave.get("percent") is not None:
            yield ("waves", index), "has both zones and percent; keep one"
        if wave.get("zones") is None and wave.get("percent") is None and index < len(waves) - 1:
            yield ("waves", index), "has neither zones nor percent; only the last wave may take all the rest"
        percent = wave.get("percent")
        if isinstance(percent, (int, float)) and not isinstance(percent, bool):
            total += percent
            if total > 100.000001:
                yield (
                    ("waves", index, "percent"),
                    f"the waves sum up to {total:g} percent; at most 100 can be given",
                )
                total = 0.0

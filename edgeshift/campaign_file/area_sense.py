"""What a campaign file says for one area and cannot mean: sections of another area, fields that no zone may
have, places of log entries that are none, looks further apart than the time that is watched. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from edgeshift.areas.log_fields.names import Kind, mistakes
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.campaign_file.mistakes import Where
from edgeshift.campaign_file.spec import SECTIONS, CampaignSpec
from edgeshift.model.durations import Duration, say_duration
from edgeshift.model.fleet import Area

STORES = ("file", "s3", "gs", "az")
"""Schemes of the object stores that edgeshift can read."""

PLACEHOLDERS = ("{zone}", "{zone_id}")
"""What stands for the zone in addresses that many zones share."""

_DURATION: TypeAdapter[Duration] = TypeAdapter(Duration)
_IDENTIFIER = re.compile(r"[0-9a-f]{32}")


def area_trouble(value: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    """Everything of this file that goes against its area."""
    try:
        area = Area(value.get("area", Area.WAF))
    except ValueError:
        return
    yield from _foreign_sections(value, area)
    if area is Area.ESC:
        yield from _esc_trouble(value)
    elif area is Area.LOG_FIELDS:
        yield from _log_fields_trouble(value)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _foreign_sections(value: Mapping[str, Any], area: Area) -> Iterator[tuple[Where, str]]:
    for section, owner in SECTIONS.items():
        if owner is area or section not in value or _says_nothing(section, value[section]):
            continue
        yield (
            (section,),
            f"belongs to campaigns of area {owner.value}, and this one is of area {area.value}:"
            f" remove it, or write `area: {owner.value}`",
        )


def _says_nothing(section: str, given: object) -> bool:
    """Whether a section holds nothing but its defaults. What cannot be read is complained of elsewhere."""
    field = CampaignSpec.model_fields[section]
    reader: TypeAdapter[Any] = TypeAdapter(field.annotation or Any)
    try:
        return bool(reader.validate_python(given) == field.get_default(call_default_factory=True))
    except ValidationError:
        return False


def _esc_trouble(value: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    esc, targets = _mapping(value.get("esc")), _mapping(value.get("targets"))
    yield from _too_short("esc", esc)
    yield from _looks("esc", esc, "observe")
    if esc.get("scope") == "account":
        for key in ("include", "exclude", "plans"):
            if targets.get(key):
                said = (
                    f"{key} chooses among zones, but esc.scope is account, which stands for every zone of an"
                    " account: name accounts under targets.accounts, or write `esc: {scope: zone}`"
                )
                yield ("targets", key), said
    urls = _mapping(esc.get("probe")).get("urls")
    seen: dict[str, int] = {}
    for index, url in enumerate(urls if isinstance(urls, list) else ()):
        if not isinstance(url, str):
            continue
        if url in seen:
            yield (
                ("esc", "probe", "urls", index),
                f"is listed twice, first as item {seen[url] + 1}; keep one",
            )
        seen.setdefault(url, index)
        if "@" in url.partition("://")[2].partition("/")[0]:
            said = (
                "a user or password does not belong into a URL of this file, which is archived; leave it out"
            )
            yield ("esc", "probe", "urls", index), said
        elif ":" in url.partition("://")[2].partition("/")[0]:
            said = "a port does not belong into it: the edge is asked at the usual ones, or at esc.probe.edge"
            yield ("esc", "probe", "urls", index), said


LEAST = {"every": timedelta(seconds=1), "fresh": timedelta(minutes=5)}
"""Durations below which a campaign would look without a pause, or never come to act upon a probe."""


def _too_short(section: str, given: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    for key, least in LEAST.items():
        if key not in given:
            continue
        try:
            value = _DURATION.validate_python(given[key])
        except ValidationError:
            continue
        if value < least:
            yield (section, key), f"is {say_duration(value)}; at least {say_duration(least)} is right"


MOST_LOOKS = 1_000
"""Looks at one target after a change. Each takes steps of its workflow's history, which has room for four
times as many.
"""


def _looks(section: str, given: Mapping[str, Any], length: str) -> Iterator[tuple[Where, str]]:
    """A pause between two looks that is longer than the time in which is looked, or far too short for it."""
    if not given.keys() & {"every", length}:
        return
    model = CampaignSpec.model_fields[section].get_default(call_default_factory=True)
    try:
        every, whole = (
            _DURATION.validate_python(given.get(key, getattr(model, key))) for key in ("every", length)
        )
    except ValidationError:
        return
    if every > whole and "every" in given:
        said = f"is longer than {section}.{length}, so nothing would be looked at in between; make it shorter"
        yield (section, "every"), said
    elif every and whole > every * MOST_LOOKS:
        least = timedelta(seconds=math.ceil(whole / MOST_LOOKS / timedelta(seconds=1)))
        said = (
            f"is {say_duration(every)}, too often for {section}.{length} of {say_duration(whole)}:"
            f" {MOST_LOOKS:,} looks are made at most; at least {say_duration(least)} is right"
        )
        yield (section, "every"), said


def _log_fields_trouble(value: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    given, targets = _mapping(value.get("log_fields")), _mapping(value.get("targets"))
    yield from _too_short("log_fields", given)
    yield from _looks("log_fields", given, "verify")
    common, trouble = _read(given, ("log_fields",))
    yield from trouble
    zones = _mapping(given.get("zones"))
    for name, own in zones.items():
        where: Where = ("log_fields", "zones", str(name))
        added, trouble = _read(_mapping(own), where, common)
        yield from trouble
        yield from ((where, said) for said in _too_many(common, added))
        if str(name) != str(name).lower():
            yield where, f'zones are named as the service does, in lower case: write "{str(name).lower()}"'
        elif _left_out(str(name), targets):
            said = "is not among the targets: add it to targets.include, or remove it here"
            yield where, said
    if not _some(common):
        yield from _without_fields(given, targets, zones)
    elif not zones:
        yield from ((("log_fields",), said) for said in _too_many(common, {}))
    yield from _addresses(given)


Names = Mapping[Kind, Sequence[str]]


def _some(names: Names) -> bool:
    return any(names.values())


def _read(
    given: Mapping[str, Any], where: Where, before: Names | None = None
) -> tuple[dict[Kind, list[str]], list[tuple[Where, str]]]:
    """The sound names of a list of fields, and what is wrong with each of the others, at its place.

    ``before``: the campaign's own fields, which a zone's additions do not repeat.
    """
    sound: dict[Kind, list[str]] = {kind: [] for kind in Kind}
    trouble: list[tuple[Where, str]] = []
    for kind in Kind:
        listed = given.get(kind.attribute)
        for index, name in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(name, str):
                continue
            at: Where = (*where, kind.attribute, index)
            alone = mistakes(FieldSet(**{kind.attribute: (name,)}))
            trouble += [(at, said.removeprefix(f"{kind.attribute}: ")) for said in alone]
            if before is not None and name in before[kind]:
                said = f"{name!r} is a field of every zone of the campaign already; leave it out here"
                trouble.append((at, said))
            elif name in sound[kind]:
                first = sound[kind].index(name) + 1
                trouble.append((at, f"{name!r} is listed twice, first as item {first}; name it once"))
            elif not alone:
                sound[kind].append(name)
    return sound, trouble


def _too_many(common: Names, added: Names) -> list[str]:
    """Whether so many sound fields are more than a zone takes (docs/service.md §8)."""
    together = FieldSet(**{kind.attribute: (*common[kind], *(added.get(kind) or ())) for kind in Kind})
    return mistakes(together) if _some(common) or _some(added) else []


def _without_fields(
    given: Mapping[str, Any], targets: Mapping[str, Any], zones: Mapping[str, Any]
) -> Iterator[tuple[Where, str]]:
    """A campaign without fields of its own is right only where each zone brings its own."""
    if any(given.get(kind.attribute) for kind in Kind):
        # Names are there; what is wrong with each was said already.
        return
    where: Where = ("log_fields",)
    if not zones:
        yield where, mistakes(FieldSet())[0]
    elif targets.get("all") or targets.get("accounts"):
        yield (
            where,
            "only the zones under log_fields.zones have fields, and the targets are more than those: name"
            " fields for all of them, or the zones alone under targets.include",
        )
    else:
        bare = [
            name
            for name in _texts(targets.get("include"))
            if name.lower() not in zones and not _IDENTIFIER.fullmatch(name)
        ]
        if bare:
            yield where, f"{bare[0]} would get no field: name some for all zones, or under log_fields.zones"


def _left_out(name: str, targets: Mapping[str, Any]) -> bool:
    """Whether a zone certainly is no target. Identifiers and accounts are only known to the service."""
    if name in {item.lower() for item in _texts(targets.get("exclude"))}:
        return True
    include = _texts(targets.get("include"))
    if not include or targets.get("accounts") or any(map(_IDENTIFIER.fullmatch, (name, *include))):
        return False
    return name not in {item.lower() for item in include}


def _addresses(given: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    job = _mapping(given.get("job"))
    for where, url in (
        (("log_fields", "entries"), given.get("entries")),
        (("log_fields", "job", "challenge"), job.get("challenge")),
    ):
        if isinstance(url, str):
            yield from ((where, said) for said in _address_trouble(url))
    for where, text, known in (
        (("log_fields", "entries"), given.get("entries"), PLACEHOLDERS),
        (("log_fields", "job", "challenge"), job.get("challenge"), PLACEHOLDERS),
        (("log_fields", "job", "name"), job.get("name"), PLACEHOLDERS),
    ):
        if isinstance(text, str) and (said := _placeholder_trouble(text, known)):
            yield where, said


def _address_trouble(url: str) -> Iterator[str]:
    """Why this cannot be where objects are read. The URL itself is not shown: it might carry a secret."""
    right = "write file:///FOLDER, s3://BUCKET/PATH, gs://BUCKET/PATH or az://CONTAINER/PATH"
    # Braces are not for hosts; the parser only has to see where things are.
    plain = re.sub(r"\{\w*\}", "x", url)
    try:
        parts = urlsplit(plain)
    except ValueError:
        yield f"is no URL; {right}"
        return
    if parts.scheme not in STORES:
        yield f"is no object store that edgeshift can read; {right}"
    elif parts.username is not None or parts.password is not None or parts.query:
        yield (
            "credentials and options do not belong into a URL of this file, which is archived: the worker"
            " takes them from its environment; leave them out"
        )
    elif parts.scheme == "file" and parts.netloc:
        yield "a folder has three slashes: file:///FOLDER"
    elif parts.scheme != "file" and not parts.netloc:
        yield f"names no bucket; {right}"


def _placeholder_trouble(text: str, known: Sequence[str]) -> str:
    unknown = [found for found in re.findall(r"\{[^{}]*\}", text) if found not in known]
    if unknown:
        said = f"{unknown[0][:40]} stands for nothing;"
        return f"{said} {' and '.join(known)} become the zone's name and identifier"
    if "{" in (rest := re.sub(r"\{\w+\}", "", text)) or "}" in rest:
        return f"has a brace without its partner; {' and '.join(known)} are what may stand in braces"
    return ""

"""Names of custom log fields: what they may be and how many (docs/service.md §2.2, §7, §8). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from edgeshift.areas.log_fields.field_set import FieldSet
from edgeshift.profiles import ServiceProfile

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


class Kind(StrEnum):
    """What a custom field is, by the name of its array in a rule (docs/service.md §2.2)."""

    REQUEST = "request_fields"
    RESPONSE = "response_fields"
    COOKIE = "cookie_fields"

    @property
    def words(self) -> str:
        """The kind for people."""
        return _TITLES[self]

    @property
    def log_field(self) -> str:
        """The field of log entries that carries it (docs/service.md §2.3)."""
        return _LOG_FIELDS[self]

    @property
    def attribute(self) -> str:
        """Its name in a FieldSet."""
        return _ATTRIBUTES[self]


_TITLES = {Kind.REQUEST: "request header", Kind.RESPONSE: "response header", Kind.COOKIE: "cookie"}
_LOG_FIELDS = {Kind.REQUEST: "RequestHeaders", Kind.RESPONSE: "ResponseHeaders", Kind.COOKIE: "Cookies"}
_ATTRIBUTES = {Kind.REQUEST: "request_headers", Kind.RESPONSE: "response_headers", Kind.COOKIE: "cookies"}


class CustomField(NamedTuple):
    """One custom field."""

    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.kind.words} {self.name}"


def fields_of(fields: FieldSet) -> tuple[CustomField, ...]:
    """The fields one by one: request headers, response headers, cookies, each in its order."""
    return tuple(CustomField(kind, name) for kind in Kind for name in getattr(fields, kind.attribute))


def fields_document(fields: FieldSet) -> dict[str, list[str]]:
    """The fields as a body that people sign names them."""
    return {kind.attribute: list(getattr(fields, kind.attribute)) for kind in Kind}


def fields_of_document(document: Mapping[str, Any]) -> FieldSet:
    """The fields of such a body. Raises pydantic's ValidationError."""
    return FieldSet.model_validate(document)


def mistakes(fields: FieldSet) -> list[str]:
    """What is wrong with the names of the wanted fields, one sentence each, before anything is sent."""
    found: list[str] = []
    for kind in Kind:
        seen: set[str] = set()
        for name in getattr(fields, kind.attribute):
            place = f"{kind.attribute}: {name[:100]!r}"
            if problem := _name_mistake(kind, name):
                found.append(f"{place} {problem}")
            same = name if kind is Kind.COOKIE else name.lower()
            if same in seen:
                found.append(f"{place} is named twice: name it once")
            seen.add(same)
    if not fields_of(fields):
        found.append("no field is named: name at least one in request_headers, response_headers or cookies")
    return found


def too_many(fields: FieldSet, profile: ServiceProfile) -> list[str]:
    """That these are more fields than a zone takes, as far as the profile knows a limit (docs/service.md §8);
    empty where they are not.
    """
    count, most = len(fields_of(fields)), profile.most_log_fields
    if most is None or count <= most:
        return []
    return [
        f"{count} custom fields: a zone takes {most} at most, over request headers, response"
        f" headers and cookies together; leave out {count - most}"
    ]


def list_troubles(kind: Kind, names: Sequence[str], before: Sequence[str] = ()) -> Iterator[tuple[int, str]]:
    """What is wrong with names of one kind, each by its index. ``before``: names that every zone of the
    campaign has already.
    """
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        shown = repr(name[:100])
        if problem := _name_mistake(kind, name):
            yield index, f"{shown} {problem}"
        if name in before:
            yield index, f"{shown} is a field of every zone of the campaign already; leave it out here"
        elif name in seen:
            yield index, f"{shown} is listed twice, first as item {seen[name] + 1}; name it once"
        seen.setdefault(name, index)


def _name_mistake(kind: Kind, name: str) -> str | None:
    if not name:
        return f"is empty: write the name of a {kind.words}"
    if not _TOKEN.fullmatch(name):
        odd = next(sign for sign in name if not _TOKEN.fullmatch(sign))
        return (
            f"is no name of a {kind.words}: {odd!r} cannot be in one; write the name alone, without a value"
        )
    if kind is not Kind.COOKIE and name != name.lower():
        return f'has upper-case letters: the service takes header names in lower case, write "{name.lower()}"'
    return None

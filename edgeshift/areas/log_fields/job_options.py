"""The two parameters in which a log job lists its log fields, and how each is changed without losing anything
of it (docs/service.md §2.3). Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

_FIELDS = "fields"
_COMMAS = (",", "%2C", "%2c")
_NAMES = "field_names"
_EVERY_REQUEST = (None, "1", "1.0")
_TIMESTAMPS = {"timestamp_format": "timestamps"}


class OddOptions(ValueError):
    """A parameter string that cannot be changed without a guess; the text says what is right."""


@dataclass(frozen=True)
class Options:
    """A job's ``logpull_options``: its parts as they stand, in their order. ``head``: what comes before them
    where it is the address of a pull, to its question mark, or a question mark alone.
    """

    parts: tuple[str, ...]
    head: str = ""

    @classmethod
    def of(cls, text: str | None) -> Options:
        """The parts of the string; of None and of the empty string there are none."""
        address, mark, query = (text or "").partition("?")
        if not mark or "=" in address or "&" in address:
            # A question mark further on is one of a value.
            address, mark, query = "", "", text or ""
        return cls(tuple(query.split("&")) if query else (), address + mark)

    def __str__(self) -> str:
        return self.head + "&".join(self.parts)

    @property
    def body(self) -> dict[str, Any]:
        """What is sent to change them."""
        return {"logpull_options": str(self)}

    def get(self, key: str) -> str | None:
        """The value of the first parameter of this name, decoded."""
        for part in self.parts:
            name, _, value = part.partition("=")
            if unquote(name) == key:
                return unquote(value)
        return None

    @property
    def sample(self) -> str:
        """The parameter by which a part of the requests alone is pushed, such as ``sample=0.1``; empty where
        none says so.
        """
        return _sample(self, "sample", "sample_rate")

    @property
    def fields(self) -> tuple[str, ...]:
        """The log fields that are listed. Raises OddOptions where they are not listed, or twice."""
        self._place()
        return tuple(name for name in (self.get(_FIELDS) or "").split(",") if name)

    @property
    def others(self) -> dict[str, str]:
        """What else they say than the log fields, decoded."""
        parts = [part.partition("=") for part in self.parts if part]
        return {unquote(key): unquote(value) for key, _, value in parts if unquote(key) != _FIELDS}

    def _place(self) -> int:
        places = [
            place for place, part in enumerate(self.parts) if unquote(part.partition("=")[0]) == _FIELDS
        ]
        if len(places) > 1:
            raise OddOptions("its logpull_options name fields= twice; leave one of them")
        if not places or not self.parts[places[0]].partition("=")[2]:
            raise OddOptions(
                "its logpull_options list no fields=, so that it pushes the service's own choice, which a"
                " list of ours would replace; write fields= with all that it is to push"
            )
        return places[0]

    def with_fields(self, names: Sequence[str]) -> Options:
        """With these log fields at the end of the list, where they are not in it. Raises OddOptions."""
        place, listed = self._place(), self.fields
        added = [name for name in names if name not in listed]
        if not added:
            return self
        comma = next((sign for sign in _COMMAS if sign in self.parts[place]), ",")
        return self._changed(place, self.parts[place].rstrip(",") + comma + comma.join(added))

    def without_fields(self, names: Sequence[str]) -> Options:
        """Without these log fields. The last one of all stays, for a list without any means another thing.
        Raises OddOptions.
        """
        place, listed = self._place(), self.fields
        left = [name for name in listed if name not in names]
        if left == list(listed) or not left:
            return self
        key, _, value = self.parts[place].partition("=")
        comma = next((sign for sign in _COMMAS if sign in value), ",")
        return self._changed(place, f"{key}={comma.join(left)}")

    def _changed(self, place: int, part: str) -> Options:
        return replace(self, parts=(*self.parts[:place], part, *self.parts[place + 1 :]))


@dataclass(frozen=True)
class OutputOptions:
    """A job's ``output_options``, as the service has them: the log fields are the list ``field_names``."""

    given: Mapping[str, Any]

    @classmethod
    def of(cls, given: object) -> OutputOptions:
        """The options as they were read. Raises OddOptions where they are no object."""
        if not isinstance(given, Mapping):
            raise OddOptions("its output_options are not an object")
        return cls(given)

    @property
    def body(self) -> dict[str, Any]:
        """What is sent to change them: the whole object."""
        return {"output_options": dict(self.given)}

    def get(self, key: str) -> str | None:
        """The value of an option, as text."""
        found = self.given.get(key)
        return None if found is None else str(found)

    @property
    def sample(self) -> str:
        """The option by which a part of the requests alone is pushed, as in a string."""
        return _sample(self, "sample_rate")

    @property
    def fields(self) -> tuple[str, ...]:
        """The log fields that are listed. Raises OddOptions where they are not, or where a template of the
        job's own says what is written of them.
        """
        names = self.given.get(_NAMES)
        if not isinstance(names, Sequence) or isinstance(names, str) or not names:
            raise OddOptions(
                "its output_options list no field_names, so that it pushes the service's own choice, which a"
                " list of ours would replace; write field_names with all that it is to push"
            )
        if not all(isinstance(name, str) for name in names):
            raise OddOptions("field_names of its output_options has something else than names")
        if self.given.get("record_template"):
            raise OddOptions(
                "its output_options have a record_template, which says what is pushed: add the log fields"
                " there"
            )
        return tuple(names)

    @property
    def others(self) -> dict[str, str]:
        """What else they say than the log fields, as a parameter string names it; without what would be so
        also where nothing is said of it.
        """
        said = {key: value for key, value in self.given.items() if key != _NAMES and value}
        told = {_TIMESTAMPS.get(key, key): str(value) for key, value in said.items()}
        usual = {"sample_rate": ("1", "1.0"), "output_type": ("ndjson",)}
        return {key: value for key, value in told.items() if value not in usual.get(key, ())}

    def with_fields(self, names: Sequence[str]) -> OutputOptions:
        """With these log fields at the end of the list, where they are not in it. Raises OddOptions."""
        listed = self.fields
        added = [name for name in names if name not in listed]
        return self._listing([*listed, *added]) if added else self

    def without_fields(self, names: Sequence[str]) -> OutputOptions:
        """Without these log fields. The last one of all stays, as in a string. Raises OddOptions."""
        listed = self.fields
        left = [name for name in listed if name not in names]
        return self if len(left) == len(listed) or not left else self._listing(left)

    def _listing(self, names: list[str]) -> OutputOptions:
        return OutputOptions({**self.given, _NAMES: names})


def _sample(options: Options | OutputOptions, *names: str) -> str:
    found = ((name, options.get(name)) for name in names)
    return next((f"{name}={rate}" for name, rate in found if rate not in _EVERY_REQUEST), "")

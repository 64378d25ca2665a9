"""Log jobs of the custom log fields: which log fields they have to list, and how their parameter string is
changed without losing anything of it (docs/service.md §2.3, §4.2). Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from edgeshift.areas.log_fields.names import Kind, fields_of
from edgeshift.areas.log_fields.terms import FieldSet, NewJobSpec
from edgeshift.model.fleet import Zone

DATASET = "http_requests"
"""The dataset whose entries carry custom fields (docs/service.md §2.3)."""

_FIELDS = "fields"
_COMMAS = (",", "%2C", "%2c")

Job = Mapping[str, Any]


class OddOptions(ValueError):
    """A parameter string that cannot be changed without a guess; the text says what is right."""


@dataclass(frozen=True)
class Options:
    """A job's ``logpull_options``: its parts as they stand, in their order."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, text: str | None) -> Options:
        """The parts of the string; of None and of the empty string there are none."""
        return cls(tuple((text or "").split("&")) if text else ())

    def __str__(self) -> str:
        return "&".join(self.parts)

    def get(self, key: str) -> str | None:
        """The value of the first parameter of this name, decoded."""
        for part in self.parts:
            name, _, value = part.partition("=")
            if unquote(name) == key:
                return unquote(value)
        return None

    @property
    def fields(self) -> tuple[str, ...]:
        """The log fields that are listed. Raises OddOptions where they are not listed, or twice."""
        self._place()
        return tuple(name for name in (self.get(_FIELDS) or "").split(",") if name)

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
        return Options((*self.parts[:place], part, *self.parts[place + 1 :]))


def needed(fields: FieldSet) -> tuple[str, ...]:
    """The log fields that jobs have to list for these custom fields."""
    kinds = {field.kind for field in fields_of(fields)}
    return tuple(kind.log_field for kind in (Kind.COOKIE, Kind.REQUEST, Kind.RESPONSE) if kind in kinds)


def pushes(job: Job) -> bool:
    """Whether the job pushes request logs: enabled, of the dataset http_requests."""
    return job.get("enabled") is True and job.get("dataset") == DATASET


def listed(job: Job) -> tuple[str, ...]:
    """The log fields that a job lists; none where it lists none in so many words."""
    try:
        return Options.of(job.get("logpull_options")).fields
    except OddOptions:
        return ()


def updated(job: Job, names: Sequence[str]) -> str | None:
    """The job's ``logpull_options`` with these log fields, or None where it lists them. Raises OddOptions."""
    before = Options.of(job.get("logpull_options"))
    after = before.with_fields(names)
    return None if after == before else str(after)


def restored(job: Job, before: str | None, names: Sequence[str]) -> str | None:
    """The job's ``logpull_options`` without what of ``names`` it did not list ``before``, or None where there
    is nothing to do. Raises OddOptions.
    """
    had = Options.of(before).fields
    present = Options.of(job.get("logpull_options"))
    after = present.without_fields([name for name in names if name not in had])
    return None if after == present else str(after)


def own_name(spec: NewJobSpec, zone: Zone) -> str:
    """The name of the log job that edgeshift creates in a zone."""
    return spec.name.replace("{zone}", zone.name).replace("{zone_id}", zone.id)


def new_options(spec: NewJobSpec, names: Sequence[str]) -> str:
    """The parameter string of a new job."""
    fields = dict.fromkeys((*spec.fields, *names))
    return f"fields={','.join(fields)}&timestamps={spec.timestamps}"


def new_job(spec: NewJobSpec, names: Sequence[str]) -> dict[str, Any]:
    """A new job as people sign it: its name with ``{zone}`` in it, and where its destination is found."""
    return {
        "name": spec.name,
        "destination": spec.destination,
        "dataset": DATASET,
        "logpull_options": new_options(spec, names),
        "frequency": spec.frequency,
        "enabled": True,
    }

"""What log entries tell of the custom fields: each one seen, or why not; and whether they fit into the room
that an entry has for them (docs/service.md §2.3, §8). Pure.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.log_fields.jobs import Job, listed, pushes
from edgeshift.areas.log_fields.names import CustomField, Kind, fields_of
from edgeshift.areas.log_fields.reading import jobs_without, logged_as_it_came, set_by_transform
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.profiles import ServiceProfile

Entry = Mapping[str, Any]

_KEYS = ("EdgeStartTimestamp", "RayID", "ClientRequestHost")
"""What an entry of a request log has; the first, no entry of another data set has."""


class FieldState(StrEnum):
    """What the entries say of one custom field."""

    SEEN = "seen"
    NEVER_SENT = "never_sent"
    TRUNCATED = "truncated"
    SET_LATER = "set_later_by_transform"
    NOT_LISTED = "not_listed_by_job"
    TOO_FEW = "too_few_entries"


class FieldSeen(BaseModel):
    """One custom field: in how many entries it has a value, and what is to be made of that. ``in_full``: of
    those, the ones that are full, in which what comes last is cut off (docs/service.md §8): maybe this value.
    """

    model_config = ConfigDict(frozen=True)

    kind: Kind
    name: str
    state: FieldState
    entries: int
    in_full: int = 0

    @property
    def field(self) -> CustomField:
        """The field itself."""
        return CustomField(self.kind, self.name)

    def __str__(self) -> str:
        cut = f", {self.in_full} of them full: its value may be cut off there" if self.in_full else ""
        return f"{self.field}: {_SAID[self.state].format(entries=self.entries)}{cut}"


_SAID = {
    FieldState.SEEN: "seen in {entries} entries",
    FieldState.NEVER_SENT: "in no entry, as if no request or response had it",
    FieldState.TRUNCATED: "in no entry, and entries are full: it is cut off",
    FieldState.SET_LATER: "in no entry: a transform rule sets it, and only original headers are logged",
    FieldState.NOT_LISTED: "in no entry: no log job lists the log field that carries it",
    FieldState.TOO_FEW: "in no entry yet: too few entries to say why",
}


class Judgement(BaseModel):
    """What the entries say. ``entries``: those that carry custom fields of a wanted kind, if only none;
    ``full``: those that have no room for more.
    """

    model_config = ConfigDict(frozen=True)

    entries: int
    full: int
    fields: tuple[FieldSeen, ...]

    @property
    def settled(self) -> bool:
        """Whether more entries would say nothing else: each field is seen, or cannot be."""
        final = (FieldState.SEEN, FieldState.SET_LATER, FieldState.NOT_LISTED)
        return all(field.state in final for field in self.fields)


class Sizes(BaseModel):
    """How much custom field data entries have, in bytes. ``over``: entries with more than fits."""

    model_config = ConfigDict(frozen=True)

    sample: int
    median: int
    p95: int
    largest: int
    over: int


def judge(
    entries: Iterable[Entry],
    wanted: FieldSet,
    transforms: Mapping[str, Sequence[Mapping[str, Any]]],
    jobs: Sequence[Job],
    enough: int,
    profile: ServiceProfile,
) -> Judgement:
    """Each wanted field: seen in the entries, or why not.

    ``transforms``: rules that set headers, by phase. ``jobs``: the zone's log jobs. ``enough``: entries with
    room for more that must have been seen before a field counts as never sent. Those of a job that does not
    list the log field of its kind, or has another data set, say nothing of a field. One that lacks it, and is
    of none such, has it empty: whether the service leaves it out then is unknown (docs/service.md §2.3).
    """
    fields = tuple(dict.fromkeys(fields_of(wanted)))
    seen: Counter[CustomField] = Counter()
    in_full: Counter[CustomField] = Counter()
    kinds = {field.kind for field in fields}
    carried: Counter[Kind] = Counter()
    full_of: Counter[Kind] = Counter()
    total = full = 0
    room = profile.most_log_data
    pushing = [job for job in jobs if pushes(job)]
    lists = [listed(job, profile) for job in pushing]
    everywhere = {kind for kind in kinds if lists and all(kind.log_field in names for names in lists)}
    of_requests = _KEYS if pushing == [job for job in jobs if job.get("enabled") is True] else _KEYS[:1]
    for entry in entries:
        theirs = any(key in entry for key in of_requests)
        of_kinds = [kind for kind in kinds if kind.log_field in entry or (theirs and kind in everywhere)]
        if not of_kinds:
            continue
        total += 1
        is_full = room is not None and _size(entry) >= room
        full += is_full
        carried.update(of_kinds)
        if is_full:
            full_of.update(of_kinds)
        held = {kind: _held(entry, kind) for kind in Kind}
        # Where nothing was left of a value, its name may still be there.
        here = [
            field
            for field in fields
            if field.name in held[field.kind] and (held[field.kind][field.name] or not is_full)
        ]
        seen.update(here)
        if is_full:
            in_full.update(here)
    unlisted = jobs_without(jobs, wanted, profile)

    def state(field: CustomField) -> FieldState:
        if seen[field]:
            return FieldState.SEEN
        if field.kind.log_field in unlisted:
            return FieldState.NOT_LISTED
        if carried[field.kind] - full_of[field.kind] >= enough:
            later = logged_as_it_came(field, profile) and set_by_transform(field, transforms) is not None
            return FieldState.SET_LATER if later else FieldState.NEVER_SENT
        return FieldState.TRUNCATED if carried[field.kind] >= enough else FieldState.TOO_FEW

    return Judgement(
        entries=total,
        full=full,
        fields=tuple(
            FieldSeen(
                kind=field.kind,
                name=field.name,
                state=state(field),
                entries=seen[field],
                in_full=in_full[field],
            )
            for field in fields
        ),
    )


def has_any(entry: Entry, fields: Iterable[CustomField]) -> bool:
    """Whether an entry has one of these fields, with whatever value."""
    return any(field.name in _held(entry, field.kind) for field in fields)


def sizes(samples: Iterable[Entry], fields: Iterable[CustomField], room: int) -> Sizes | None:
    """How much these fields take in sampled requests, or None without any sample. ``room``: bytes that an
    entry has for them.

    A sample has, as a log entry has, objects of names and values under ``RequestHeaders``,
    ``ResponseHeaders`` and ``Cookies``; what is not in it counts nothing.
    """
    wanted = tuple(dict.fromkeys(fields))
    found = sorted(
        sum(
            len(field.name.encode()) + len(held[field.kind][field.name].encode())
            for field in wanted
            if field.name in held[field.kind]
        )
        for held in ({kind: _held(sample, kind) for kind in Kind} for sample in samples)
    )
    if not found:
        return None
    return Sizes(
        sample=len(found),
        median=_percentile(found, 50),
        p95=_percentile(found, 95),
        largest=found[-1],
        over=sum(size > room for size in found),
    )


def size_reason(found: Sizes, room: int) -> Reason | None:
    """What people should know of the sizes before they agree, or None where everything fits easily into the
    ``room`` of an entry, in bytes.
    """
    if found.p95 > room:
        often = ReasonCode.FIELDS_OFTEN_CUT_OFF
        return Reason(code=often, of=found.sample, limit=room, size=found.p95)
    if found.over:
        return Reason(
            code=ReasonCode.FIELDS_CUT_OFF,
            count=found.over,
            of=found.sample,
            limit=room,
            size=found.largest,
        )
    if found.largest > 0.8 * room:
        return Reason(code=ReasonCode.FIELDS_NEARLY_FULL, limit=room, size=found.largest)
    return None


def _percentile(ordered: Sequence[int], percent: int) -> int:
    """By nearest rank."""
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


def _held(entry: Entry, kind: Kind) -> dict[str, str]:
    """The custom fields of one kind in an entry; header names in lower case."""
    values = entry.get(kind.log_field)
    if not isinstance(values, Mapping):
        return {}
    return {
        str(name) if kind is Kind.COOKIE else str(name).lower(): str(value) for name, value in values.items()
    }


def _size(entry: Entry) -> int:
    """Bytes of the three objects as an entry writes them: whatever the service counts, it is not more."""
    objects = [entry[kind.log_field] for kind in Kind if entry.get(kind.log_field)]
    return sum(
        len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()) for found in objects
    )

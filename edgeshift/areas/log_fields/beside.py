"""What became of the fields of others' rules in log entries once a rule of ours was beside them. Pure.

Whether the fields of several rules add up is not known (docs/service.md §2.2): the service may go by one rule
alone, and log what ours names in place of what theirs do, or theirs alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from math import ceil
from typing import Any

from edgeshift.areas.log_fields.entries import Entry, FieldState, has_any, judge
from edgeshift.areas.log_fields.jobs import Job
from edgeshift.areas.log_fields.names import CustomField, Kind, fields_of
from edgeshift.areas.log_fields.rules import Rule, carried, our_place
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.profiles import ServiceProfile


class Fate(Enum):
    """What the entries say of others' fields."""

    NOT_ASKED = auto()
    """Nothing: there are none, or they hardly came before; or none is of ours alone."""
    COME = auto()
    """They come as ours do, in one entry."""
    APART = auto()
    """They come, and so do ours, in different entries: requests may be so, or the change shows late."""
    STOPPED = auto()
    """They came before and do not any more, and ours do."""
    ALONE = auto()
    """They come, and none of ours does."""
    TOO_FEW = auto()
    """There are too few entries to say."""


@dataclass(frozen=True)
class OfOthers:
    """``fields``: those of others' rules that came before the change, each often enough to be missed."""

    fate: Fate
    fields: tuple[CustomField, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether more entries would say nothing else."""
        return self.fate in (Fate.NOT_ASKED, Fate.COME, Fate.STOPPED)


def others_fields(rules: Sequence[Rule]) -> FieldSet:
    """The fields that rules other than ours have logged, and ours does not."""
    place = our_place(rules)
    ours = carried([] if place is None else [rules[place]])
    theirs = sorted(carried([rule for at, rule in enumerate(rules) if at != place]) - ours)
    return FieldSet(
        **{kind.attribute: tuple(field.name for field in theirs if field.kind is kind) for kind in Kind}
    )


def beside(
    before: Sequence[Entry],
    since: Sequence[Entry],
    rules: Sequence[Rule],
    wanted: FieldSet,
    transforms: Mapping[str, Sequence[Mapping[str, Any]]],
    jobs: Sequence[Job],
    enough: int,
    profile: ServiceProfile,
) -> OfOthers:
    """What became of others' fields. ``before``, ``since``: entries from before the change and since, the
    newest first. ``rules``: as they are. ``enough``: as for ours (``judge``). A field counts that one of so
    many entries had before; it has stopped where it would have been in so many since, as often as it came.
    """
    theirs = others_fields(rules)
    was = judge(before, theirs, transforms, jobs, enough, profile)
    came = [field for field in was.fields if field.entries * enough >= was.entries and field.entries]
    ours = set(fields_of(wanted)) - set(fields_of(theirs))
    if not came or not ours:
        return OfOthers(Fate.NOT_ASKED)
    fields = tuple(field.field for field in came)
    if any(has_any(entry, ours) and has_any(entry, fields) for entry in since):
        return OfOthers(Fate.COME, fields)
    often = max(came, key=lambda field: field.entries)
    needed = ceil(enough * was.entries / often.entries)
    # The newest alone: the change shows later in one place of the service than in another.
    newest = since[: 2 * needed]
    now = {one.field: one for one in judge(newest, theirs, transforms, jobs, needed, profile).fields}
    if any(now[field].entries for field in fields):
        apart = any(has_any(entry, ours) for entry in since)
        return OfOthers(Fate.APART if apart else Fate.ALONE, fields)
    missed = now[often.field].state in (FieldState.NEVER_SENT, FieldState.SET_LATER)
    stopped = missed and any(has_any(entry, ours) for entry in newest)
    return OfOthers(Fate.STOPPED if stopped else Fate.TOO_FEW, fields)

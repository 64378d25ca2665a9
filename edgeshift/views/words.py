"""How places, outcomes and moments are called and marked, on every page and screen alike. Pure.

A *place* is where a zone is: a phase of the campaign's view of it, or an outcome (messages.WaveSummary).
Every place has a mark and a word beside its colour, so that nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from edgeshift.areas import AREAS
from edgeshift.model.counts import counted
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.reasons import Reason, codes_of
from edgeshift.model.sign_off import SignOffPolicy
from edgeshift.runtime.safe_text import one_line as one_line
from edgeshift.runtime.safe_text import printable as printable


class Kind(StrEnum):
    """What a place means to whoever looks: the order of these is the order of a progress bar's parts."""

    DONE = "done"
    NEEDS_PERSON = "needs_person"
    FAILED = "failed"
    WORKING = "working"
    WAITING = "waiting"
    UNSTARTED = "unstarted"


FINISHED = frozenset({Kind.DONE, Kind.NEEDS_PERSON, Kind.FAILED})
"""Kinds of places at which a zone has ended, for this attempt."""

STYLES = {
    Kind.DONE: "green",
    Kind.NEEDS_PERSON: "yellow",
    Kind.FAILED: "bold red",
    Kind.WORKING: "blue",
    Kind.WAITING: "magenta",
    Kind.UNSTARTED: "bright_black",
}
"""The terminal style of each kind."""


@dataclass(frozen=True)
class Look:
    """How a place appears: its word, its mark (also in plain ASCII), its kind, its rank in lists. ``beside``:
    what the word says of some of the targets there, beside where they are.
    """

    label: str
    mark: str
    ascii: str
    kind: Kind
    rank: int = 50
    beside: str = ""

    @property
    def style(self) -> str:
        """The terminal style of the place's kind."""
        return STYLES[self.kind]


_LOOKS: dict[str, Look] = {
    ZoneOutcome.MIGRATED: Look("migrated", "✓", "+", Kind.DONE, 0),
    ZoneOutcome.ALREADY_MIGRATED: Look("already migrated", "✓", "+", Kind.DONE, 1),
    ZoneOutcome.SETTLED: Look("settled", "✓", "+", Kind.DONE, 2),
    ZoneOutcome.ALREADY_SETTLED: Look("was settled already", "✓", "+", Kind.DONE, 3),
    ZoneOutcome.ROLLED_BACK: Look("rolled back", "↶", "<", Kind.NEEDS_PERSON, 29),
    ZoneOutcome.BLOCKED: Look("blocked", "■", "#", Kind.NEEDS_PERSON, 30),
    ZoneOutcome.NEEDS_SUPPORT: Look("needs support", "▲", "^", Kind.NEEDS_PERSON, 31),
    ZoneOutcome.REJECTED: Look("rejected", "⊘", "x", Kind.NEEDS_PERSON, 32),
    ZoneOutcome.ON_HOLD: Look("on hold", "◷", "=", Kind.NEEDS_PERSON, 33),
    ZoneOutcome.ABORTED: Look("aborted", "◼", "-", Kind.NEEDS_PERSON, 34),
    ZoneOutcome.FAILED: Look("failed", "✗", "!", Kind.FAILED, 40),
    ZoneOutcome.UNKNOWN: Look("unknown", "?", "?", Kind.FAILED, 41),
}
_LOOKS |= {
    "pending": Look("not started", "·", ".", Kind.UNSTARTED, 60),
    "working": Look("being read or evaluated", "●", "o", Kind.WORKING, 10),
    "ready_validate": Look("ready for validation", "●", "o", Kind.WORKING, 11),
    "waiting": Look("in the validation window", "◔", "%", Kind.WAITING, 12),
    "awaiting": Look("awaiting a sign-off", "◆", "*", Kind.WAITING, 13),
    "proposed": Look("awaiting a sign-off, or further", "◆", "*", Kind.WAITING, 13),
    "awaiting_separate": Look("awaiting their own sign-off", "◈", "*", Kind.WAITING, 14),
    "support": Look("with the provider's support", "△", "^", Kind.WAITING, 15),
    "ready": Look("signed, ready to be sent", "●", "o", Kind.WORKING, 16),
    "permitted": Look("being sent and verified", "▶", ">", Kind.WORKING, 17),
    "rolling_back": Look("being rolled back", "↶", "<", Kind.WORKING, 17),
    "rejecting": Look("ending: rejected", "●", "o", Kind.WORKING, 18),
    "expiring": Look("ending: nobody signed in time", "●", "o", Kind.WORKING, 18),
    "stopping": Look("ending", "●", "o", Kind.WORKING, 18),
    "closed": Look("closed", "○", "/", Kind.NEEDS_PERSON, 36),
    "excluded": Look("left out", "○", "/", Kind.NEEDS_PERSON, 35),
}
"""Outcomes, and the places of a campaign's ledger (edgeshift/campaign/ledger.py), by their names in a
summary.
"""


PLACES = frozenset(map(str, _LOOKS))
"""Every outcome and place that has a look of its own."""


@lru_cache(maxsize=1_000)
def look(place: str, area: Area | None = None) -> Look:
    """How ``place`` appears, in the words of ``area`` where it has its own. One that is not known here is
    shown under its own name, as work that goes on.
    """
    own = AREAS[area].words.get(place, "") if area else ""
    if known := _LOOKS.get(place):
        return replace(known, label=own) if own else known
    words = own or place.replace("_", " ").replace("sign off", "sign-off").strip() or "somewhere"
    return Look(words, "●", "o", Kind.WORKING, 19)


def unverified(causes: Iterable[Reason], area: Area | None) -> bool:
    """Whether a target of ``area`` ended so, for these reasons, that what was written is not verified."""
    return area is not None and not AREAS[area].unverified.isdisjoint(codes_of(causes))


def maybe_unverified(place: str, area: Area | None) -> bool:
    """Whether some of the targets at ``place`` may have been written and not verified."""
    return place == ZoneOutcome.SETTLED and area is not None and AREAS[area].keeps_unverified


def look_ended(place: str, area: Area | None, causes: Iterable[Reason], *, unread: bool = False) -> Look:
    """How one target appears: as its place does, but that what was not verified has no ✓, nor what may be so
    and was not read. ``causes``: why it is there; ``unread``: nobody has read that.
    """
    appears = look(place, area)
    if appears.kind is Kind.DONE and unverified(causes, area):
        return _unticked(appears, "not verified")
    if unread and maybe_unverified(place, area):
        return _unticked(appears, "not read")
    return appears


def look_of_many(place: str, area: Area | None) -> Look:
    """How a place appears where its targets are counted, and their results are not read: without ✓ where some
    may not be verified.
    """
    appears = look(place, area)
    return _unticked(appears) if maybe_unverified(place, area) else appears


def _unticked(appears: Look, more: str = "") -> Look:
    label = f"{appears.label}, {more}" if more else appears.label
    return replace(appears, label=label, beside=more, mark="○", ascii="/")


def word(name: str, area: Area) -> str:
    """What ``area`` calls one of its steps or phases, or its targets (``zone``)."""
    return AREAS[area].words.get(str(name), str(name).replace("_", " ").replace("sign off", "sign-off"))


def targets(count: int, area: Area) -> str:
    """``1 zone``, ``12 scopes``: so many targets of a campaign of this area."""
    return counted(count, word("zone", area))


def target_named(index: int, names: Mapping[int, str], area: Area) -> str:
    """``zone shop.example``: a target of a campaign, by its index. Where its name is not known, by its
    number in the campaign's list, from 1.
    """
    name = names.get(index)
    return f"{word('zone', area)} {one_line(name) if name else f'number {index + 1:,}'}"


def policy_text(policy: SignOffPolicy, noun: str, *, signed: bool) -> str:
    """How many must approve, and who may. ``noun``: what a target is called; ``signed``: whether signatures
    alone count, by people whom the roots know as approvers.
    """
    who = f"from {', '.join(policy.approvers)}" if policy.approvers else "no approvers are listed"
    if signed:
        who = f"{who}, by key" if policy.approvers else "from whom the roots name as approvers, by key"
    many = "one approval" if policy.required == 1 else f"{policy.required} approvals"
    each = f", for each {noun} by itself" if policy.per == "zone" else ""
    return f"{many}, {who}{each}"


def ordered(places: Mapping[str, int]) -> list[tuple[str, int]]:
    """The places that hold a zone, in the order in which they are listed everywhere."""
    held = [(place, count) for place, count in places.items() if count]
    return sorted(held, key=lambda item: (look(item[0]).rank, item[0]))


def by_kind(places: Mapping[str, int]) -> dict[Kind, int]:
    """The number of zones of each kind of place, every kind present."""
    counts = dict.fromkeys(Kind, 0)
    for place, count in places.items():
        counts[look(place).kind] += count
    return counts


def finished(places: Mapping[str, int]) -> int:
    """How many zones have an outcome."""
    return sum(count for place, count in places.items() if look(place).kind in FINISHED)


def short(digest: str) -> str:
    """The part of a digest that people read and type."""
    return digest[:12]


def moment(value: datetime | None) -> str:
    """A moment in UTC, to the second: ``2026-03-01 12:30:05 UTC``; a dash where there is none, and as it is
    where UTC has no such date.
    """
    try:
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if value else "-"
    except OverflowError:
        return value.isoformat() if value else "-"


def clock(value: datetime) -> str:
    """The time of day in UTC, to the second."""
    return f"{value.astimezone(UTC):%H:%M:%S}"


def lasting(value: timedelta) -> str:
    """A duration for people: ``0.4s``, ``35s``, ``1h 30m``; never negative."""
    seconds = max(value.total_seconds(), 0.0)
    return f"{seconds:.1f}s" if seconds < 10 else say_duration(timedelta(seconds=round(seconds)))


def joined(names: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""

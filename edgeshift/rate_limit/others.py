"""Others who call as the same user: how many their calls are, and the room that is left to them. Pure.

An answer of the service may say how many calls of the limit remain (docs/service.md §8, observed). What was
used and was not used here, others have used. The user's quota reckons how much of the slots may be spent
beside them (``keep``), and each process looks after every answer whether there is still room for a call
(``Window``). An answer that says nothing of it changes nothing.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from edgeshift.rate_limit.terms import PaceTerms

FLOOR = 0.05
"""The part of its slots that a user keeps however many calls others make: they may be gone, or counted
wrongly.
"""

_RESERVE = 0.01
_FEWEST_RESERVED = 2
_FILLS_AGAIN_OVER = 4
"""What of a rolling window is free without need is used up within the fourth part of it."""

MOST_REPORTS = 500
"""Processes of a user of which is kept what they saw: the latest."""

_MOST = 10**9
_LONGEST_WINDOW = 86_400.0
_LONGEST_AGO = 1e9
_LONGEST_HEADER = 1_000
_CREEPS = 8
"""Of a rolling window of which nothing is heard, an eighth of what it holds is believed to come free."""

_MOST_UNTOLD = 10_000
"""Calls that are remembered while nobody has told how long a window is."""

_ITEM = re.compile(r'"([^"\\]{1,100})"((?:\s*;\s*[a-z]{1,20}=[^;,\s]{1,40})*)')
_PARAMETER = re.compile(r";\s*([a-z]{1,20})=(\d{1,12})(?=[;,\s]|$)")


class Told(BaseModel):
    """What an answer says of a limit: ``limit`` calls in ``window`` seconds, of which ``remaining`` are left;
    they are counted anew in ``reset`` seconds.
    """

    model_config = ConfigDict(frozen=True)

    limit: Annotated[int, Field(ge=1, le=_MOST)]
    window: Annotated[FiniteFloat, Field(gt=0, le=_LONGEST_WINDOW)]
    remaining: Annotated[int, Field(ge=0, le=_MOST)]
    reset: Annotated[FiniteFloat, Field(ge=0, le=_LONGEST_AGO)] = 0.0

    @property
    def rolling(self) -> bool:
        """Whether the window rolls: its end is always a whole window away, or nothing is said of it."""
        return not 0 < self.reset < self.window

    @property
    def counted(self) -> float:
        """Seconds up to the answer over which the calls were counted."""
        return self.window if self.rolling else self.window - self.reset

    @property
    def reserve(self) -> int:
        """Calls that are left unused: those that 99 % of the limit leave, two at least."""
        return max(_FEWEST_RESERVED, math.ceil(self.limit * _RESERVE))


def remaining_of(headers: Mapping[str, str]) -> Told | None:
    """What the headers ``Ratelimit`` and ``Ratelimit-Policy`` say, or None where they say nothing that can be
    reckoned with: one of them is missing, or more remain than the policy allows. Of several limits the one
    that is used up most counts.
    """
    left = limit_items(headers.get("ratelimit", ""))
    policies = limit_items(headers.get("ratelimit-policy", ""))
    found: list[Told] = []
    for name, said in left.items():
        policy = policies.get(name, {})
        if "r" not in said or not 0 < policy.get("q", 0) <= _MOST or said["r"] > policy["q"]:
            continue
        if 0 < policy.get("w", 0) <= _LONGEST_WINDOW:
            reset = min(said.get("t", 0), policy["w"])
            found.append(Told(limit=policy["q"], window=policy["w"], remaining=said["r"], reset=reset))
    return min(found, key=lambda one: one.remaining / one.limit, default=None)


def limit_items(header: str) -> dict[str, dict[str, int]]:
    """The items of a header by name, each with its whole-numbered parameters."""
    return {
        name: {key: int(value) for key, value in _PARAMETER.findall(parameters)}
        for name, parameters in _ITEM.findall(header[:_LONGEST_HEADER])
    }


# --- the quota's view, over all processes


class Seen(BaseModel):
    """What a process last saw: ``told`` by an answer to a call that was made ``ago`` seconds ago, and how
    many calls it had made itself in the time over which they were counted.
    """

    model_config = ConfigDict(frozen=True)

    told: Told
    own: Annotated[int, Field(ge=0, le=_MOST)]
    ago: Annotated[FiniteFloat, Field(ge=0, le=_LONGEST_AGO)]


class Report(BaseModel):
    """The last that a process saw, and when that was, in seconds since the epoch."""

    at: float
    told: Told
    own: int


class Others(BaseModel):
    """What the processes of a user saw last, by their names."""

    reports: dict[str, Report] = {}


def reported(others: Others, now: float, holder: str, seen: Seen | None) -> Others:
    """The state once a process has said what it saw. An older answer never replaces a newer one, and what was
    seen more than a window ago is forgotten.
    """
    reports = {
        name: report for name, report in others.reports.items() if now - report.at < report.told.window
    }
    if seen is not None and seen.ago < seen.told.window:
        at = now - seen.ago
        before = reports.get(holder)
        if before is None or before.at <= at:
            reports[holder] = Report(at=at, told=seen.told, own=seen.own)
    if len(reports) > MOST_REPORTS:
        latest = sorted(reports, key=lambda name: reports[name].at)[-MOST_REPORTS:]
        reports = {name: reports[name] for name in latest}
    return Others(reports=reports)


def keep(others: Others, now: float, terms: PaceTerms) -> float:
    """The part of the slots that may be spent beside what others use: 1 where they need no room, ``FLOOR`` at
    least.

    The newest answer says how much was used; what all processes together had used of it comes off.
    """
    newest = max(others.reports.values(), key=lambda report: report.at, default=None)
    if newest is None or now - newest.at >= newest.told.window:
        return 1.0
    said = newest.told
    own = sum(_own(report, newest, terms) for report in others.reports.values())
    foreign = max(0.0, said.limit - said.remaining - own)
    free = said.remaining - said.reserve
    if said.rolling:
        # What others use stays used; what is free beyond the reserve nobody needs just now.
        rate = (said.limit - said.reserve - foreign + _FILLS_AGAIN_OVER * max(0, free)) / said.window
    elif now - newest.at >= said.reset:
        return 1.0
    else:
        # What is free has to last until all is counted anew, for others too, who call on as they did.
        rate = free / said.reset - foreign / max(said.counted, said.window / 4)
    return max(FLOOR, min(1.0, rate / terms.rate))


def _own(report: Report, newest: Report, terms: PaceTerms) -> float:
    """How many calls of a process were counted when the newest answer came. It goes on as it did, unless it
    has been silent for longer than a block and a half: then its calls fall out of the window.
    """
    silent = newest.at - report.at - 1.5 * terms.block_length
    still = 1 - max(0.0, silent) / report.told.window
    return report.own * max(0.0, still) * newest.told.counted / report.told.counted


# --- one process's view, after every answer


class Window:
    """What one process knows of the window by the newest answer and its own calls since.

    All times are those of the process's own clock, in seconds; the caller passes them in.
    """

    def __init__(self) -> None:
        self._told: Told | None = None
        self._at = 0.0
        self._made: list[float] = []

    def spent(self, now: float) -> None:
        """A call is made."""
        made = self._made
        made.append(now)
        if self._told is None:
            if len(made) > _MOST_UNTOLD:
                del made[: _MOST_UNTOLD // 2]
            return
        horizon = max(self._at, now - self._told.window) - self._told.window
        if made[len(made) // 2] <= horizon:
            del made[: bisect_right(made, horizon)]

    def hear(self, said: Told, sent: float) -> None:
        """An answer came to a call that was sent then. One to an earlier call than that of an answer which
        has come already says nothing new.
        """
        if self._told is None or sent >= self._at:
            self._told, self._at = said, sent

    def seen(self, now: float) -> Seen | None:
        """What to report, or None where nothing was told."""
        if self._told is None:
            return None
        own = self._between(self._at - self._told.counted, self._at)
        return Seen(told=self._told, own=own, ago=max(0.0, now - self._at))

    def share(self, now: float) -> float:
        """The part of the slots that may be spent by what the newest answer says: 1 while more remain than
        are to be left, less as they get fewer, 0 where none remain.
        """
        said = self._told
        if said is None:
            return 1.0
        age = max(0.0, now - self._at)
        if age >= (said.window if said.rolling else said.reset):
            return 1.0
        left = float(said.remaining - self._between(self._at, now))
        if said.rolling:
            # Own calls fall out of the window again, and others' do too, though nobody says so.
            left += self._between(self._at - said.window, now - said.window)
            left += age * said.limit / said.window / _CREEPS
        return max(0.0, min(1.0, left / said.reserve))

    def _between(self, after: float, until: float) -> int:
        """How many calls were made after one moment and up to another."""
        return max(0, bisect_right(self._made, until) - bisect_right(self._made, after))

"""The figures of a running campaign: progress, rate, what is left. Pure: samples of its summary go in."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TypeAlias

from edgeshift.campaign.target_states import AWAITING_WORDS
from edgeshift.messages import Book, CampaignSummary
from edgeshift.model.campaign_phase import SIGNABLE, CampaignPhase
from edgeshift.model.rollout import wave_begins
from edgeshift.model.sign_off import Decision
from edgeshift.views.chosen import as_chosen
from edgeshift.views.words import Kind, by_kind, finished, one_line, short, target_named, targets, word

_TIME = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ")
"""With which a campaign's note begins."""

TRAILING = timedelta(seconds=60)
"""How far back the rate looks."""

FOR_PEOPLE = (*AWAITING_WORDS, "support")
"""Places at which a zone waits until a person does something."""


@dataclass(frozen=True)
class Progress:
    """Where a campaign stands. ``rate``: zones finished per minute, None while there is too little to say,
    as at a first look where zones were begun again.

    ``left``: about how long the rest takes at this rate, None where that is not known: while a zone waits for
    people, or for the end of a window, it does not hang on the rate; nor does it once every zone has begun,
    as each takes its own time. ``people``: how many wait for people.
    """

    done: int
    count: int
    kinds: Mapping[Kind, int]
    elapsed: timedelta
    rate: float | None
    left: timedelta | None
    people: int = 0

    @property
    def percent(self) -> float:
        """How much of the campaign is finished, 0 to 100."""
        return 100 * self.done / self.count if self.count else 100.0


class Pace:
    """Remembers when how many zones were finished, for the last minute."""

    def __init__(self) -> None:
        self._samples: deque[tuple[datetime, int]] = deque()

    def progress(self, summary: CampaignSummary, now: datetime) -> Progress:
        """The figures after one more sample, taken at ``now``; samples come in their order.

        The summary's own time is that of the campaign's last step, which stands still while it waits.
        """
        done = finished(summary.places)
        if self._samples and done < self._samples[-1][1]:
            # A retry took zones back into work: what came before says nothing of the pace from here.
            self._samples.clear()
        self._samples.append((now, done))
        while len(self._samples) > 2 and now - self._samples[1][0] >= TRAILING:
            self._samples.popleft()
        rate = self._rate(summary, done, now)
        kinds = by_kind(summary.places)
        moving = kinds[Kind.WORKING] + kinds[Kind.UNSTARTED]
        runs = summary.state == CampaignPhase.RUNNING and not kinds[Kind.WAITING]
        left = timedelta(minutes=moving / rate) if rate and runs and kinds[Kind.UNSTARTED] else None
        people = sum(summary.places.get(place, 0) for place in FOR_PEOPLE)
        return Progress(done, summary.count, kinds, now - summary.started_at, rate, left, people)

    def _rate(self, summary: CampaignSummary, done: int, now: datetime) -> float | None:
        since, before = self._samples[0]
        minutes = (now - since).total_seconds() / 60
        if minutes * 60 < 3:
            if summary.begun_again:
                # It may have been closed before: who knows for how long.
                return None
            since, before = summary.started_at, 0
            minutes = (now - since).total_seconds() / 60
        return (done - before) / minutes if minutes * 60 >= 1 else None


NAMELESS: Mapping[int, str] = MappingProxyType({})
"""Where no target's name is known."""


Said: TypeAlias = tuple[str, int | None, str, str, datetime | None]
"""A decision, told from others: fingerprint, wave, person, choice, and when: after a reopening a person may
say the same once more.
"""


def changed_lines(
    before: CampaignSummary | None,
    now: CampaignSummary,
    names: Mapping[int, str] = NAMELESS,
    told: Collection[Said] = (),
) -> list[str]:
    """What has changed between two summaries, a line each, without the counts of places. ``names``: those of
    targets, by index, as far as they are known. ``told``: decisions that need not be in ``before`` to be
    known: what is published are the latest alone.
    """
    lines: list[str] = []
    if before is None or before.state != now.state or before.why != now.why:
        lines.append(f"{now.name}: {now.state}{f' - {one_line(now.why)}' if now.why else ''}")
        lines += [f"to do: {as_chosen(one_line(now.fix))}"] if now.fix else []
    if before is not None and before.wave != now.wave and now.wave < len(now.waves):
        wave = now.waves[now.wave]
        lines.append(
            f"wave {now.wave + 1} of {len(now.waves)} ({wave.name}) begins: {targets(wave.size, now.area)}"
        )
    known = {item.fingerprint for item in before.waiting} if before else set()
    for item in now.waiting:
        if item.fingerprint not in known:
            step = word(item.step, now.area)
            line = f"waiting for a sign-off: fingerprint {short(item.fingerprint)}, {step},"
            line += f" {targets(item.zones, now.area)}"
            # A decision on the fingerprint does not reach zones whose evidence did not pass.
            if item.zones > item.separate and now.state in SIGNABLE:
                line += f" -> {sign_command(now.name, item.fingerprint)}"
            lines.append(line)
    if (command := causes_command(now)) and not (before and causes_command(before)):
        nouns = f"{word('zone', now.area)}s"
        lines.append(f"{nouns} that wait for a sign-off of their own, grouped by cause -> {command}")
    signed = said_in(before).union(told)
    for book in now.book:
        for decision in book.decisions:
            if _said(book, decision) not in signed:
                reason = f": {one_line(decision.reason)}" if decision.reason else ""
                lines.append(
                    f"{decision.by} {decision.choice.past} fingerprint {short(book.fingerprint)}{reason}"
                )
    noted = set(before.notes) if before else set()
    # That a wave begins has just been said, with its size.
    begun = {wave_begins(wave.name) for wave in now.waves}
    # Of a long one, its beginning is published.
    fresh = [note for note in now.notes if not note.startswith(tuple(noted))]
    lines += [f"note: {one_line(note)}" for note in fresh if _TIME.sub("", note) not in begun]
    excluded = before.excluded if before else {}
    lines += [
        f"{target_named(at, names, now.area)} is left out: {one_line(why)}"
        for at, why in now.excluded.items()
        if at not in excluded
    ]
    return lines


def sign_command(campaign: str, fingerprint: str) -> str:
    """The command that signs a fingerprint."""
    return as_chosen(f"edgeshift sign-off approve {campaign} --fingerprint {fingerprint[:12]}")


def causes_command(summary: CampaignSummary) -> str:
    """The command that groups the zones which wait singly by cause; empty where no two do, or nothing can be
    signed any more.
    """
    several = sum(item.separate for item in summary.waiting) > 1
    offered = several and summary.state in SIGNABLE
    return as_chosen(f"edgeshift sign-off causes {summary.name}") if offered else ""


def said_in(summary: CampaignSummary | None) -> set[Said]:
    """The decisions that a summary shows."""
    return {
        _said(book, decision) for book in (summary.book if summary else ()) for decision in book.decisions
    }


def _said(book: Book, decision: Decision) -> Said:
    return book.fingerprint, book.wave, decision.by, decision.choice, decision.at

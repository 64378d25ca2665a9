"""The most commits that the roots let through: in an hour, of a campaign's wave, of a campaign."""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from activities.proof.records import SIDE_BY_SIDE, WorkerRecords
from edgeshift.authority.roots import Roots, RootsFile, asking
from edgeshift.messages import Change, Step
from edgeshift.model.fleet import Target
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import CountedCommit, Intent, intent_key, intents_at

LISTED_AFTER = 3
"""Places that other workers have taken meanwhile, after which they are listed again."""

MOST_KNOWN = 200
"""Hours, waves and campaigns of which a worker remembers what is taken."""


@dataclass(frozen=True)
class Cap:
    """``most`` commits have places at ``name`` in the archive; ``of`` says what these are the commits of.
    ``counted``: where it is recorded that this attempt of a zone has its place, however often it is tried,
    and what its place holds, by which it is known where that was not recorded; empty: each try takes one.
    """

    name: str
    most: int
    of: str
    counted: str = ""

    def __str__(self) -> str:
        return f"{self.most:,} commits were made {self.of}, the most by the roots"


def caps_of(roots: RootsFile, campaign: str, target: Target, attempt: int, now: datetime) -> tuple[Cap, ...]:
    """What holds for a commit, the narrowest first. ``campaign``: its name."""
    of_campaign, of_wave = f"commits/campaign/{campaign}", f"commits/wave/{campaign}/{target.wave}"
    of_hour, zone = f"commits/{now:%Y%m%dT%H}", f"{target.zone.id}/{attempt}"
    wave = f"of wave {target.wave + 1} of {campaign}"
    found = (
        (of_hour, roots.most_commits_an_hour, "in this hour", ""),
        (of_wave, roots.most_commits_a_wave, wave, f"counted/wave/{campaign}/{target.wave}/{zone}"),
        (of_campaign, roots.most_commits_a_campaign, f"of {campaign}", f"counted/campaign/{campaign}/{zone}"),
    )
    return tuple(Cap(name, most, of, counted) for name, most, of, counted in found if most)


@dataclass
class _Places:
    """Places that are known to be taken, and the lowest that may not be; how many others were found so since
    they were listed. ``held``: what those hold that were read, and which place it is.
    """

    taken: set[str] = field(default_factory=set)
    held: dict[bytes, int] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)
    lowest: int = 0
    missed: int = LISTED_AFTER


class CommitCaps:
    """Takes a place for each commit, of each cap: the archive gives none twice, whichever worker asks."""

    def __init__(self, archive: Archive, recorded: WorkerRecords) -> None:
        self._archive = archive
        self._recorded = recorded
        self._known: OrderedDict[str, _Places] = OrderedDict()

    async def full(
        self, change: Change, campaign: str, roots: Roots | None, now: datetime, *, sent: bool
    ) -> Cap | None:
        """The cap that lets no such change through for now, else None. ``campaign``: its name; ``sent``: as
        ``take`` has it. Raises ArchiveError.
        """
        if (asked := asking(roots)) is None or change.step is not Step.COMMIT:
            return None
        caps = caps_of(asked.file, campaign, change.start.target, change.start.attempt, now)
        before = partial(self._tried_before, change)
        return await self.take(caps, change.permit.name, sent=sent, before=before)

    async def take(
        self,
        caps: Sequence[Cap],
        permit: str,
        *,
        sent: bool = True,
        before: Callable[[], Awaitable[bool]] | None = None,
    ) -> Cap | None:
        """Take a place of each; else the one that has none left. Nothing is given back, so that all are
        looked at before any is taken: one that has none left uses up no place of the others. ``sent``:
        whether it is about to be sent; before that, they are only looked at: a try may never have its turn to
        call, and of which attempt it is, is its caller's word until then. ``before``: whether the same
        attempt may have been tried before, so that it may have a place already. Raises ArchiveError.
        """
        needed = [cap for cap in caps if not await self._is_counted(cap)]
        full = [cap for cap in needed if not await self._has_room(cap)]
        counted = [cap for cap in needed if cap.counted and (sent or full)]
        again = bool(counted) and before is not None and await before()
        own = {cap: await self._own(cap) for cap in counted if again}
        for cap in full:
            if own.get(cap) is None:
                return cap
        for cap in needed if sent else ():
            place = own.get(cap)
            if place is None:
                place = await self._place(cap, permit)
            if place is None:
                return cap
            if cap.counted:
                await self._recorded.create(cap.counted, CountedCommit(place=place))
        return None

    async def _is_counted(self, cap: Cap) -> bool:
        """Whether this attempt of the zone has its place already."""
        return bool(cap.counted) and await self._recorded.proven(CountedCommit, cap.counted) is not None

    async def _tried_before(self, change: Change) -> bool:
        """Whether a commit of the same attempt was about to be sent under another permit."""
        start = change.start
        key = intent_key(start.target.zone, start.area, change.permit.name)
        asked = (start.campaign, start.attempt, Step.COMMIT.value)
        async for found, record in self._recorded.each(Intent, intents_at(start.target.zone, start.area)):
            if isinstance(record, ArchiveError):
                raise record
            another = found != key and not found.startswith(f"{key}-")
            if another and (record.campaign, record.attempt, record.step) == asked:
                return True
        return False

    async def _own(self, cap: Cap) -> int | None:
        """The place that a try before has taken for the same attempt without recording that it has it, such
        as that of a worker that was killed then. The latest first; each is read once.
        """
        places, own = self._places(cap), cap.counted.encode()
        await self._list(cap, places)
        rest = [place for place in reversed(range(cap.most)) if place not in places.read]
        rest = [place for place in rest if str(place) in places.taken]

        async def content(place: int) -> bytes | None:
            return await self._archive.get_named(f"{cap.name}/{place}")

        for first in range(0, len(rest), SIDE_BY_SIDE):
            some = rest[first : first + SIDE_BY_SIDE]
            for place, data in zip(some, await asyncio.gather(*map(content, some)), strict=True):
                if data is not None:
                    places.read.add(place)
                    places.held[data] = place
            if own in places.held:
                break
        found = places.held.get(own)
        return found if found is not None and found < cap.most else None

    async def _has_room(self, cap: Cap) -> bool:
        """Whether a place is free, as far as can be seen: others may take it meanwhile."""
        places = self._places(cap)
        while (place := await self._next(cap, places)) < cap.most:
            if await self._archive.get_named(f"{cap.name}/{place}") is None:
                return True
            places.taken.add(str(place))
            places.missed += 1
        return False

    async def _next(self, cap: Cap, places: _Places) -> int:
        """The lowest place that is not known to be taken, or the number of places."""
        while places.lowest < cap.most:
            if places.missed >= max(LISTED_AFTER, len(places.taken) // 4):
                # Nothing is ever given back: what is known to be taken stays so. Beside other workers most
                # places are others', and to list many for each commit takes longer than to come upon a few.
                await self._list(cap, places)
            if str(places.lowest) not in places.taken:
                return places.lowest
            places.lowest += 1
        return cap.most

    async def _list(self, cap: Cap, places: _Places) -> None:
        places.missed = 0
        places.taken |= {key.rpartition("/")[2] async for key in self._archive.list(cap.name)}

    def _places(self, cap: Cap) -> _Places:
        found = self._known.setdefault(cap.name, _Places())
        self._known.move_to_end(cap.name)
        while len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return found

    async def _place(self, cap: Cap, permit: str) -> int | None:
        """A place that was free, or None where there is none."""
        places = self._places(cap)
        own = (cap.counted or f"{permit} {uuid.uuid4().hex}").encode()
        while (place := await self._next(cap, places)) < cap.most:
            made = await self._is_made(f"{cap.name}/{place}", own)
            places.taken.add(str(place))
            if made:
                return place
            places.missed += 1
        return None

    async def _is_made(self, key: str, own: bytes) -> bool:
        """Whether the place is one's own now: also where the answer was lost, or a store was asked again."""
        try:
            made = await self._archive.create_once(key, own)
        except ArchiveError:
            if not await self._archive.holds(key, own):
                raise
            return True
        return made or await self._archive.holds(key, own)

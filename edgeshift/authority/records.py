"""Signed statements in the archive: created once, found by what they are about.

A statement lies at ``signed/<campaign>/statement/<its digest>``, so that none can take another's place. What
finds it are names alone: ``signed/<campaign>/start/<digest>``, ``…/decision/<subject>/<digest>``,
``…/word/<digest>``, ``…/again/<zone>/<digest>``, ``…/repair/<digest>``,
``…/result/<run>/<zone>/<attempt>/<digest>``. What cannot be read, or does not verify, is nothing.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from edgeshift.authority.statements import (
    AgainStatement,
    Attested,
    BadStatement,
    DecisionStatement,
    RepairStatement,
    ResultStatement,
    StartStatement,
    Statement,
    WordStatement,
    opened,
    sealed,
)
from edgeshift.stores.archive import Archive, ArchiveUnavailable

MOST = 2_000
"""Names that are looked at in one place. Where there are more, nothing there counts: somebody floods it."""

EVERY_ZONE = "every-zone"
"""Stands for the zone where a word names none."""

_KEPT = 20_000
_SIDE_BY_SIDE = 16


def places_of(statement: Statement) -> tuple[str, ...]:
    """Where a statement is found, without its own digest."""
    campaign = statement.campaign
    match statement:
        case StartStatement():
            return (f"signed/{campaign}/start",)
        case DecisionStatement():
            return tuple(decisions_at(campaign, subject) for subject in statement.subjects)
        case WordStatement():
            return (f"signed/{campaign}/word",)
        case AgainStatement():
            return tuple(agains_at(campaign, zone) for zone in statement.zones or (EVERY_ZONE,))
        case RepairStatement():
            return (f"signed/{campaign}/repair",)
        case ResultStatement():
            return (results_at(campaign, statement.run, statement.zone, statement.attempt),)
    raise TypeError(type(statement).__name__)


def _lies_at(statement: Statement, place: str) -> bool:
    """Whether a statement is to be found at a place: as ``places_of`` says, which may be thousands."""
    if isinstance(statement, DecisionStatement):
        subject = place.rpartition("/")[2]
        return place == decisions_at(statement.campaign, subject) and subject in statement.subjects
    return place in places_of(statement)


def agains_at(campaign: str, zone: str) -> str:
    """Where the words are found that begin a zone again; ``EVERY_ZONE``: whichever it is."""
    return f"signed/{campaign}/again/{zone}"


def decisions_at(campaign: str, subject: str) -> str:
    """Where the decisions on a digest or fingerprint are found."""
    return f"signed/{campaign}/decision/{subject}"


def results_at(campaign: str, run: str, zone: str, attempt: int) -> str:
    """Where the results of one attempt of a campaign's target are found."""
    return f"signed/{campaign}/result/{run}/{zone}/{attempt}"


def statement_at(campaign: str, digest: str) -> str:
    """Where a statement lies."""
    return f"signed/{campaign}/statement/{digest}"


class Flooded(ArchiveUnavailable):
    """There are more names at a place than anybody looks at."""


class SignedRecords:
    """The signed statements of an archive. What was verified once is kept in memory: it cannot change."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._known: OrderedDict[str, Attested] = OrderedDict()

    async def put(self, statement: Statement, signature: str) -> str:
        """Record a statement; its digest. Raises ArchiveError, and BadStatement where the signature is none
        of it.
        """
        data, digest = sealed(statement, signature), statement.digest
        said = opened(data)
        if not await self._archive.create_once(statement_at(statement.campaign, digest), data):
            await self._confirm(statement_at(statement.campaign, digest), said)
        gate = asyncio.Semaphore(_SIDE_BY_SIDE)

        async def found_at(place: str) -> None:
            async with gate:
                await self._archive.create_once(f"{place}/{digest}", b"{}")

        await asyncio.gather(*map(found_at, places_of(statement)))
        return digest

    async def _confirm(self, key: str, said: Attested) -> None:
        """That what is there says the same, by the same key: some keys never sign twice alike."""
        data = await self._archive.get_named(key) or b""
        try:
            same = opened(data) == said
        except BadStatement:
            same = False
        if not same or not await self._archive.holds(key, data):
            raise ArchiveUnavailable(f"{key} is there already, and is another one")

    async def at(self, campaign: str, place: str) -> tuple[Attested, ...]:
        """The statements that are found at a place. Raises ArchiveError."""
        digests = []
        async for key in self._archive.list(place):
            digests.append(key.rpartition("/")[2])
            if len(digests) > MOST:
                raise Flooded(f"more than {MOST:,} records at {place}: nobody looks at them")
        gate = asyncio.Semaphore(_SIDE_BY_SIDE)

        async def one(digest: str) -> Attested | None:
            async with gate:
                return await self._read(campaign, digest)

        unknown = [digest for digest in digests if digest not in self._known]
        read = dict(zip(unknown, await asyncio.gather(*map(one, unknown)), strict=True))
        found = [read[one] if one in read else self._remembered(one) for one in sorted(digests)]
        return tuple(said for said in found if said is not None and _lies_at(said.statement, place))

    def _remembered(self, digest: str) -> Attested | None:
        if (said := self._known.get(digest)) is not None:
            self._known.move_to_end(digest)
        return said

    async def _read(self, campaign: str, digest: str) -> Attested | None:
        data = await self._archive.get_named(statement_at(campaign, digest))
        try:
            said = opened(data or b"")
        except BadStatement:
            return None
        if said.digest != digest or said.statement.campaign != campaign:
            return None
        self._known[digest] = said
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return said

    async def starts(self, campaign: str) -> tuple[Attested, ...]:
        """Signed starts of campaigns of this name, the latest first. Raises ArchiveError."""
        found = await self.at(campaign, f"signed/{campaign}/start")
        return tuple(sorted(found, key=lambda said: said.statement.issued, reverse=True))

    async def decisions(self, campaign: str, subjects: frozenset[str]) -> tuple[Attested, ...]:
        """Signed decisions on these digests. Raises ArchiveError."""
        some = [await self.at(campaign, decisions_at(campaign, subject)) for subject in sorted(subjects)]
        return tuple(said for found in some for said in found)

    async def words(self, campaign: str) -> tuple[Attested, ...]:
        """Signed words to a campaign. Raises ArchiveError."""
        return await self.at(campaign, f"signed/{campaign}/word")

    async def agains(self, campaign: str, zone: str) -> tuple[Attested, ...]:
        """Signed words that begin a zone again, by its identifier. Raises ArchiveError."""
        some = [await self.at(campaign, agains_at(campaign, one)) for one in (EVERY_ZONE, zone)]
        return tuple(said for found in some for said in found)

    async def results(self, campaign: str, run: str, zone: str, attempt: int) -> tuple[Attested, ...]:
        """What workers have signed of one attempt of a target. Raises ArchiveError."""
        return await self.at(campaign, results_at(campaign, run, zone, attempt))

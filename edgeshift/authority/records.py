"""Signed statements in the archive: created once, found by what they are about.

A statement lies at ``signed/<campaign>/statement/<its digest>``, so that none can take another's place. What
finds it are names alone: ``signed/<campaign>/start/<digest>``, ``…/decision/<subject>/<digest>``,
``…/word/<digest>``, ``…/again/<zone>/<digest>``, ``…/repair/<digest>``,
``…/result/<run>/<zone>/<attempt>/<digest>``. Where a statement would permit something, one that cannot be
read, or does not verify, is nothing. Where it may stop something, it is ``StatementsDamaged``: a name says
that something was signed there, and nobody can tell what.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from edgeshift.authority.remembered import Damage, Knows, Remembered, taken_apart
from edgeshift.authority.statements import (
    LONGEST,
    LONGEST_NAME,
    AgainStatement,
    Attested,
    BadStatement,
    DecisionStatement,
    ElsewhereSigned,
    RepairStatement,
    ResultStatement,
    StartStatement,
    Statement,
    WordStatement,
    orders,
    sealed,
)
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import MOST_ATTEMPTS
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveError, ArchiveMissing, ArchiveUnavailable
from edgeshift.stores.archive_keys import NO_KEY, is_key, is_part, shown

MOST = 2_000
"""Names that are looked at in one place. Where there are more, nothing there counts: somebody floods it. The
rollback looks at the oldest of them: where a commit was sent, there were no more.
"""

EVERY_ZONE = "every-zone"
"""Stands for the zone where a word names none."""

_SIDE_BY_SIDE = 16

_ANOTHER = "its statement is another one than its name says"


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
    if isinstance(statement, ResultStatement) and place == results_at(
        statement.campaign, statement.run, statement.zone
    ):
        return True
    return place in places_of(statement)


def agains_at(campaign: str, zone: str) -> str:
    """Where the words are found that begin a zone again; ``EVERY_ZONE``: whichever it is."""
    return f"signed/{campaign}/again/{zone}"


def decisions_at(campaign: str, subject: str) -> str:
    """Where the decisions on a digest or fingerprint are found."""
    return f"signed/{campaign}/decision/{subject}"


def results_at(campaign: str, run: str, zone: str, attempt: int | None = None) -> str:
    """Where the results of one attempt of a campaign's target are found, or of all."""
    return f"signed/{campaign}/result/{run}/{zone}" + (f"/{attempt}" if attempt is not None else "")


def may_have_results(run: str, attempt: int = 1) -> bool:
    """Whether a run of a campaign can have this name, and this attempt, by which results are found. Of others
    workers have signed none.
    """
    return is_part(run) and len(run) <= LONGEST_NAME and 1 <= attempt <= MOST_ATTEMPTS


def statement_at(campaign: str, digest: str) -> str:
    """Where a statement lies."""
    return f"signed/{campaign}/statement/{digest}"


class Flooded(ArchiveUnavailable):
    """There are more names at a place than anybody looks at."""


class StatementsDamaged(ArchiveCorrupt):
    """Statements that may stop something cannot be read. ``read``: those beside them that can."""

    def __init__(self, found: Sequence[Damage], read: tuple[Attested, ...]) -> None:
        more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        super().__init__(f"{found[0].name} in the archive may stop it: {found[0].why}{more}")
        self.found = tuple(found)
        self.read = read

    @property
    def unread(self) -> ArchiveUnavailable | None:
        """Why one of them could not be read, which may be read another time; or None."""
        return next((one.unread for one in self.found if one.unread is not None), None)


Looked = tuple[tuple[Attested, ...], StatementsDamaged | None]
"""The statements that can be read, and those that cannot."""


_Look = tuple[tuple[Attested, ...], list[Damage]]
"""The same of one place."""


def _whole(looks: Sequence[_Look]) -> tuple[Attested, ...]:
    """Raises StatementsDamaged."""
    read, damaged = _as_far(looks)
    if damaged is not None:
        raise damaged
    return read


def _as_far(looks: Sequence[_Look]) -> Looked:
    read = tuple(said for some, _ in looks for said in some)
    damaged = [one for _, some in looks for one in some]
    return read, StatementsDamaged(damaged, read) if damaged else None


def _decisions(campaign: str, subjects: frozenset[str]) -> list[str]:
    """Where the decisions on any of these digests are found."""
    return [decisions_at(campaign, subject) for subject in sorted(subjects)]


def _starts(campaign: str) -> str:
    return f"signed/{campaign}/start"


def _latest_first(found: Sequence[Attested]) -> tuple[Attested, ...]:
    return tuple(sorted(found, key=lambda said: said.statement.issued, reverse=True))


def _agains(campaign: str, zone: str) -> list[str]:
    return [agains_at(campaign, one) for one in (EVERY_ZONE, zone)]


async def as_far_as_read(asked: Awaitable[tuple[Attested, ...]]) -> Looked:
    """What can be read of what is asked for, and what is damaged of it, for whoever goes on without it.
    Raises ArchiveError.
    """
    try:
        return await asked, None
    except StatementsDamaged as damaged:
        return damaged.read, damaged


async def surely_read(look: Callable[[], Awaitable[Looked]]) -> Looked:
    """What a look finds, and what is damaged; looked at once more where something could not be read:
    that may pass. Raises ArchiveError.
    """
    found = await look()
    return await look() if found[1] is not None and found[1].unread is not None else found


class SignedRecords:
    """The signed statements of an archive. What was verified once is kept in memory: it cannot change. Of an
    archive that could not be opened, whatever is asked raises why. ``knows``: whether a key is anybody's, by
    the roots as they are now; of others little is kept.
    """

    def __init__(self, archive: Archive | ArchiveError, knows: Knows | None = None) -> None:
        self._opened = archive
        self._remembered = Remembered(knows)

    @property
    def _archive(self) -> Archive:
        if isinstance(self._opened, ArchiveError):
            raise self._opened
        return self._opened

    async def put(self, statement: Statement, signature: str) -> str:
        """Record a statement; its digest. Raises ArchiveError, and BadStatement where the signature is none
        of it.
        """
        data, digest = sealed(statement, signature), statement.digest
        said = await taken_apart(data)
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
            same = await taken_apart(data) == said
        except BadStatement:
            same = False
        if not same or not await self._archive.holds(key, data):
            raise ArchiveUnavailable(f"{key} is there already, and is another one")

    async def at(self, campaign: str, place: str, *, oldest: bool = False) -> tuple[Attested, ...]:
        """The statements that are found at a place; what cannot be read is none. ``oldest``: where somebody
        floods it, the first that were stored. Raises ArchiveError.
        """
        ((read, _),) = await self._looks(campaign, [place], oldest=oldest)
        return read

    async def _all(
        self, campaign: str, places: Sequence[str], *, oldest: bool = False
    ) -> tuple[Attested, ...]:
        """The statements that are found at some places, each of which may stop something. Raises
        ArchiveError; StatementsDamaged where not all of them can be read.
        """
        return _whole(await self._looks(campaign, places, oldest=oldest))

    async def _looks(self, campaign: str, places: Sequence[str], *, oldest: bool = False) -> list[_Look]:
        """What is found at each place. ``oldest``: for what nobody may hold up: where there are too many,
        those that were stored first, and one that cannot be read now is damaged as well.
        """
        listed = await self._archive.lists(places, MOST)
        looks: list[_Look] = []
        for place, keys in zip(places, listed, strict=True):
            if len(keys) > MOST:
                if not oldest:
                    raise Flooded(f"more than {MOST:,} records at {place}: nobody looks at them")
                keys = await self._archive.oldest(place, MOST)
            looks.append(await self._look(campaign, place, keys, patient=not oldest))
        return looks

    async def _look(self, campaign: str, place: str, keys: Sequence[str], *, patient: bool) -> _Look:
        names = {key.rpartition("/")[2]: key for key in keys if is_key(key)}
        odd = [Damage(shown(key), "", b"", NO_KEY) for key in keys if not is_key(key)]
        gate = asyncio.Semaphore(_SIDE_BY_SIDE)

        async def one(digest: str) -> Attested | Damage | None:
            async with gate:
                try:
                    return await self._read(campaign, digest, names[digest])
                except ArchiveUnavailable as why:
                    if patient:
                        raise
                    return Damage(names[digest], statement_at(campaign, digest), b"", str(why), why)

        unknown = [digest for digest in names if digest not in self._remembered]
        found: dict[str, Attested | Damage | None] = dict(
            zip(unknown, await asyncio.gather(*map(one, unknown)), strict=True)
        )
        some = [found[one] if one in found else self._remembered.said(one) for one in sorted(names)]
        read = [said for said in some if isinstance(said, Attested)]
        # What is about something else was laid here by somebody who has it from there.
        mine = [said for said in read if said.statement.campaign == campaign]
        damaged = [one for one in some if isinstance(one, Damage)]
        return tuple(said for said in mine if _lies_at(said.statement, place)), [*damaged, *odd]

    async def of_others(self) -> list[Damage]:
        """What was found in a campaign's place since this was last asked, and is another's: it counts for
        nothing, and people are told of it.
        """
        found: list[Damage] = []
        for key, one in list(self._remembered.untold.items()):
            try:
                found.append(one._replace(data=await self._archive.get_named(key) or b""))
            except ArchiveError:
                break
            self._remembered.untold.pop(key, None)
        return found

    async def _read(self, campaign: str, digest: str, name: str) -> Attested | Damage | None:
        """The statement; None where what lies there counts for nothing, whatever it says."""
        key = statement_at(campaign, digest)
        if self._remembered.is_elsewhere(key):
            return None
        data = await self._archive.get_named(key)
        if data is None:
            return Damage(name, key, b"", "its statement is missing")
        bytes_of = sha256(data) if len(data) <= LONGEST else ""
        if (why := self._remembered.useless(key, bytes_of)) is None:
            said: Attested | None = None
            why = _ANOTHER
            try:
                said = await taken_apart(data, campaign)
            except ElsewhereSigned as other:
                if other.digest == digest:
                    self._remembered.elsewhere(name, key)
                    return None
            except BadStatement as bad:
                why = f"its statement cannot be read: {bad}"
            if said is not None and said.digest == digest:
                return await self._known(said, name, len(data), key, bytes_of)
            self._remembered.damaged(key, bytes_of, why)
        return Damage(name, key, data, why) if why else None

    async def _known(self, said: Attested, name: str, size: int, key: str, bytes_of: str) -> Attested | None:
        """A statement that can be read, with when it was stored where that matters."""
        if orders(said.statement):
            try:
                said = said.model_copy(update={"stored": await self._archive.stored_at(name)})
            except ArchiveMissing as why:
                # It was listed just now.
                raise ArchiveUnavailable(str(why)) from None
        return said if self._remembered.keep(said, size, key, bytes_of) else None

    async def one(self, campaign: str, digest: str) -> Attested | None:
        """The statement of a campaign with this digest, whoever has signed it; None where it is missing, or
        cannot be read. Raises ArchiveError.
        """
        found = self._remembered.said(digest)
        said = found or await self._read(campaign, digest, statement_at(campaign, digest))
        return said if isinstance(said, Attested) and said.statement.campaign == campaign else None

    async def starts(self, campaign: str) -> tuple[Attested, ...]:
        """Signed starts of campaigns of this name, the latest first. Raises ArchiveError."""
        ((found, _),) = await self._looks(campaign, [_starts(campaign)])
        return _latest_first(found)

    async def starts_as_far(self, campaign: str) -> Looked:
        """As ``starts``, for what nobody may hold up: as far as they can be read; where somebody floods the
        place, the first that were stored. Raises ArchiveError.
        """
        read, damaged = _as_far(await self._looks(campaign, [_starts(campaign)], oldest=True))
        return _latest_first(read), damaged

    async def decisions(
        self, campaign: str, subjects: frozenset[str], *, oldest: bool = False
    ) -> tuple[Attested, ...]:
        """Signed decisions on these digests. ``oldest``: for what nobody may hold up, as ``starts_as_far``.
        Raises ArchiveError; StatementsDamaged where one cannot be read, which may be a rejection.
        """
        return await self._all(campaign, _decisions(campaign, subjects), oldest=oldest)

    async def words(self, campaign: str, *, oldest: bool = False) -> tuple[Attested, ...]:
        """Signed words to a campaign. ``oldest``: for what nobody may hold up, as ``starts_as_far``. Raises
        ArchiveError; StatementsDamaged where one cannot be read, which may be a pause or an abort.
        """
        return await self._all(campaign, [f"signed/{campaign}/word"], oldest=oldest)

    async def agains(self, campaign: str, zone: str) -> tuple[Attested, ...]:
        """Signed words that begin a zone again, by its identifier. Raises ArchiveError; StatementsDamaged
        where one cannot be read, which may have voided what was approved before.
        """
        return await self._all(campaign, _agains(campaign, zone))

    async def decided(self, campaign: str, subjects: frozenset[str], zone: str) -> tuple[Looked, Looked]:
        """``decisions`` and ``agains``, by one look, as far as they can be read. Raises ArchiveError."""
        places = _decisions(campaign, subjects)
        looks = await self._looks(campaign, [*places, *_agains(campaign, zone)])
        return _as_far(looks[: len(places)]), _as_far(looks[len(places) :])

    async def results(
        self, campaign: str, run: str, zone: str, attempt: int | None = None, *, oldest: bool = False
    ) -> tuple[Attested, ...]:
        """What workers have signed of one attempt of a target, or of all. ``oldest``: as ``at``. Raises
        ArchiveError.
        """
        return await self.at(campaign, results_at(campaign, run, zone, attempt), oldest=oldest)

"""The signed starts of a campaign by which what was sent is known as its own. Found by roots and archive
alone: a message's word of the campaign's first run binds nobody, and anybody may have said it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from activities.proof.authority import Authority, NotSigned, Specs
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.roots import Role, Roots, asking
from edgeshift.authority.starts import start_of, starts_then
from edgeshift.authority.statements import Attested, StartStatement
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.runtime.clock import Clock
from edgeshift.stores.archive import Archive, ArchiveUnavailable


class Owning(NamedTuple):
    """``starts``: their digests; ``unread``: why there may be more, which can be read another time."""

    starts: frozenset[str] = frozenset()
    unread: ArchiveUnavailable | None = None


class Begun(NamedTuple):
    """The signed start of whoever looks. ``last``: whether nothing of that name was started since."""

    statement: StartStatement
    last: bool


class SignedStarts:
    """Asks an archive for them, by a worker's roots as they are now. Raises ArchiveError."""

    def __init__(self, authority: Authority, archive: Archive, clock: Clock, specs: Specs) -> None:
        self._authority = authority
        self._records = SignedRecords(archive, authority.knows)
        self._clock = clock
        self._specs = specs

    async def own(self, spec_digest: str) -> Owning:
        """The starts under which what is sent is the campaign's with this specification: its own start, and
        the last one that counts for its name. Whoever looks by an earlier specification must not take for
        somebody else's what was sent under a later start. None where names count. Nobody's flood keeps the
        first ones from being found.
        """
        if (roots := self._roots()) is None:
            return Owning()
        spec = await self._specs(spec_digest)
        starts, damaged = await self._records.starts_as_far(spec.name)
        found = self._meant(spec, spec_digest, starts, roots)
        last = start_of(spec, None, starts, roots, self._clock.now())
        if not isinstance(last, str):
            found.append(last)
        return Owning(frozenset(said.digest for said in found), damaged.unread if damaged else None)

    async def begun_by(self, spec_digest: str) -> str | None:
        """The digest of the start under which the door lets a step through; None where names count."""
        if (roots := self._roots()) is None:
            return None
        spec = await self._specs(spec_digest)
        starts, _ = await self._records.starts_as_far(spec.name)
        return next((said.digest for said in self._meant(spec, spec_digest, starts, roots)), None)

    def needs_signed_starts(self) -> bool:
        """Whether people have to sign starts, as the roots ask. Without roots names count, wherever the
        service is: beyond this machine nothing is sent then. (``Results.needs_results`` differs there.)
        Raises ArchiveUnavailable where the roots cannot be read.
        """
        return self._roots() is not None

    async def begun(self, spec_digest: str) -> Begun | None:
        """The start with this specification, as ``_meant``; None where there is none."""
        if (roots := self._roots()) is None:
            return None
        spec = await self._specs(spec_digest)
        starts, damaged = await self._records.starts_as_far(spec.name)
        found = self._meant(spec, spec_digest, starts, roots)
        if not found:
            if damaged is not None and damaged.unread is not None:
                raise damaged.unread
            return None
        mine, last = found[0].statement, start_of(spec, None, starts, roots, self._clock.now())
        assert isinstance(mine, StartStatement)
        return Begun(mine, isinstance(last, str) or last.statement.issued <= mine.issued)

    async def one(self, campaign: str, digest: str) -> StartStatement | None:
        """The start of a campaign with this digest, which a worker's record names; None where it is missing,
        or cannot be read.
        """
        said = await self._records.one(campaign, digest)
        return said.statement if said is not None and isinstance(said.statement, StartStatement) else None

    async def since(self, start: StartStatement) -> list[StartStatement]:
        """The starts of its campaign's name that were signed after it, and counted then."""
        roots = self._roots()
        starts, _ = await self._records.starts_as_far(start.campaign)
        return [
            said.statement
            for said in starts
            if isinstance(said.statement, StartStatement)
            and said.statement.issued > start.issued
            and roots is not None
            and roots.forgiving.refuses(said, Role.STARTER, said.statement.issued) is None
        ]

    def _meant(
        self, spec: CampaignSpec, digest: str, starts: Sequence[Attested], roots: Roots
    ) -> list[Attested]:
        """The start with this specification that counts now; where none does any more, the last that did when
        it was given: what was sent under one that was revoked since is seen through, and taken back.
        """
        found = start_of(spec, digest, starts, roots, self._clock.now())
        if not isinstance(found, str):
            return [found]
        then = starts_then(spec, digest, starts, roots)
        return [] if isinstance(then, str) else then[:1]

    def _roots(self) -> Roots | None:
        """Those that ask for signatures, if any."""
        try:
            return asking(self._authority.roots_or_none())
        except NotSigned as why:
            # As where the archive does not answer: they can be read a little later.
            raise ArchiveUnavailable(f"whose campaign it is, is not known: {why}"[:200]) from None

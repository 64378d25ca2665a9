"""Signed rejections from before a campaign was started again, by the very rule of the door: so that people
hear of them when a zone begins, and not once they have approved it and it comes to be changed.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from activities.proof.authority import Authority, NotSigned, Specs
from activities.proof.listed_targets import Targets
from edgeshift.authority.door import Asked, rejected_by, rejects
from edgeshift.authority.last_start import last_start_of
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.roots import asking
from edgeshift.authority.starts import campaign_refused, starts_alike, starts_by_file, target_foreign
from edgeshift.authority.statements import Attested, DecisionStatement, StartStatement
from edgeshift.messages import Prepared, ZoneStart
from edgeshift.runtime.clock import Clock
from edgeshift.stores.archive import Archive, ArchiveError

KEPT_FOR = 60.0
"""Seconds for which is kept what was found for a run of a campaign: one zone after the other asks for it."""

MOST_KEPT = 20_000
"""Fingerprints of which that is kept."""


class _Found(NamedTuple):
    at: float
    said: tuple[Attested, ...]


class SignedRejections:
    """Asks an archive for them, by a worker's roots as they are now."""

    def __init__(
        self,
        authority: Authority,
        archive: Archive,
        clock: Clock,
        specs: Specs,
        targets: Targets,
        moment: Callable[[], float] = time.monotonic,
    ) -> None:
        self._authority = authority
        self._records = SignedRecords(archive, authority.knows)
        self._clock = clock
        self._specs = specs
        self._targets = targets
        self._moment = moment
        self._kept: dict[tuple[str, str], _Found] = {}

    async def of(self, start: ZoneStart, proposed: Prepared) -> Attested | None:
        """The rejection of a fingerprint, under an earlier start, that would keep at the door what a zone
        proposes; None where there is none, and where names count. What cannot be read or said now keeps no
        zone from beginning: the door asks again. Of a word of the last minute it may not have heard.
        """
        try:
            return await self._of(start, proposed)
        except (ArchiveError, NotSigned):
            return None

    async def _of(self, start: ZoneStart, proposed: Prepared) -> Attested | None:
        roots = asking(self._authority.roots_or_none())
        if roots is None or not proposed.fingerprint:
            return None
        spec, now = await self._specs(start.spec), self._clock.now()
        if campaign_refused(start, spec):
            return None
        starts = await self._lately(start, "", partial(self._records.starts, spec.name))
        if len(starts) < 2:
            # Of what is rejected under its own start the campaign hears by itself, and at once.
            return None
        found = last_start_of(spec, start.spec, starts, roots, now)
        if isinstance(found, str):
            return None
        look = partial(self._records.decisions, spec.name, frozenset({proposed.fingerprint}))
        rejections = [
            said
            for said in await self._lately(start, proposed.fingerprint, look)
            if rejects(said)
            and isinstance(said.statement, DecisionStatement)
            and said.statement.start != found.digest
        ]
        if not rejections:
            return None
        assert isinstance(found.statement, StartStatement)
        if target_foreign(start, spec, found.statement, await self._targets(found.statement.targets)):
            return None
        asked = Asked.of(start, spec, proposed.step, proposed.digest, proposed.fingerprint)
        asked = replace(asked, alike=starts_alike(found, starts), by_file=starts_by_file(found, starts))
        agains = await self._records.agains(spec.name, start.target.zone.id)
        return rejected_by(asked, found, rejections, agains, roots, now)

    async def _lately(
        self, start: ZoneStart, about: str, look: Callable[[], Awaitable[tuple[Attested, ...]]]
    ) -> tuple[Attested, ...]:
        """What a look finds, or the last one for this run of a campaign has found."""
        key, now = (start.campaign_run, about), self._moment()
        if (kept := self._kept.get(key)) is not None and now - kept.at < KEPT_FOR:
            return kept.said
        found = await look()
        self._kept.pop(key, None)
        while len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = _Found(now, found)
        return found

"""A campaign's outcomes against what workers have signed, and against the service: at its close, and whenever
a person asks.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

from temporalio import activity

from activities.boundary import heartbeating, named_failures
from activities.change.area_work import AreaWork
from activities.change.found import OWN_COMMIT, Whose, whose_found
from activities.connections import Connections
from activities.standing import fits, on_record, settled_by, standing_of, where_undone
from edgeshift.messages import ComparedOutcomes, CompareOutcomes, ToldWrong
from edgeshift.model.fleet import CLAIMS, Area, Target, ZoneOutcome
from edgeshift.runtime.secret_refs import SecretRefError
from edgeshift.service_api import ServiceError

SIDE_BY_SIDE = 16
"""Targets that are compared at the same time."""


class ComparingActivities:
    """The comparison of a batch."""

    def __init__(self, connections: Connections, work: Mapping[Area, AreaWork]) -> None:
        self._connections = connections
        self._work = work

    @activity.defn(name="compare_outcomes")
    @heartbeating
    @named_failures
    async def compare(self, batch: CompareOutcomes) -> ComparedOutcomes:
        """Look for the result of each outcome; read those at the service that have none, and a sample."""
        spec = await self._connections.spec(batch.spec)
        if not self._connections.results.needs_results(spec):
            return ComparedOutcomes(by_word=True)
        return await Comparing(self._connections, self._work, batch).all(signed=True)


class Comparing:
    """One comparison."""

    def __init__(
        self, connections: Connections, work: Mapping[Area, AreaWork], batch: CompareOutcomes
    ) -> None:
        self._connections = connections
        self._work = work
        self._batch = batch
        self._gate = asyncio.Semaphore(SIDE_BY_SIDE)
        self._read = self._unread = 0
        self.why: Counter[str] = Counter()
        """Why targets could not be read, and how many each time."""

    async def all(self, *, signed: bool) -> ComparedOutcomes:
        """What is not so of the batch. ``signed``: whether workers have to have signed each outcome. Raises
        ArchiveError.
        """
        positions = range(len(self._batch.indexes))
        found = await asyncio.gather(*(self._one(position, signed) for position in positions))
        wrong = tuple(one for one in found if one is not None)
        return ComparedOutcomes(wrong=wrong, read=self._read, unread=self._unread)

    async def _one(self, position: int, signed: bool) -> ToldWrong | None:
        batch, connections = self._batch, self._connections
        index, told, attempt = batch.indexes[position], batch.outcomes[position], batch.attempts[position]
        target = (await connections.targets(batch.targets))[index]
        async with self._gate:
            known = not signed or await on_record(
                connections, batch.spec, batch.origin, target, attempt, told
            )
            if known and index not in batch.read:
                return None
            undone = told
            if not known:
                undone = await where_undone(
                    connections, batch.spec, batch.origin, target, attempt, told, batch.settles_in
                )
            try:
                seen = await standing_of(connections, self._work, batch.area, batch.spec, target)
            except (ServiceError, SecretRefError) as failure:
                self._unread += 1
                self.why[str(failure)] += 1
                if known:
                    return None
                said = f"the service could not be read: {failure}"
                return _wrong(target, index, told, ZoneOutcome.UNKNOWN, said)
            self._read += 1
            if known:
                return None if fits(told, seen[0]) else _wrong(target, index, told, None, seen[1])
            shown, said = await settled_by(
                connections, batch.spec, target, told, seen, batch.settles_in, undone
            )
            if shown is not told:
                return _wrong(target, index, told, shown, said)
            whose = await whose_found(
                connections, batch.spec, batch.origin, target.zone, max(1, attempt), told
            )
            if whose is Whose.OWN:
                return _wrong(target, index, told, ZoneOutcome.MIGRATED, OWN_COMMIT)
            if told in CLAIMS and whose is Whose.ANOTHERS:
                # It is so, and from now on on record.
                await connections.results.of_listed(
                    batch.spec, batch.targets, batch.origin, target.zone.id, max(1, attempt), told
                )
            return None


def _wrong(target: Target, index: int, told: ZoneOutcome, shown: ZoneOutcome | None, said: str) -> ToldWrong:
    return ToldWrong(index=index, zone=target.zone.name[:100], told=told, shown=shown, said=said[:200])

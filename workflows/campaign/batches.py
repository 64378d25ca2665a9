"""A campaign's work on batches of its zones: telling them things, looking for silent ones, taking permits
back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from datetime import timedelta
from itertools import count, islice
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.fanout import ZoneActivities
    from edgeshift.campaign.target_states import AWAITING, FAILURES, Place
    from edgeshift.messages import (
        OUTLIVED,
        DescribedZones,
        DescribeZones,
        Expire,
        GoOn,
        Message,
        Permit,
        PermitGrant,
        Person,
        Revoke,
        Ruling,
        SilentZone,
        Stop,
        TellZones,
        ToldZones,
    )
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.rate_limit.circuit import ServiceHold
    from workflows import options
    from workflows.campaign.state import CampaignState

BATCH = 25
"""Zones that are started or told in one activity."""

SLICE = 100
"""Waiting zones that each sweep looks at beside the silent ones."""

AGAIN_IN = timedelta(seconds=30)
"""After which a batch that failed for good is tried again, ten times; then each pause is twice as long."""

AGAIN_AT_LAST = timedelta(minutes=15)
"""The longest of these pauses. A run's history takes them for weeks."""


def again_in(tried: int) -> timedelta:
    """How long to wait before a batch that failed for good is tried again. ``tried``: how often it was
    before.
    """
    return min(AGAIN_IN * (1 << min(max(0, tried - 9), 9)), AGAIN_AT_LAST)


class CampaignBatches(CampaignState, ABC):
    """What a campaign does to many zones at once."""

    async def _tell_zones(
        self,
        signal: str,
        indexes: list[int],
        *,
        grants: tuple[PermitGrant, ...] = (),
        revokes: tuple[Revoke, ...] = (),
        ruling: Ruling | None = None,
        stop: Stop | None = None,
        go_on: GoOn | None = None,
        attempts: tuple[int, ...] = (),
        ended_as: tuple[ZoneOutcome | None, ...] = (),
    ) -> None:
        told: ToldZones = await self._work(
            ZoneActivities.tell,
            TellZones(
                campaign=workflow.info().workflow_id,
                campaign_run=self._first_run,
                targets=self._start.targets,
                area=self._start.area,
                signal=signal,
                indexes=tuple(indexes),
                grants=grants,
                revokes=revokes,
                ruling=ruling,
                expire=Expire(attempt=0) if signal == "expire" else None,
                stop=stop,
                go_on=go_on,
                attempts=attempts,
                ended_as=ended_as,
            ),
            f"{signal}: {len(indexes)} zone(s)",
        )
        # A zone that takes no signal now is flooded; it goes on in a new run, and is told again at the sweep.
        self._unreached |= {index: Place(self._ledger.places[index]) for index in told.unreached}
        if told.gone:
            self._ledger.heard.difference_update(told.gone)
            await self._look_at(list(told.gone))
        self._changed = True

    async def _work(
        self,
        activity: Callable[..., Any],
        batch: Message,
        summary: str,
        limits: dict[str, Any] | None = None,
    ) -> Any:
        """Run an activity over a batch of zones. One that fails for good, such as by a corrupt archive, is
        named in the notes and tried again after a while: a campaign does not end by it.
        """
        for tried in count():
            try:
                return await workflow.execute_activity_method(
                    activity, batch, summary=summary, **(limits or options.spreading(self._start.policy))
                )
            except ActivityError as failure:
                if is_cancelled_exception(failure):
                    raise
                again = again_in(tried)
                self._note(f"{summary}: tried again in {again.total_seconds():.0f} s: {failure.cause}")
                await workflow.sleep(again, summary=f"before again: {summary}")

    async def _sweep_regularly(self) -> None:
        while True:
            left = self._sweep_at - workflow.now()
            if left > timedelta(0):
                await workflow.sleep(left, summary="sweep")
            self._sweep_at = workflow.now() + self._start.sweep
            self._sweep_due = True

    async def _sweep(self) -> None:
        """Expire what has waited too long; look for zones that closed without a word."""
        now = workflow.now()
        for index in self._ledger.overdue(now, self._start.policy.sign_off.expires_after):
            self._ledger.places[index] = Place.EXPIRING
            self._changed = True
        for index, place in self._unreached.items():
            self._told.discard(index)
            if self._ledger.places[index] == Place.STOPPING:
                self._ledger.places[index] = place
            self._changed = True
        self._unreached.clear()
        await self._tell_held_zones()
        await self._give_up_expired_permits()
        silent = [
            index
            for index in self._ledger.indexes(Place.WORKING, Place.PERMITTED, Place.STOPPING)
            if index not in self._ledger.heard
        ]
        doubted = sorted(filter(self._ledger.may_wait, self._ledger.doubted))[:SLICE]
        silent += sorted({*doubted} - {*silent})
        self._ledger.doubted.difference_update(doubted)
        overtaken = sorted(self._ledger.overtaken)[:SLICE]
        silent += sorted({*overtaken} - {*silent})
        self._ledger.heard.clear()
        # In a pause those that are ready wait for a permit as long as others wait for people.
        places = (*AWAITING, Place.WAITING, Place.SUPPORT, Place.READY, Place.READY_VALIDATE)
        waiting = self._ledger.indexes(*places, first=self._cursor)
        some = list(islice(waiting, SLICE))
        self._cursor = some[-1] + 1 if len(some) == SLICE else 0
        found = list(dict.fromkeys((*silent, *some)))
        for first in range(0, len(found), SLICE):
            await self._look_at(found[first : first + SLICE], frozenset(doubted))

    async def _give_up_expired_permits(self) -> None:
        """Nothing can be sent any more under a permit that has run out. Its zone is told so: one that never
        had it, or did not believe it, asks for another.
        """
        now = workflow.now()
        expired = [
            permit
            for permit in self._ledger.permits.values()
            if now > permit.expires_at + self._settling_time
        ]
        for permit in expired:
            self._ledger.settle(permit.number, permit.index)
        quiet = [permit for permit in expired if self._ledger.places[permit.index] == Place.PERMITTED]
        for first in range(0, len(quiet), 4 * BATCH):
            await self._revoke(quiet[first : first + 4 * BATCH])

    async def _revoke(self, permits: list[Permit]) -> None:
        """Tell the holders that their permits count no more."""
        await self._tell_zones(
            "revoke",
            [permit.index for permit in permits],
            revokes=tuple(Revoke(number=permit.number) for permit in permits),
        )

    async def _look_at(self, indexes: list[int], doubted: Collection[int] = ()) -> None:
        attempts = tuple(self._ledger.attempts[index] for index in indexes)
        described: DescribedZones = await self._work(
            ZoneActivities.describe,
            DescribeZones(
                campaign=workflow.info().workflow_id,
                campaign_run=self._first_run,
                targets=self._start.targets,
                spec=self._start.spec,
                area=self._start.area,
                indexes=tuple(indexes),
                attempts=attempts,
                settles_in=self._start.policy.migration_limit,
                working=frozenset(filter(self._ledger.may_wait, indexes)),
                known=tuple("" if index in doubted else self._ledger.said_by(index) for index in indexes),
            ),
            f"look at {len(indexes)} silent or waiting zone(s)",
        )
        if described.hold is not None:
            self._hear_hold(described.hold)
        for one in described.later:
            self._take_up(one.index, one.attempt)
        for word in described.words:
            self._take_up(word.index, word.attempt)
            if self._ledger.remember(word, workflow.now()):
                self._note(f"zone {word.index} was found {word.kind.value}, which was not known")
                if word.hold is not None:
                    self._hear_hold(word.hold)
                self._apply_book([word.index])
                self._changed = True
        asked = dict(zip(indexes, attempts, strict=True))
        for zone in described.closed:
            # One that is only just being started is not to be found yet, and is no end; nor is that of an
            # attempt before. One that was begun by a run that was reset since may have ended once more.
            # A replay may ask for others than were asked for, which the engine does not compare.
            known = self._ledger.attempts[zone.index]
            stale, later = known != asked.get(zone.index, known), zone.attempt > known
            if zone.index in self._beginning or stale:
                continue
            self._ledger.overtaken.discard(zone.index)
            if self._is_missed(zone):
                self._note(f"zone {zone.index} was to be started and is not to be found; started once more")
                self._changed = True
            elif self._ledger.is_open(zone.index) or later:
                self._ledger.finish(zone.index, zone.outcome, zone.attempt)
                self._note(f"zone {zone.index} closed without a word: {zone.outcome.value}, {zone.reason}")
                self._changed = True

    def _is_missed(self, zone: SilentZone) -> bool:
        """Whether a zone was never begun, though this run believes that it was: of a task that was played
        again after a worker's death the batches may be others than those that were started.
        """
        if zone.attempt or zone.outcome is not ZoneOutcome.FAILED or self._aborted:
            return False
        return self._ledger.miss(zone.index)

    def _take_up(self, index: int, attempt: int) -> None:
        """The campaign was reset to before it began this attempt, which is open."""
        before = self._ledger.zones(*FAILURES)
        if self._ledger.take_up(index, attempt):
            self._note(f"zone {index} was found in attempt {attempt}, which was not known")
            self._failures_accepted = max(0, self._failures_accepted + self._ledger.zones(*FAILURES) - before)
            # It may not have been told what the attempt before it was.
            self._told.discard(index)
            self._changed = True

    async def _tell_held_zones(self) -> None:
        """Tell the zones that wait for the service to go on."""
        while self._ledger.held and not self._holds:
            some = sorted(self._ledger.held)[: 4 * BATCH]
            # Whoever has to wait again says so again, maybe before all are told.
            self._ledger.held.difference_update(some)
            try:
                await self._tell_zones("go_on", some, go_on=GoOn())
            except BaseException:
                # The run ends, or goes on in a new one, which tells them.
                self._ledger.held.update(some)
                raise
            if unreached := self._unreached.keys() & set(some):
                self._ledger.held.update(unreached)
                return

    async def _tell_revived_zones(self) -> None:
        """Zones that were reset after their end are told that it stands, before any of them is begun again,
        and before the campaign closes.
        """
        while some := sorted(self._ledger.revived)[: 4 * BATCH]:
            attempts = tuple(self._ledger.attempts[index] for index in some)
            ended = tuple(self._ledger.outcome(index) for index in some)
            await self._tell_zones("stop", some, stop=Stop(by=OUTLIVED), attempts=attempts, ended_as=ended)
            self._ledger.revived.difference_update(some)

    @abstractmethod
    def _hear_hold(self, hold: ServiceHold) -> None:
        """The service is not to be called for now."""

    async def _take_back_permits(self) -> int:
        """Revoke what is out; come back when nothing can be sent under any of it."""
        self._pausing += 1
        try:
            # A zone that is just being started cannot be told yet: it would seem gone, and yet begin.
            await workflow.wait_condition(lambda: not self._beginning)
            permits = self._ledger.outstanding(workflow.now(), self._settling_time)
            for place in range(0, len(permits), 4 * BATCH):
                await self._revoke(permits[place : place + 4 * BATCH])
            numbers = {permit.number for permit in permits}
            last = (
                max((permit.expires_at for permit in permits), default=workflow.now()) + self._settling_time
            )
            try:
                await workflow.wait_condition(
                    lambda: not numbers & self._ledger.permits.keys(),
                    timeout=max(timedelta(0), last - workflow.now()),
                    timeout_summary="until no permit can be used",
                )
            except TimeoutError:
                self._note("permits settled by their expiry")
            return len(permits)
        finally:
            self._pausing -= 1
            self._changed = True

    def _stand_down(self, message: Person) -> None:
        self._aborted = message
        self._note(f"aborted by {message.by}: {message.reason or 'no reason given'}")
        for index in list(self._ledger.indexes(Place.PENDING)):
            self._ledger.stand_down(index)
        self._changed = True

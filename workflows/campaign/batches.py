"""A campaign's work on batches of its zones: telling them things, and looking at them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from datetime import timedelta
from itertools import count
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.change.door import MutationActivities
    from activities.fanout import ZoneActivities
    from edgeshift.campaign.callers import MOST_CALLERS
    from edgeshift.campaign.target_states import TargetState
    from edgeshift.messages import (
        DescribedZones,
        DescribeZones,
        Expire,
        GiveUpPermits,
        GoOn,
        Message,
        Permit,
        PermitGrant,
        PermitsGivenUp,
        Revoke,
        Ruling,
        SilentZone,
        Stop,
        TellZones,
        ToldWrong,
        ToldZones,
        ZoneReport,
    )
    from edgeshift.model.counts import counted
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.model.reasons import codes_of
    from edgeshift.rate_limit.circuit import OpenCircuit, has_room
    from workflows import options
    from workflows.campaign.state import CampaignState
    from workflows.campaign.tasks import RunEnds

BATCH = 25
"""Zones that are started or granted a permit in one activity."""

MANY = 4 * BATCH
"""Zones that are told in one activity."""

GIVEN_UP_TOGETHER = 250
"""Permits that are given up in one activity: each takes about a millisecond of a worker's processor."""

SIDE_BY_SIDE = 8
"""Batches of these at the same time, which the workers share."""

_MOST_GIVEN_UP_BEFORE = 1_000
"""As many in one activity, one activity after the other, in a run that began before
``permits-are-given-up-side-by-side``.
"""

ARCHIVE_TAKES = timedelta(seconds=2)
"""How long zones are told nothing that makes them work while permits are being given up, at most."""

MOST_HOLDS = MOST_CALLERS
"""Holds that are kept by name: one for each credential that a campaign may have. Of one that is not kept,
targets would be begun in vain, and nobody would make the call that finds out that it is over.
"""

_MOST_HOLDS_BEFORE = 20
"""As many as a run keeps that began before ``each-hold-is-kept``."""

AGAIN_IN = timedelta(seconds=30)
"""After which a batch that failed for good is tried again, ten times; then each pause is twice as long."""

AGAIN_AT_LAST = timedelta(minutes=15)
"""The longest of these pauses. A run's history takes them for weeks."""


def again_in(tried: int) -> timedelta:
    """How long to wait before a batch that failed for good is tried again. ``tried``: how often it was
    before.
    """
    return min(AGAIN_IN * (1 << min(max(0, tried - 9), 9)), AGAIN_AT_LAST)


def _each_of(permits: list[Permit], most: int) -> list[list[Permit]]:
    return [permits[first : first + most] for first in range(0, len(permits), most)]


class Batches:
    """What a campaign does to many zones at once."""

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._holds_over = 0
        """How often calls that were held have gone on."""

    async def work(
        self,
        activity: Callable[..., Any],
        batch: Message,
        summary: str,
        limits: dict[str, Any] | None = None,
    ) -> Any:
        """Run an activity over a batch of zones. One that fails for good, such as by a corrupt archive, is
        named in the notes and tried again after a while: a campaign does not end by it. Raises RunEnds where
        the run is to end before that.
        """
        state = self._state
        for tried in count():
            try:
                return await workflow.execute_activity_method(
                    activity, batch, summary=summary, **(limits or options.spreading(state.start.policy))
                )
            except ActivityError as failure:
                if is_cancelled_exception(failure):
                    raise
                again = again_in(tried)
                said = f"{summary}: tried again in {again.total_seconds():.0f} s: {failure.cause}"[:220]
                state.retried(again, said)
            try:
                # Whoever pauses the campaign waits for an answer of this run.
                await workflow.wait_condition(
                    lambda: state.leaving and not state.takes_back,
                    timeout=again,
                    timeout_summary=f"before again: {summary}",
                )
            except TimeoutError:
                continue
            raise RunEnds

    async def tell(
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
        """Send each of the zones a signal; those that are not open are looked at."""
        state = self._state
        told: ToldZones = await self.work(
            ZoneActivities.tell,
            TellZones(
                campaign=workflow.info().workflow_id,
                campaign_run=state.first_run,
                targets=state.start.targets,
                area=state.start.area,
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
                archive=state.start.archive,
            ),
            f"{signal}: {counted(len(indexes), 'zone')}",
        )
        # A zone that takes no signal now is flooded; it goes on in a new run, and is told again at the sweep.
        state.unreached |= {index: TargetState(state.ledger.places[index]) for index in told.unreached}
        if told.gone:
            state.ledger.recently_reported.difference_update(told.gone)
            await self.look_at(list(told.gone))
        state.changed()

    async def revoke(self, permits: list[Permit]) -> None:
        """Tell the holders that their permits count no more, the first ones first."""
        for some in _each_of(permits, MANY):
            await self.tell(
                "revoke",
                [permit.index for permit in some],
                revokes=tuple(Revoke(number=permit.number) for permit in some),
            )

    async def give_up(self, permits: list[Permit]) -> PermitsGivenUp:
        """Keep anything from being sent under these permits, as far as that is possible."""
        places = asyncio.Semaphore(SIDE_BY_SIDE)

        async def beside(some: list[Permit]) -> PermitsGivenUp:
            async with places:
                return await self._give_up(some)

        if len(permits) > GIVEN_UP_TOGETHER and workflow.patched("permits-are-given-up-side-by-side"):
            found = await asyncio.gather(*map(beside, _each_of(permits, GIVEN_UP_TOGETHER)))
        else:
            # A single batch, as a rule: no task of its own, which would begin later than what is told beside.
            found = [await self._give_up(some) for some in _each_of(permits, _MOST_GIVEN_UP_BEFORE)]
        given_up = tuple(number for one in found for number in one.given_up)
        return PermitsGivenUp(given_up=given_up, over=tuple(number for one in found for number in one.over))

    async def _give_up(self, some: list[Permit]) -> PermitsGivenUp:
        state = self._state
        found: PermitsGivenUp = await self.work(
            MutationActivities.give_up_permits,
            GiveUpPermits(
                campaign=workflow.info().workflow_id,
                origin=state.origin,
                targets=state.start.targets,
                area=state.start.area,
                permits=tuple(some),
                # As long as the activity of a change may take: until then its worker may be frozen.
                over_after=state.start.policy.over_after,
                unasked=tuple(state.unasked),
                archive=state.start.archive,
            ),
            f"give up {counted(len(some), 'permit')}",
        )
        return found

    async def look_at(
        self,
        indexes: list[int],
        duplicate_sequences: Collection[int] = (),
        ended: Collection[int] = (),
    ) -> DescribedZones:
        """Find out where zones are: whether they are open, or how they ended. ``duplicate_sequences``: those
        of which what is known may be untrue; they are to say again what they wait for. ``ended``: those that
        are said to have ended.
        """
        state, ledger = self._state, self._state.ledger
        attempts = tuple(ledger.attempts[index] for index in indexes)
        looked_for = ledger.newer_attempts.intersection(indexes)
        steered, holds_over = state.steered, self._holds_over
        # What is not to be found may be there by the time that the answer comes: so too what another look has
        # missed meanwhile, and what was started for that in the same attempt.
        beginning, missed = state.beginning, ledger.missed.intersection(indexes)
        described: DescribedZones = await self.work(
            ZoneActivities.describe,
            DescribeZones(
                campaign=workflow.info().workflow_id,
                campaign_run=state.first_run,
                targets=state.start.targets,
                spec=state.start.spec,
                area=state.start.area,
                indexes=tuple(indexes),
                attempts=attempts,
                settles_in=state.start.policy.migration_limit,
                waits=frozenset(filter(ledger.may_wait, indexes)),
                duplicate_sequences=frozenset(index for index in indexes if index in duplicate_sequences),
                expected=tuple(map(ledger.expected, indexes)),
                asked={index: ledger.asked[index] for index in indexes if index in ledger.asked},
                unasked=tuple(state.unasked),
                origin=state.origin,
                ended=frozenset(ended),
                archive=state.start.archive,
            ),
            f"look at {counted(len(indexes), 'ended zone' if ended else 'silent or waiting zone')}",
        )
        if described.by_word:
            return described
        if described.hold is not None and not self._is_over_since(holds_over):
            self.hear_hold(described.hold)
        if described.stop is not None and steered == state.steered:
            # Nobody has steered it since, so that no later word is on its way.
            state.signed_stop = described.stop
            state.changed()
        # As the answer has it: in a replay after another reset, this run has another name.
        state.asked_run, state.unasked = described.run, []
        if described.reset_run and described.reset_run != state.relearned:
            state.relearned = described.reset_run
            ledger.doubt_all()
            state.note("this campaign was reset: its zones say again what they wait for")
            state.sweep_now()
        for one in described.later:
            self._take_up(one.index, one.attempt, described.name(one.index))
        asked = dict(zip(indexes, attempts, strict=True))
        if described.hold is None:
            # Whoever was found open, and in no later attempt, is in none, whatever somebody has said.
            elsewhere = {zone.index for zone in described.closed} | {one.index for one in described.later}
            ledger.newer_attempts -= {index for index in looked_for - elsewhere if ledger.is_open(index)}
        begun_since = ledger.missed.intersection(indexes) - missed
        for zone in described.closed:
            if zone.index in begun_since and workflow.patched("a-look-from-before-says-nothing"):
                continue
            if zone.index not in beginning:
                self._take_end(zone, asked, described.name(zone.index), said=zone.index in ended)
        return described

    def _is_over_since(self, holds_over: int) -> bool:
        """Whether calls that were held have gone on since a look was asked for: what it found held is what
        the next one finds, if it is.
        """
        return self._holds_over != holds_over and workflow.patched("holds-of-before-are-over")

    def _take_end(self, zone: SilentZone, asked: dict[int, int], name: str, *, said: bool) -> None:
        """A zone was found closed, or not at all. ``asked``: the attempts that were asked for. ``said``: it
        was expected, since somebody had said so.
        """
        state, ledger = self._state, self._state.ledger
        # One that is only just being started is not to be found yet, and is no end; nor is that of an
        # attempt before. One that was begun by a run that was reset since may have ended once more.
        # A replay may ask for others than were asked for, which the engine does not compare.
        known = ledger.attempts[zone.index]
        stale, later = known != asked.get(zone.index, known), zone.attempt > known
        if zone.index in state.beginning or stale:
            return
        ledger.newer_attempts.discard(zone.index)
        if self._is_missed(zone):
            state.note(f"{name} was to be started and is not to be found; started once more")
            state.changed()
        elif state.aborted and ledger.is_open(zone.index) and self._never_began(zone):
            # It was cut off as it was about to be started.
            ledger.finish(zone.index, ZoneOutcome.ABORTED)
            state.changed()
        elif ledger.is_open(zone.index) or later:
            ledger.finish(zone.index, zone.outcome, zone.attempt, codes_of(zone.why))
            if zone.told is not None:
                state.tell_wrong(
                    ToldWrong(
                        index=zone.index,
                        zone=name[:100],
                        told=zone.told,
                        shown=zone.outcome,
                        said=zone.reason[:200],
                    )
                )
            elif not said:
                state.note(f"{name} ended before its word came: {zone.outcome.value}, {zone.reason}")
            state.changed()

    def _is_missed(self, zone: SilentZone) -> bool:
        """Whether a zone's attempt was never begun, though this run believes that it was: of a task that was
        played again after a worker's death the batches may be others than those that were started, and an
        earlier run may have ended while it was about to start some.
        """
        state = self._state
        if state.aborted or not self._never_began(zone):
            return False
        return state.ledger.miss(zone.index)

    def _never_began(self, zone: SilentZone) -> bool:
        """Whether a zone's attempt is not to be found, and nothing was sent to the zone."""
        begun = zone.attempt >= self._state.ledger.attempts[zone.index]
        return not begun and zone.outcome is ZoneOutcome.FAILED

    def _take_up(self, index: int, attempt: int, name: str) -> None:
        """The campaign was reset to before it began this attempt, which is open."""
        if self._state.ledger.take_up(index, attempt):
            self._state.note(f"{name} was found in attempt {attempt}, which was not known")
            # It may not have been told what the attempt before it was.
            self._state.told.discard(index)
            self._state.told_below = 0
            # What it waits for is to be said yet.
            self._state.sweep_now()

    def hear_again(self, word: ZoneReport) -> None:
        """A zone says again what it waits for, since it was asked to."""
        state, ledger = self._state, self._state.ledger
        before = ledger.places[word.index] if 0 <= word.index < ledger.count else 0
        if not ledger.hear_again(word, workflow.now()):
            return
        if ledger.places[word.index] != before:
            state.note(f"zone {word.index} was found {word.kind.value}, which was not known")
        if word.hold is not None and word.index in ledger.held:
            self.hear_hold(word.hold)
        state.apply_book([word.index])
        state.changed()

    def hear_hold(self, hold: OpenCircuit) -> None:
        """A zone waits for the service: nothing new begins until it answers again, of those whose calls are
        held.
        """
        state = self._state
        known = {(one.credential, one.user) for one in state.calls.holds}
        if (hold.credential, hold.user) in known or not has_room(state.calls.holds, hold, MOST_HOLDS):
            return
        if len(known) >= _MOST_HOLDS_BEFORE and not workflow.patched("each-hold-is-kept"):
            return
        state.calls.holds = (*state.calls.holds, hold)
        apart = state.callers.several and not state.calls.stopped_for_all
        state.note(state.calls.waits_for(hold) if apart else f"paused by itself: {hold}")
        state.changed()

    def end_holds(self, over: Collection[OpenCircuit]) -> None:
        """Calls go on that were held."""
        self._holds_over += 1
        self._state.calls.holds = tuple(hold for hold in self._state.calls.holds if hold not in over)

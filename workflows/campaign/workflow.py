"""A campaign: waves of zones, an in-flight window, permits, the book of decisions, pause, abort and retry.

The campaign starts zones and tells them things by activities; zones tell it by signals. What it remembers of
each zone is a few bytes (edgeshift/campaign/ledger.py), so that continue-as-new carries 100,000 zones.
"""

from __future__ import annotations

import asyncio
from itertools import islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.fanout import ZoneActivities
    from edgeshift.campaign.target_states import Place
    from edgeshift.messages import (
        CampaignResult,
        CampaignStart,
        Permit,
        PermitGrant,
        Person,
        Ruling,
        StartedZones,
        StartZones,
        Step,
        Stop,
    )
    from edgeshift.model.rollout import may_advance
    from edgeshift.model.sign_off import Choice
    from workflows.campaign.batches import BATCH
    from workflows.campaign.handlers import CampaignMessages


@workflow.defn(name="Campaign")
class Campaign(CampaignMessages):
    """One campaign. Its id is ``campaign/<name>``."""

    @workflow.init
    def __init__(self, start: CampaignStart) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: CampaignStart) -> CampaignResult:
        """Take every target to an outcome."""
        workflow.set_current_details(
            f"campaign **{start.name}**: {start.count} zones in {len(start.waves)} wave(s)"
        )
        sweeper = asyncio.create_task(self._sweep_regularly())
        self._stand_by()
        while not self._closed:
            try:
                await self._take_a_turn()
            except asyncio.CancelledError:
                # Somebody cancelled the workflow: its zones must not be left without a campaign.
                self._beginning = frozenset()
                self._stand_down(Person(by="a cancellation of the workflow"))
            if self._too_long and not self._pausing:
                await workflow.wait_condition(workflow.all_handlers_finished)
                await self._leave(sweeper)
                workflow.continue_as_new(
                    start.model_copy(update={"carried": self._carried().model_dump_json(), "again": None})
                )
        await self._leave(sweeper)
        await workflow.wait_condition(workflow.all_handlers_finished)
        await self._tell_revived_zones()
        return CampaignResult(
            outcomes=self._ledger.tallies(),
            aborted=self._aborted is not None,
            carried=self._carried().model_dump_json(),
        )

    async def _leave(self, sweeper: asyncio.Task[None]) -> None:
        """End what goes on beside; a wait for the service begins anew in the next run."""
        sweeper.cancel()
        if self._standing_by is not None and not self._standing_by.done():
            self._standing_by.cancel()
            await asyncio.gather(self._standing_by, return_exceptions=True)

    async def _take_a_turn(self) -> None:
        """Wait until something has changed, then do what follows from it."""
        await workflow.wait_condition(lambda: self._changed or self._sweep_due)
        self._changed = False
        self._advance()
        await self._tell_revived_zones()
        await asyncio.gather(self._start_zones(), self._grant_permits(), self._spread_word())
        if self._sweep_due:
            self._sweep_due = False
            await self._sweep()

    def _advance(self) -> None:
        """Let later waves begin, as far as the waves so far have come."""
        while self._wave + 1 < len(self._start.waves) and not self._halted and not self._stands_still:
            end = self._start.waves[self._wave].end
            if not may_advance(self._ledger.finished(0, end), end, self._start.advance_percent):
                return
            self._wave += 1
            self._note(f"wave {self._start.waves[self._wave].name!r} begins")

    async def _start_zones(self) -> None:
        if self._stands_still or self._aborted:
            return
        # Zones that hold a sign-off come before new ones: what was agreed to must not wait behind them.
        free = self._free_slots() - self._ledger.zones(Place.READY, Place.READY_VALIDATE)
        end = self._start.waves[self._wave].end
        indexes = tuple(self._ledger.within(self._ledger.indexes(Place.PENDING, end=end), free, BATCH))
        if not indexes:
            return
        permits: list[Permit | None] = []
        halted = bool(self._halted)
        for index in indexes:
            self._ledger.begin(index)
            goes = index in self._enterprise and not halted
            permits.append(self._permit(index, Step.VALIDATE) if goes else None)
        self._beginning = frozenset(indexes)
        started: StartedZones = await self._work(
            ZoneActivities.start,
            StartZones(
                campaign=workflow.info().workflow_id,
                campaign_run=self._first_run,
                origin=self._origin,
                start=self._start.model_copy(
                    update={"carried": None, "again": None, "enterprise": "", "covers": ""}
                ),
                indexes=indexes,
                attempts=tuple(self._ledger.attempts[index] for index in indexes),
                permits=tuple(permits),
                reopened=tuple(index for index in indexes if index in self._ledger.reopened),
            ),
            f"start {len(indexes)} zone(s) from {indexes[0]}",
        )
        self._beginning = frozenset()
        for exclusion in started.excluded:
            self._ledger.exclude(exclusion.index, exclusion.reason)
        self._changed = True

    async def _grant_permits(self) -> None:
        if self._stands_still or self._aborted or self._halted:
            return
        ready = self._ledger.indexes(Place.READY, Place.READY_VALIDATE)
        indexes = self._ledger.within(ready, self._free_slots(), BATCH)
        if not indexes:
            return
        grants = []
        for index in indexes:
            shape = self._ledger.shape(index)
            validate = self._ledger.places[index] == Place.READY_VALIDATE
            step = self._first_step if validate else shape.step if shape else Step.COMMIT
            self._ledger.places[index] = Place.PERMITTED
            self._ledger.heard.add(index)
            decisions = self._ledger.decisions(index, self._waves.of(index)).decisions
            grants.append(PermitGrant(permit=self._permit(index, step), decisions=tuple(decisions)))
        await self._tell_zones("permit", indexes, grants=tuple(grants))

    async def _spread_word(self) -> None:
        """Tell zones of a rejection, of expiry, or that the campaign is aborted."""
        if self._aborted:
            still_open = self._ledger.indexes(*(place for place in Place if 0 < place < Place.EXCLUDED))
            indexes = list(islice((index for index in still_open if index not in self._told), 4 * BATCH))
            if indexes:
                self._told.update(indexes)
                await self._tell_zones(
                    "stop", indexes, stop=Stop(by=self._aborted.by, reason=self._aborted.reason)
                )
            return
        rejecting = list(islice(self._ledger.indexes(Place.REJECTING), 4 * BATCH))
        by_shape: dict[tuple[int, int], list[int]] = {}
        for index in rejecting:
            by_shape.setdefault((self._ledger.shapes[index], self._waves.of(index)), []).append(index)
        for (_, wave), indexes in by_shape.items():
            book = self._ledger.decisions(indexes[0], wave)
            ruling = next(
                (
                    decision
                    for decision in book.decisions
                    if decision.choice is Choice.REJECT and not self._refusal(decision)
                ),
                None,
            )
            if ruling is None:
                # Whoever rejected it has thought better of it before the zones were told.
                for index in indexes:
                    self._ledger.places[index] = Place.AWAITING
                self._apply_book(indexes)
                self._changed = True
                continue
            await self._tell_zones(
                "ruling",
                indexes,
                ruling=Ruling(decision=ruling),
                attempts=tuple(self._ledger.attempts[index] for index in indexes),
            )
            for index in indexes:
                self._rest(index, Place.REJECTING)
        expiring = list(islice(self._ledger.indexes(Place.EXPIRING), 4 * BATCH))
        if expiring:
            await self._tell_zones(
                "expire", expiring, attempts=tuple(self._ledger.attempts[i] for i in expiring)
            )
            for index in expiring:
                self._rest(index, Place.EXPIRING)

    def _rest(self, index: int, place: Place) -> None:
        """A zone that has been told what ends it: it answers, or the sweep finds it."""
        if self._ledger.places[index] == place:
            self._ledger.places[index] = Place.STOPPING

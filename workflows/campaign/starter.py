"""Starting a campaign's zones, as many as its window takes, and giving permits to those that ask for one."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.fanout import ZoneActivities
    from edgeshift.campaign.target_states import TargetState
    from edgeshift.messages import Callers, Permit, PermitGrant, StartedZones, StartZones, Step
    from edgeshift.model.counts import counted
    from workflows.campaign.batches import BATCH, Batches
    from workflows.campaign.state import CampaignState
    from workflows.campaign.window import Window


class Starter:
    """Starts the zones of the waves that have begun."""

    def __init__(self, state: CampaignState, batches: Batches) -> None:
        self._state = state
        self._batches = batches
        self._window = Window(state)

    async def start_some(self) -> None:
        """Start the next batch, as far as there is room."""
        state, ledger = self._state, self._state.ledger
        if state.stands_still or state.aborted:
            return
        if state.unrecorded or not state.recalled:
            # What a zone begins with is what the archive says of rejections.
            return
        # Zones that hold a sign-off come before new ones: what was agreed to must not wait behind them.
        free = self._window.free_slots() - self._ready()
        end = state.start.waves[state.wave].end
        # One that was reset after its end is told that this stands before it is begun again.
        pending = (
            index
            for index in ledger.indexes(TargetState.PENDING, end=end, hidden=state.stopped)
            if index not in ledger.woken_after_end
        )
        indexes = tuple(ledger.within(pending, free, BATCH))
        if not indexes:
            return
        permits: list[Permit | None] = []
        halted = bool(state.halted)
        for index in indexes:
            ledger.begin(index)
            goes = index in state.enterprise and not halted
            permits.append(state.permit(index, Step.VALIDATE) if goes else None)
        state.beginning = frozenset(indexes)
        try:
            started: StartedZones = await self._batches.work(
                ZoneActivities.start,
                StartZones(
                    campaign=workflow.info().workflow_id,
                    campaign_run=state.first_run,
                    origin=state.origin,
                    start=state.start.model_copy(
                        update={
                            "carried": None,
                            "again": None,
                            "enterprise": "",
                            "covers": "",
                            "callers": Callers(),
                        }
                    ),
                    indexes=indexes,
                    attempts=tuple(ledger.attempts[index] for index in indexes),
                    permits=tuple(permits),
                    reopened=tuple(index for index in indexes if index in ledger.reopened),
                ),
                f"start {counted(len(indexes), 'zone')} from {indexes[0]}",
            )
        finally:
            state.beginning = frozenset()
            state.changed()
        state.hold_to(started.least)
        for exclusion in started.excluded:
            ledger.exclude(exclusion.index, exclusion.reason, exclusion.code)

    def _ready(self) -> int:
        """How many zones are ready for a permit that may get one."""
        ledger, stopped = self._state.ledger, self._state.stopped
        ready = (TargetState.READY, TargetState.READY_VALIDATE)
        if not stopped:
            return ledger.zones(*ready)
        return sum(map(ledger.covered, ledger.indexes(*ready, hidden=stopped)))


class Granter:
    """Gives permits to zones that are ready for a step."""

    def __init__(self, state: CampaignState, batches: Batches) -> None:
        self._state = state
        self._batches = batches
        self._window = Window(state)

    async def grant_some(self) -> None:
        """Give the next batch of permits, as far as there is room."""
        state, ledger = self._state, self._state.ledger
        if state.stands_still or state.aborted or state.halted:
            return
        # One that is said to have ended is looked at first.
        ready = (
            index
            for index in ledger.indexes(TargetState.READY, TargetState.READY_VALIDATE, hidden=state.stopped)
            if index not in ledger.ended_words
        )
        indexes = ledger.within(ready, self._window.free_slots(), BATCH)
        if not indexes:
            return
        grants = []
        for index in indexes:
            shape = ledger.fingerprint_group(index)
            validate = ledger.places[index] == TargetState.READY_VALIDATE
            step = state.first_step if validate else shape.step if shape else Step.COMMIT
            ledger.places[index] = TargetState.PERMITTED
            ledger.recently_reported.add(index)
            decisions = ledger.decisions(index)
            permit, attempt = state.permit(index, step), ledger.attempts[index]
            grants.append(PermitGrant(attempt=attempt, permit=permit, decisions=tuple(decisions)))
        await self._batches.tell("permit", indexes, grants=tuple(grants))

"""Telling a campaign's zones what ends their waiting: a rejection, an expiry, an abort, an earlier end, or
that the service answers again.
"""

from __future__ import annotations

import contextlib
from datetime import timedelta
from itertools import islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.target_states import OPEN, TargetState
    from edgeshift.messages import OUTLIVED, GoOn, Ruling, Stop
    from edgeshift.model.reasons import ReasonCode
    from edgeshift.model.sign_off import Choice, Decision
    from workflows.campaign.batches import ARCHIVE_TAKES, MANY, Batches
    from workflows.campaign.state import CampaignState


class Messenger:
    """Each of its methods is a task of its own: zones that cannot be told one thing hold up no other."""

    def __init__(self, state: CampaignState, batches: Batches) -> None:
        self._state = state
        self._batches = batches

    async def tell_of_abort(self) -> None:
        """Tell the next zones that are open that the campaign is aborted, once the archive was asked for the
        permits that are out: hundreds of zones that end all at once must not hold up whoever has aborted it.
        """
        state = self._state
        if state.aborted is None:
            return
        await self._until_given_up()
        still_open = state.ledger.indexes(*OPEN, first=state.told_below)
        # One that is only just being started cannot be told yet.
        left_out = (state.told, state.beginning)
        indexes = list(
            islice((index for index in still_open if not any(index in out for out in left_out)), MANY)
        )
        if indexes:
            state.told.update(indexes)
            if not state.beginning:
                state.told_below = indexes[-1] + 1
            by, why = state.aborted.by, state.aborted.reason
            stop = Stop(by=by, reason=why, cause=ReasonCode.CAMPAIGN_ABORTED)
            await self._batches.tell("stop", indexes, stop=stop)

    async def _until_given_up(self) -> None:
        state = self._state
        left = (state.stopped_at or workflow.now()) + ARCHIVE_TAKES - workflow.now()
        if state.pausing and left > timedelta(0):
            with contextlib.suppress(TimeoutError):
                await workflow.wait_condition(
                    lambda: not state.pausing, timeout=left, timeout_summary="before zones are told"
                )

    async def tell_of_rejections(self) -> None:
        """Tell the next zones that their fingerprint was rejected."""
        state, ledger = self._state, self._state.ledger
        if state.aborted:
            return
        groups: dict[tuple[int, int], list[int]] = {}
        for index in islice(ledger.indexes(TargetState.REJECTING), MANY):
            groups.setdefault((ledger.group_numbers[index], ledger.places.wave_of(index)), []).append(index)
        for group in groups.values():
            # Others were told meanwhile, which takes as long as it takes.
            indexes = [index for index in group if ledger.places[index] == TargetState.REJECTING]
            if not indexes:
                continue
            rejection = self._rejection(indexes[0])
            if rejection is None:
                # Whoever rejected it has thought better of it before the zones were told.
                for index in indexes:
                    ledger.places[index] = TargetState.AWAITING
                state.apply_book(indexes)
                state.changed()
                continue
            await self._batches.tell(
                "ruling",
                indexes,
                ruling=Ruling(decision=rejection),
                attempts=tuple(ledger.attempts[index] for index in indexes),
            )
            self._rest(indexes, TargetState.REJECTING)

    def _rejection(self, index: int) -> Decision | None:
        counting = (
            decision
            for decision in self._state.ledger.decisions(index)
            if decision.choice is Choice.REJECT and not self._state.refusal(decision)
        )
        return next(counting, None)

    async def tell_of_expiry(self) -> None:
        """Tell the next zones that they have waited for a sign-off as long as the policy says."""
        state, ledger = self._state, self._state.ledger
        if state.aborted:
            return
        expiring = list(islice(ledger.indexes(TargetState.EXPIRING), MANY))
        if expiring:
            attempts = tuple(ledger.attempts[index] for index in expiring)
            await self._batches.tell("expire", expiring, attempts=attempts)
            self._rest(expiring, TargetState.EXPIRING)

    def _rest(self, indexes: list[int], place: TargetState) -> None:
        """Zones that have been told what ends them: they answer, or the sweep finds them."""
        places = self._state.ledger.places
        for index in indexes:
            if places[index] == place:
                places[index] = TargetState.STOPPING

    async def tell_woken_after_end(self) -> None:
        """Zones that were reset after their end are told that it stands, before any of them is begun again,
        and before the campaign closes (``CampaignState.closed``).
        """
        ledger = self._state.ledger
        while some := sorted(ledger.woken_after_end)[:MANY]:
            attempts = tuple(ledger.attempts[index] for index in some)
            ended = tuple(ledger.outcome(index) for index in some)
            over = Stop(by=OUTLIVED, cause=ReasonCode.ATTEMPT_OVER)
            await self._batches.tell("stop", some, stop=over, attempts=attempts, ended_as=ended)
            ledger.woken_after_end.difference_update(some)
            self._state.changed()

    async def tell_to_go_on(self) -> None:
        """Tell the zones that wait for the service to go on."""
        state, ledger = self._state, self._state.ledger
        state.go_on_due = False
        while some := sorted(index for index in ledger.held if not state.calls.is_stopped(index))[:MANY]:
            # Whoever has to wait again says so again, maybe before all are told.
            ledger.held.difference_update(some)
            try:
                await self._batches.tell("go_on", some, go_on=GoOn())
            except BaseException:
                # The run ends, or goes on in a new one, which tells them.
                ledger.held.update(some)
                raise
            if unreached := state.unreached.keys() & set(some):
                ledger.held.update(unreached)
                return

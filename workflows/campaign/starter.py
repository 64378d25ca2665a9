"""Starting a campaign's zones, as many as its window takes, and giving permits to those that ask for one."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.fanout import ZoneActivities
    from edgeshift.campaign.target_states import TargetState
    from edgeshift.messages import (
        AskingZone,
        Callers,
        Permit,
        PermitGrant,
        ReportKind,
        StartedZones,
        StartZones,
        Step,
        ZoneReport,
    )
    from edgeshift.model.counts import counted
    from edgeshift.model.sign_off import passed_on
    from workflows.campaign.batches import Batches
    from workflows.campaign.state import CampaignState
    from workflows.campaign.turns import Turns


class Starter:
    """Starts the zones of the waves that have begun."""

    def __init__(self, state: CampaignState, batches: Batches) -> None:
        self._state = state
        self._batches = batches
        self._turns = Turns(state)

    async def start_some(self) -> None:
        """Start the next batch, as far as there is room."""
        state, ledger = self._state, self._state.ledger
        if state.stands_still or state.aborted:
            return
        if state.unrecorded or not state.recalled:
            # What a zone begins with is what the archive says of rejections.
            return
        indexes = tuple(self._turns.to_start())
        if not indexes:
            return
        attempts = {}
        permits: list[Permit | None] = []
        halted = bool(state.halted)
        for index in indexes:
            ledger.begin(index)
            attempts[index] = ledger.attempts[index]
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
                    attempts=tuple(attempts.values()),
                    permits=tuple(permits),
                    reopened=tuple(index for index in indexes if index in ledger.reopened),
                    hears=True,
                ),
                f"start {counted(len(indexes), 'zone')} from {indexes[0]}",
            )
        finally:
            state.beginning = frozenset()
            state.changed()
        state.hold_to(started.least)
        for exclusion in started.excluded:
            ledger.exclude(exclusion.index, exclusion.reason, exclusion.code)
        self._hear(started.asking, attempts)
        await self._ask([index for index in started.found if index in attempts])

    def _hear(self, asking: tuple[AskingZone, ...], attempts: dict[int, int]) -> None:
        """Take in which zones of the batch wait for a sign-off from their start on. It counts as their first
        word: each of their own has a larger number (``Reporter.count_word``).
        """
        state, heard = self._state, list[int]()
        for one in asking:
            if one.index not in attempts:
                continue
            word = ZoneReport(
                campaign_run=state.first_run,
                index=one.index,
                attempt=attempts[one.index],
                sequence=1,
                kind=ReportKind.AWAITING,
                step=one.step,
                digest=one.digest,
                fingerprint=one.fingerprint,
                joins=one.joins,
            )
            if state.ledger.hear_start(word, workflow.now()):
                heard.append(one.index)
        if heard:
            state.apply_book(heard)
            state.changed()

    async def _ask(self, found: list[int]) -> None:
        """Have zones say what they wait for that had been started before, where nothing has been heard of
        them: the answer that told of them is lost, or was given to a run that was reset.
        """
        ledger = self._state.ledger
        unheard = [index for index in found if ledger.is_open(index) and not ledger.sequences[index]]
        if unheard:
            # What they say counts as news, as of zones that have long been silent.
            ledger.recently_reported.difference_update(unheard)
            await self._batches.look_at(unheard, unheard)


class Granter:
    """Gives permits to zones that are ready for a step."""

    def __init__(self, state: CampaignState, batches: Batches) -> None:
        self._state = state
        self._batches = batches
        self._turns = Turns(state)

    async def grant_some(self) -> None:
        """Give the next batch of permits, as far as there is room."""
        state, ledger = self._state, self._state.ledger
        if state.stands_still or state.aborted or state.halted:
            return
        indexes = self._turns.to_grant()
        if not indexes:
            return
        grants, policy = [], state.start.policy.sign_off
        for index in indexes:
            group = ledger.fingerprint_group(index)
            validate = ledger.places[index] == TargetState.READY_VALIDATE
            step = state.first_step if validate else group.step if group else Step.COMMIT
            ledger.places[index] = TargetState.PERMITTED
            ledger.recently_reported.add(index)
            # Anybody may have approved, however many there are: as few are passed on as decide.
            decisions = passed_on(ledger.decisions(index), policy, state.start.started_by, workflow.now())
            permit, attempt = state.permit(index, step), ledger.attempts[index]
            grants.append(PermitGrant(attempt=attempt, permit=permit, decisions=tuple(decisions)))
        await self._batches.tell("permit", indexes, grants=tuple(grants))

"""What people want of a whole campaign: pause, resume, abort, and beginning zones again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.target_states import AWAITING, REOPENED, TargetState, signed_anew
    from edgeshift.messages import Again, Answer, Permit, PermitsGivenUp, Person, Step
    from edgeshift.model.counts import agreed, counted
    from edgeshift.model.fleet import ZoneOutcome
    from workflows.campaign.batches import ARCHIVE_TAKES, MANY, Batches
    from workflows.campaign.state import CampaignState

MOST_UNRECORDED = 4_000
"""Fingerprints of decisions that may wait for the archive to take them."""

MOST_NAMED = 1_000
"""Targets that an answer names of each kind."""

SHORT = 80
"""Characters of a reason that are kept with each note, where one word needs more than one."""


@dataclass(frozen=True)
class Back:
    """What became of the permits that were out. ``given_up``: targets of those under which nothing was sent,
    nor will be.
    """

    out: int = 0
    given_up: frozenset[int] = frozenset()

    @property
    def text(self) -> str:
        """What is told to whoever paused the campaign."""
        off, seen = len(self.given_up), self.out - len(self.given_up)
        words = [f"{counted(seen, 'step')} in flight {agreed(seen, 'has', 'have')} finished or expired"]
        if off:
            words = [*(words if seen else ()), f"{counted(off, 'step')} called off before anything was sent"]
        return "; ".join(words) if self.out else "no step was in flight"


class Steering:
    """Stops a campaign, and has it go on."""

    def __init__(self, state: CampaignState, batches: Batches) -> None:
        self._state = state
        self._batches = batches
        self._tasks: set[asyncio.Task[None]] = set()

    async def pause(self, message: Person) -> Answer:
        """No new forward step begins once this has answered. Whoever pauses it once more and gives no reason
        leaves the one that was given.
        """
        state = self._state
        state.steered += 1
        reason = message.reason or (state.paused.reason if state.paused else "")
        state.paused = mine = message.model_copy(update={"reason": reason})
        state.stopped_at = workflow.now()
        state.note(f"paused by {message.by}: {message.reason or 'no reason given'}")
        back = await self.take_back_permits()
        if state.paused is not mine:
            text = "is not paused: somebody resumed it, or paused it again, meanwhile"
            return Answer(text=text, overtaken=True)
        return Answer(text=f"is paused; {back.text}")

    def resume(self, message: Person) -> Answer:
        """End a pause, also the campaign's own. Where no person had paused it, the zones that have failed so
        far are accepted. Who ends a person's pause says nothing of them: it may have hidden the halt.
        """
        state = self._state
        still = "pausing" if state.pausing else "paused"
        was = still if state.stands_still else "halted" if state.halted else "running"
        lifted = state.paused is not None and state.failures > 0
        apart = was == "running" and bool(state.calls.holds)
        state.steered, state.signed_stop = state.steered + 1, None
        state.paused, state.resumed_by_hand = None, bool(state.calls.holds)
        again = "; it pauses itself again if the service cannot be called yet" if state.calls.holds else ""
        if apart:
            again = "; the zones whose calls were stopped try again"
        if not (lifted and workflow.patched("a-resume-ends-a-pause-alone")):
            state.ledger.accept_failures()
        state.note(f"resumed by {message.by} (was {was}): {message.reason or 'no reason given'}")
        state.changed()
        now = "is already running" if was == "running" else f"is running again; it was {was}"
        if state.halted:
            now = f"is not paused any more, but it is halted: {state.halted} once more accepts these failures"
        return Answer(text=f"{now}{again}")

    async def abort(self, message: Person) -> Answer:
        """End the campaign; the answer names what may be in flight, and what stays in validation mode."""
        state, ledger = self._state, self._state.ledger
        # Before anybody is told: those that wait end by that word.
        steps = {permit.index: permit.step for permit in ledger.permits.values()}
        validated = self._in_validation()
        self.stand_down(message)
        back = await self.take_back_permits()
        open_ones = ledger.indexes(TargetState.WORKING, TargetState.PERMITTED, TargetState.WAITING)
        at_work = [index for index in open_ones if index not in back.given_up]
        validated |= {index for index in at_work if steps.get(index) is Step.VALIDATE}
        permitted = [index for index in ledger.indexes(TargetState.PERMITTED) if index not in back.given_up]
        sent = tuple(index for index in permitted if self._commits(index, steps))
        left = tuple(sorted(validated.difference(sent)))
        change = "commit" if state.area.validates else "change"
        others = f"Up to {counted(len(left), 'zone')} {agreed(len(left), 'stays', 'stay')} in validation mode"
        if not left:
            others = "No zone stays in validation mode"
        if not state.area.validates:
            watched = ledger.number(TargetState.WAITING)
            left, others = (), f"{counted(watched, 'zone')} {agreed(watched, 'is', 'are')} watched to the end"
        flying = f"No {change} is in flight"
        if sent:
            be = agreed(len(sent), "is", "are")
            flying = f"Up to {counted(len(sent), change)} {be} in flight, and verified to the end"
        return Answer(
            text=f"is aborting. {flying}. {others}",
            sent=sent[:MOST_NAMED],
            in_validation=left[:MOST_NAMED],
        )

    @property
    def heeds(self) -> bool:
        """Whether a signed word stops the campaign of which Temporal has told it nothing."""
        state = self._state
        if state.signed_stop is None or state.aborted is not None or state.closed:
            return False
        return state.signed_stop.word == "abort" or state.paused is None

    @property
    def knows_of_an_abort(self) -> bool:
        """Whether it has found that an abort is signed of which Temporal has told it nothing. It says so of
        itself also where it has closed by then.
        """
        stop = self._state.signed_stop
        return stop is not None and stop.word == "abort" and self._state.aborted is None

    async def heed(self) -> None:
        """Stop as somebody has signed: nothing would be sent any more, whatever leave is given here."""
        state, stop = self._state, self._state.signed_stop
        state.signed_stop = None
        if stop is None:
            return
        state.note(f"{stop.by} has signed that it is to {stop.word}, and nobody has told it so")
        message = Person(by=stop.by, reason=stop.reason)
        await (self.abort(message) if stop.word == "abort" else self.pause(message))

    def _commits(self, index: int, steps: Mapping[int, Step]) -> bool:
        """Whether a target is at its commit, and not at a step before. ``steps``: of the permits that are
        out, by target; where there is none its last proposal tells.
        """
        group = self._state.ledger.fingerprint_group(index)
        return steps.get(index, group.step if group else Step.COMMIT) is Step.COMMIT

    def _in_validation(self) -> set[int]:
        """The targets that are in validation mode, as far as their words tell: in their window, or
        past it and not migrated.
        """
        ledger = self._state.ledger
        if not self._state.area.validates:
            return set()
        steps = {permit.index: permit.step for permit in ledger.permits.values()}
        past = ledger.indexes(*AWAITING, TargetState.READY, TargetState.PERMITTED)
        found = {index for index in past if self._commits(index, steps)}
        # One that is with support may never have come to its validation.
        found.update(
            index for index in ledger.indexes(TargetState.SUPPORT) if ledger.fingerprint_group(index)
        )
        found.update(ledger.indexes(TargetState.WAITING))
        return {index for index in found if index in self._state.enterprise}

    def stand_down(self, message: Person) -> None:
        """Nothing begins any more; those that have not begun have their outcome."""
        state = self._state
        state.steered += 1
        state.aborted, state.stopped_at = message, workflow.now()
        state.note(f"aborted by {message.by}: {message.reason or 'no reason given'}")
        for index in list(state.ledger.indexes(TargetState.PENDING)):
            state.ledger.stand_down(index)
        state.changed()

    async def take_back_permits(self, of: Callable[[int], bool] = lambda _: True) -> Back:
        """Revoke what is out, of the targets that ``of`` names; come back when nothing more can be sent under
        any of it: each permit is settled, or given up in the archive, which whoever holds it finds before
        anything is sent, or its request is over by its record there.

        Zones are told as well, so that they call off what waits for its turn. Of those only the ones are
        waited for that may be sending.
        """
        state = self._state
        state.pausing += 1
        try:
            out = state.ledger.outstanding(workflow.now(), state.release_time)
            permits = [permit for permit in out if of(permit.index)]
            if not permits:
                return Back()
            state.telling += 1
            giving_up = asyncio.create_task(self._batches.give_up(permits))
            revoking = asyncio.create_task(self._revoke_from_holders(permits, giving_up))
            self._tasks.add(revoking)
            revoking.add_done_callback(self._tasks.discard)
            given_up = await self._given_up(permits, giving_up, revoking)
            return Back(out=len(permits), given_up=given_up)
        finally:
            state.pausing -= 1
            state.changed()

    async def _revoke_from_holders(
        self, permits: list[Permit], giving_up: asyncio.Task[PermitsGivenUp]
    ) -> None:
        """Tell the holders, once the archive has been asked: hundreds of zones that answer all at once must
        not hold up who waits. A run does not end meanwhile.
        """
        try:
            with contextlib.suppress(TimeoutError):
                await workflow.wait_condition(
                    giving_up.done, timeout=ARCHIVE_TAKES, timeout_summary="before zones are told"
                )
            await self._until_started()
            fixed = PermitsGivenUp()
            if giving_up.done() and not giving_up.cancelled() and giving_up.exception() is None:
                fixed = giving_up.result()
            # Those that are waited for come first, and those that have nothing more to send last.
            last, later = frozenset(fixed.over), frozenset(fixed.given_up)
            await self._batches.revoke(
                sorted(permits, key=lambda permit: (permit.number in last, permit.number in later))
            )
        finally:
            self._state.telling -= 1
            self._state.changed()

    async def _given_up(
        self, permits: list[Permit], giving_up: asyncio.Task[PermitsGivenUp], revoking: asyncio.Task[None]
    ) -> frozenset[int]:
        """Wait until nothing can be sent under these permits; the targets of those that were given up.
        ``revoking``: done once their holders were told.
        """
        state, numbers = self._state, {permit.number for permit in permits}

        def left() -> set[int]:
            gone = giving_up.result() if giving_up.done() else PermitsGivenUp()
            return (numbers & state.ledger.permits.keys()).difference(gone.given_up, gone.over)

        last = max(permit.expires_at for permit in permits) + state.release_time
        try:
            await workflow.wait_condition(
                lambda: not left(),
                timeout=max(timedelta(0), last - workflow.now()),
                timeout_summary="until no permit can be used",
            )
        except TimeoutError:
            state.note("permits expired before their steps finished")
            if not giving_up.done():
                # Neither the archive nor the zones can be asked: a person has to look first.
                await revoking
        if not giving_up.done():
            # Zones were quicker than the archive.
            giving_up.cancel()
            await asyncio.gather(giving_up, return_exceptions=True)
            return frozenset()
        given_up = frozenset(giving_up.result().given_up)
        return frozenset(permit.index for permit in permits if permit.number in given_up)

    async def _until_started(self) -> None:
        """Wait for zones that are just being started: they cannot be told yet, would seem gone, and yet
        begin. A batch that hangs is waited for no longer than the permits that it takes along can be used.
        """
        state = self._state
        if not state.beginning:
            return
        theirs = [permit for permit in state.ledger.permits.values() if permit.index in state.beginning]
        last = max((permit.expires_at for permit in theirs), default=workflow.now() + state.start.lease)
        try:
            await workflow.wait_condition(
                lambda: not state.beginning,
                timeout=max(timedelta(0), last + state.release_time - workflow.now()),
                timeout_summary="until zones that are being started can be told",
            )
        except TimeoutError:
            state.note("zones that are being started were not waited for any longer; their permits ran out")

    def candidates(self, message: Again, outcomes: frozenset[ZoneOutcome]) -> list[int]:
        """The targets that are to begin again, of those that ended with these outcomes or were excluded."""
        state = self._state
        places = {TargetState[outcome.name] for outcome in outcomes} | {TargetState.EXCLUDED}
        if message.places:
            places &= {place for place in TargetState if place.word in message.places}
            return list(state.ledger.indexes(*places)) if places else []
        if message.indexes:
            named = dict.fromkeys(message.indexes)
            known = (index for index in named if 0 <= index < state.start.count)
            return [index for index in known if state.ledger.places[index] in places]
        places -= {TargetState.BLOCKED, TargetState.NEEDS_SUPPORT, TargetState.REJECTED}
        return list(state.ledger.indexes(*places))

    def begin_again(self, message: Again, outcomes: frozenset[ZoneOutcome]) -> Answer:
        """Let them begin again."""
        state = self._state
        indexes = self.candidates(message, outcomes)
        self._void_rejections(indexes, message)
        anew = sum(map(state.ledger.uncounted.__contains__, indexes))
        for index in indexes:
            state.ledger.again(index, named=bool(message.indexes))
        state.looked_into(indexes)
        zones = counted(len(indexes), "zone")
        state.note(f"{zones} restarted by {message.by}: {message.reason or 'no reason given'}")
        state.changed()
        left = tuple(sorted(set(message.indexes).difference(indexes)))
        return Answer(text=f"restarts {zones}{signed_anew(anew)}", left=left[:MOST_NAMED])

    def _void_rejections(self, indexes: list[int], message: Again) -> None:
        """Have it recorded that no rejection of before counts for these targets, nor for the fingerprints of
        those that were rejected (``Ledger.again``). A note is of many targets: a new run takes them along.
        """
        state, ledger = self._state, self._state.ledger
        rejected = [index for index in indexes if ledger.places[index] == TargetState.REJECTED]
        reopened = [index for index in indexes if ledger.places[index] in REOPENED]
        reopened = reopened if message.indexes else rejected
        reason = message.reason if len(reopened) <= MANY else message.reason[:SHORT]
        for first in range(0, len(reopened), MANY):
            some = tuple(reopened[first : first + MANY])
            state.rule("reopened", message.by, reason, indexes=some)
        groups = filter(None, map(ledger.fingerprint_group, rejected))
        fingerprints = list(dict.fromkeys(group.fingerprint for group in groups))
        for first in range(0, len(fingerprints), MANY):
            some_of_them = tuple(fingerprints[first : first + MANY])
            state.rule("reopened", message.by, reason, fingerprints=some_of_them)

    def refuse_again(self, message: Again, outcomes: frozenset[ZoneOutcome]) -> None:
        """Raise ApplicationError (CampaignOver, SignOffRefused, NothingToDo) where nothing begins again. One
        that compares its outcomes goes on for it.
        """
        refuse_if_aborted(self._state)
        indexes = self.candidates(message, outcomes)
        if any(self._state.ledger.places[index] in REOPENED for index in indexes):
            refuse_if_unrecorded(self._state, "SignOffRefused")
        if not indexes:
            names = ", ".join(sorted(outcome.value for outcome in outcomes))
            raise refused("NothingToDo", f"nothing to restart: none of these zones is {names} or excluded")


def refuse_if_unrecorded(state: CampaignState, kind: str, more: int = 0) -> None:
    """Raise ApplicationError (``kind``) where too much waits for the archive already: a run hands all of it
    on. ``more``: about how many fingerprints the next ruling is.
    """
    waiting = sum(len(note.fingerprints) for note in state.unrecorded)
    if waiting + more > MOST_UNRECORDED or not state.has_room_for_rulings:
        earlier = counted(max(waiting, len(state.unrecorded)), "earlier decision")
        raise refused(kind, f"the archive has not taken {earlier} yet; try again once it has")


def refuse_if_over(state: CampaignState) -> None:
    """Raise ApplicationError (CampaignOver) where the campaign was aborted, or has closed."""
    refuse_if_aborted(state)
    if state.closed:
        raise refused("CampaignOver", "the campaign is closed")


def refuse_if_aborted(state: CampaignState) -> None:
    """Raise ApplicationError (CampaignOver) where the campaign was aborted."""
    if state.aborted is not None:
        raise refused("CampaignOver", f"the campaign was aborted by {state.aborted.by}")


def refused(kind: str, text: str) -> ApplicationError:
    """The failure with which an update is refused."""
    return ApplicationError(text, type=kind, non_retryable=True)

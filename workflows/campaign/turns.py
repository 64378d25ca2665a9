"""Which zones of a campaign are started and granted a permit next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.callers import hide
    from edgeshift.campaign.shares import Claims, in_turn, most_of_one
    from edgeshift.campaign.target_states import TargetState
    from workflows.campaign.batches import BATCH
    from workflows.campaign.state import CampaignState
    from workflows.campaign.window import Window

READY = (TargetState.READY, TargetState.READY_VALIDATE)


class Turns:
    """Whose turn it is, as far as the window goes: of the first ones in the list, where all calls are one
    user's; of several users, each has its share.
    """

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._window = Window(state)
        # Of two, the share of the other one is all that is rounded.
        several = state.shares_window and state.callers.users > 2
        self._apart = several and not workflow.patched("shares-are-rounded-together")

    def to_start(self) -> list[int]:
        """The next batch to be started. Zones that hold a sign-off come before new ones: what was agreed to
        must not wait behind them.
        """
        state = self._state
        if not state.shares_window:
            free = self._window.free_slots() - self._ready_zones()
            return state.ledger.within(self._pending(state.calls.stopped), free, BATCH)
        if not state.ledger.number(TargetState.PENDING):
            return []
        return list(islice((index for index, pending in self._shared() if pending), BATCH))

    def to_grant(self) -> list[int]:
        """The next batch to be granted a permit."""
        state = self._state
        if not state.shares_window:
            return state.ledger.within(self._ready(state.calls.stopped), self._window.free_slots(), BATCH)
        if not state.ledger.number(*READY):
            return []
        return list(islice((index for index, pending in self._shared() if not pending), BATCH))

    def _ready(self, hidden: bytes) -> Iterator[int]:
        """Those that ask for a permit. One that is said to have ended is looked at first."""
        ledger = self._state.ledger
        return (i for i in ledger.indexes(*READY, hidden=hidden) if i not in ledger.ended_words)

    def _pending(self, hidden: bytes) -> Iterator[int]:
        """Those of the waves that have begun that are to be started. One that was reset after its end is told
        that this stands before it is begun again.
        """
        ledger, end = self._state.ledger, self._state.start.waves[self._state.wave].end
        found = ledger.indexes(TargetState.PENDING, end=end, hidden=hidden)
        return (index for index in found if index not in ledger.woken_after_end)

    def _ready_zones(self) -> int:
        """How many zones are ready for a permit that may get one."""
        ledger, stopped = self._state.ledger, self._state.calls.stopped
        if not stopped:
            return ledger.zones(*READY)
        return sum(map(ledger.covered, ledger.indexes(*READY, hidden=stopped)))

    def _shared(self) -> Iterator[tuple[int, bool]]:
        """Who gets the free places, of several users."""
        state, ledger, callers = self._state, self._state.ledger, self._state.callers
        if (free := self._window.free_slots()) <= 0:
            return iter(())
        taken = [0] * callers.users
        for index in ledger.taking_places(state.calls.stopped):
            taken[callers.user_of(index)] += ledger.covered(index)
        # None is started meanwhile: places would be left free for it.
        starts = state.recalled and not state.unrecorded
        begun = bytes(ledger.places)[: state.start.waves[state.wave].end]
        left, window = callers.users_left(begun, state.calls.stopped), self._window.most_in_flight()
        claims = [
            Claims(
                taken=zones,
                most=most_of_one(window, len(left - {user}), apart=self._apart),
                ready=self._of_user(user, ready=True),
                pending=self._of_user(user, ready=False) if starts else iter(()),
            )
            for user, zones in enumerate(taken)
        ]
        return in_turn(free, claims, ledger.covered)

    def _of_user(self, user: int, *, ready: bool) -> Iterator[int]:
        # A generator: with many users, nobody looks for the next ones of those that have no turn.
        others, stopped = self._state.callers.others_than(user), self._state.calls.stopped
        hidden = hide(others, stopped) if stopped else others
        yield from self._ready(hidden) if ready else self._pending(hidden)

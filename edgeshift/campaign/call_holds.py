"""What holds a campaign's calls, and which of its targets that stops. Pure."""

from __future__ import annotations

from edgeshift.campaign.callers import TargetCallers
from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import FINAL, TargetState
from edgeshift.model.counts import agreed, counted
from edgeshift.rate_limit.circuit import OpenCircuit


class CallHolds:
    """Why a campaign stands still by itself, or those of its targets do whose calls are held. A person's
    pause does not end it.

    ``stopped``: which targets' calls are, ``HIDDEN`` each, where not those of all are; else empty.
    """

    def __init__(self, ledger: Ledger, callers: TargetCallers, holds: tuple[OpenCircuit, ...]) -> None:
        self._ledger, self._callers = ledger, callers
        self.stopped = b""
        self.holds = holds

    @property
    def holds(self) -> tuple[OpenCircuit, ...]:
        """What holds calls, each of one credential or of all of a user's."""
        return self._holds

    @holds.setter
    def holds(self, holds: tuple[OpenCircuit, ...]) -> None:
        self._holds = holds
        self.stopped = self._callers.targets(self._callers.stopped(holds))

    @property
    def stopped_for_all(self) -> bool:
        """Whether calls are held of each target that has no outcome yet."""
        if not self.holds or not self._callers.several:
            return bool(self.holds)
        unfinished = [place for place in TargetState if place not in FINAL]
        goes_on = self._ledger.indexes(*unfinished, hidden=self.stopped)
        return next(goes_on, None) is None

    def is_stopped(self, index: int) -> bool:
        """Whether the target's calls are held."""
        return bool(self.stopped[index]) if self.stopped else bool(self.holds)

    def left_of(self, hold: OpenCircuit) -> int:
        """How many targets without an outcome a hold stops."""
        callers = self._callers
        numbers = callers.stopped_by(hold) if callers.several else frozenset[int]()
        return callers.left(numbers, bytes(self._ledger.places))

    def waits_for(self, hold: OpenCircuit) -> str:
        """How many zones wait for what a hold is about, for people."""
        zones = self.left_of(hold)
        _, _, user = hold.user.rpartition("/")
        of = f" of user {user}" if user else ""
        return f"{counted(zones, 'zone')}{of} {agreed(zones, 'waits', 'wait')}: {hold}"

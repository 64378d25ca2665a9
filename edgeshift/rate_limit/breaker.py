"""What one process knows of held calls: learned from what becomes of its own, and from the user's quota."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import Enum

from edgeshift.rate_limit.circuit import FAILURES, OpenCircuit, Trouble, held, stops


class Fate(Enum):
    """What became of a call that had its turn."""

    ANSWERED = "answered"
    """By the service, whatever it answered."""
    REFUSED = "refused"
    """The service does not take the credential."""
    FAILED = "failed"
    """Nobody answered as the service does."""
    NOT_MADE = "not made"


class Breaker:
    """Calls are held at once where a credential is refused, and all of them where ten in a row have failed
    over a ``minute`` at least. Bursts of faults are not an outage.

    Once calls are held no longer, they go one at a time until one is answered: where nothing is fixed, one
    is enough to see it. ``user``: whose calls they are, which an outage names.
    """

    def __init__(
        self, minute: float = 60.0, clock: Callable[[], float] = time.monotonic, user: str = ""
    ) -> None:
        self._user = user
        self._minute = minute
        self._clock = clock
        self._holds: dict[str, OpenCircuit] = {}
        self._tried: dict[str, bool] = {}
        self._failures = 0
        self._failing_since = 0.0
        self.news = 0
        """How often calls came to be held here: what was asked before the last time says nothing of it."""

    def stops(self, credential: str) -> OpenCircuit | None:
        """The hold that stops a call with this credential, or None."""
        return stops(self._holds.values(), credential)

    def learn(self, holds: Iterable[OpenCircuit]) -> None:
        """Take over what the user's quota says is held now."""
        present = {hold.credential: hold for hold in holds}
        self._tried |= dict.fromkeys(self._holds.keys() - present.keys(), False)
        self._holds = present

    def may_go(self, credential: str) -> bool:
        """Whether no other call is out that is to show whether the service answers again."""
        return not any(self._tried.get(key, False) for key in ("", credential))

    def goes(self, credential: str) -> None:
        """A call with this credential has its turn."""
        for key in self._tried.keys() & {"", credential}:
            self._tried[key] = True

    def ended(self, fate: Fate, said: str, credential: str) -> OpenCircuit | None:
        """A call is over; the hold that comes of it, if one does."""
        tried = self._tried.keys() & {"", credential}
        for key in tried:
            self._tried[key] = False
        match fate:
            case Fate.ANSWERED:
                self._failures = 0
                for key in tried:
                    del self._tried[key]
            case Fate.REFUSED:
                self._failures = 0
                self._tried.pop("", None)
                return self._hold(Trouble.REFUSED, said, credential)
            case Fate.FAILED:
                self._failures += 1
                if self._failures == 1:
                    self._failing_since = self._clock()
                lasted = self._clock() - self._failing_since
                if "" in tried or (self._failures >= FAILURES and lasted >= self._minute):
                    many = f"{self._failures} calls failed in a row, the last: "
                    return self._hold(Trouble.OUTAGE, f"{many if self._failures > 1 else ''}{said}", "")
        return None

    def _hold(self, trouble: Trouble, said: str, credential: str) -> OpenCircuit | None:
        if credential in self._holds:
            return None
        hold = held(trouble, said, datetime.now(UTC), credential, "" if credential else self._user)
        self._holds[credential] = hold
        self._tried.pop(credential, None)
        self._failures = 0
        self.news += 1
        return hold

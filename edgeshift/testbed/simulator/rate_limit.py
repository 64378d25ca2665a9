"""The rate limit of a user or a credential: a rolling window, and a block once it was crossed; and how many
requests one address may make in a second (docs/service.md §8).
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil

from edgeshift.testbed.simulator.clock import Clock, parse_timestamp, timestamp
from edgeshift.testbed.simulator.database import Database
from edgeshift.testbed.simulator.options import RateLimit


@dataclass
class _Use:
    moments: deque[datetime] = field(default_factory=deque)
    blocked_until: datetime | None = None
    busiest: int = 0


class Addresses:
    """Counts the requests of each address in the last second of simulator time, or in as many as are given.
    What is one too many is refused by itself, and blocks nobody.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moments: dict[str, deque[datetime]] = {}

    def admit(self, address: str, now: datetime, most: int, within: float = 1) -> bool:
        """Count one request; whether it may pass."""
        moments = self._moments.setdefault(address, deque())
        oldest = now - self._clock.lasting(within)
        while moments and (moments[0] <= oldest or moments[0] > now):
            moments.popleft()
        if len(moments) >= most:
            return False
        moments.append(now)
        return True


class RateLimits:
    """Counts the requests of each user over all of the user's credentials, or, as the options say, of each
    credential, in simulator time. A ``user`` here is whoever is counted.

    The counts are rebuilt from the journal when a data folder is opened again; blocks are kept in the
    database.
    """

    def __init__(self, database: Database, clock: Clock, counted: Iterable[tuple[str, str]]) -> None:
        self._database = database
        self._clock = clock
        self._users: dict[str, _Use] = {}
        for user, time in counted:
            self._use(user).moments.append(parse_timestamp(time))
        for user, until in database.connection.execute("SELECT user, until FROM blocks"):
            self._use(user).blocked_until = parse_timestamp(until)

    def admit(self, user: str, now: datetime, limit: RateLimit) -> int | None:
        """Count one request. None when it may pass, else for how many seconds (at least 1) the user is
        blocked.

        The request that crosses the limit is refused itself, and begins the block; refused requests do not
        count.
        """
        use = self._use(user)
        if use.blocked_until is not None:
            if now < use.blocked_until:
                return self._seconds(use.blocked_until, now)
            use.blocked_until = None
        self._forget(use, now, limit)
        if len(use.moments) >= limit.requests:
            return self._seconds(self.block(user, now, limit), now)
        use.moments.append(now)
        use.busiest = max(use.busiest, len(use.moments))
        return None

    def block(self, user: str, now: datetime, limit: RateLimit) -> datetime:
        """Refuse every call of the user from now on for the time of a block. Needs a transaction to be
        kept."""
        use = self._use(user)
        until = use.blocked_until = now + self._clock.lasting(limit.block_seconds)
        use.moments.clear()
        self._database.connection.execute(
            "INSERT INTO blocks (user, until) VALUES (?, ?) "
            "ON CONFLICT (user) DO UPDATE SET until = excluded.until",
            (user, timestamp(until)),
        )
        return until

    def remaining(self, user: str, now: datetime, limit: RateLimit) -> tuple[int, int]:
        """How many more requests the window holds, and in how many seconds it is empty: a whole window, or
        what is left of a block, in which it holds none.
        """
        use = self._use(user)
        if use.blocked_until is not None and now < use.blocked_until:
            return 0, self._seconds(use.blocked_until, now)
        self._forget(use, now, limit)
        left = max(0, limit.requests - len(use.moments))
        return left, round(self._clock.lasting(limit.window_seconds).total_seconds())

    def summary(self, now: datetime, limit: RateLimit) -> list[dict[str, object]]:
        """What each user has used: requests in the window, the most ever seen in one, and a block's end."""
        found: list[dict[str, object]] = []
        for user, use in self._users.items():
            self._forget(use, now, limit)
            blocked = use.blocked_until if use.blocked_until and use.blocked_until > now else None
            found.append(
                {
                    "user": user,
                    "in_window": len(use.moments),
                    "busiest_window": use.busiest,
                    "limit": limit.requests,
                    "blocked_until": timestamp(blocked) if blocked else None,
                }
            )
        return found

    def _use(self, user: str) -> _Use:
        return self._users.setdefault(user, _Use())

    def _forget(self, use: _Use, now: datetime, limit: RateLimit) -> None:
        oldest = now - self._clock.lasting(limit.window_seconds)
        while use.moments and (use.moments[0] <= oldest or use.moments[0] > now):
            use.moments.popleft()

    @staticmethod
    def _seconds(until: datetime, now: datetime) -> int:
        return max(1, ceil((until - now).total_seconds()))

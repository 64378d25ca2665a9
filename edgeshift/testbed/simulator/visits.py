"""Who came to the edge: what is needed to see that a client only looks, and how fast."""

from collections import deque
from dataclasses import asdict, dataclass
from typing import Any

MOST_VISITS = 100_000


@dataclass(frozen=True, slots=True)
class Visit:
    """One request that came to the listener. `time` is the simulator's; `disable_esc`: whether it carried
    that cookie, whatever its value."""

    seq: int
    time: str
    method: str
    host: str
    path: str
    status: int
    disable_esc: bool


class Visits:
    """The last requests, in memory alone."""

    def __init__(self) -> None:
        self._kept: deque[Visit] = deque(maxlen=MOST_VISITS)
        self._last = 0

    def note(self, *, time: str, method: str, host: str, path: str, status: int, disable_esc: bool) -> None:
        self._last += 1
        self._kept.append(Visit(self._last, time, method, host, path, status, disable_esc))

    def read(self, *, after: int, limit: int, host: str | None) -> tuple[list[dict[str, Any]], int | None]:
        """Visits with a greater `seq`, oldest first, and the `after` of the next page or None."""
        found = [one for one in self._kept if one.seq > after and host in (None, one.host)]
        following = found[limit - 1].seq if len(found) > limit else None
        return [asdict(one) for one in found[:limit]], following

"""The simulator's clock: what time it is there, and how long a duration lasts."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

TimeSource = Callable[[], datetime]


def wall_time() -> datetime:
    """The machine's time, in UTC."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """A moment as the service writes it, such as `2000-01-01T00:00:00.000000Z` (docs/service.md §2.2)."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_timestamp(text: str) -> datetime:
    """A moment from ISO 8601; without an offset it is taken as UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text.strip())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


class Clock:
    """Simulator time: a source of moments, shifted by `offset_seconds`; durations divided by `time_scale`.

    The moments run as fast as the source's, so a client's own clock stays comparable; only durations
    (migrations, visibility, rate-limit windows, the times between events) shrink.
    """

    def __init__(
        self, source: TimeSource | None = None, *, offset_seconds: float = 0.0, time_scale: float = 1.0
    ) -> None:
        self._source = source or wall_time
        self.offset_seconds = offset_seconds
        self.time_scale = time_scale

    def now(self) -> datetime:
        """The simulator's present, in UTC."""
        return self._source().astimezone(UTC) + timedelta(seconds=self.offset_seconds)

    def set(self, moment: datetime) -> None:
        """Make `moment` the present; time goes on from there."""
        self.offset_seconds = (moment - self._source()).total_seconds()

    def lasting(self, seconds: float) -> timedelta:
        """How long a nominal duration really lasts under the time scale."""
        return timedelta(seconds=seconds / self.time_scale)

    def stretched(self, moment: datetime, anchor: datetime) -> datetime:
        """Where a real moment lies on the unshortened time line that starts at `anchor`."""
        return anchor + (moment - anchor) * self.time_scale

    def shortened(self, moment: datetime, anchor: datetime) -> datetime:
        """The inverse of `stretched`."""
        return anchor + (moment - anchor) / self.time_scale

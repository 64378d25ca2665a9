"""Where a target is, as its campaign knows it. Pure."""

from __future__ import annotations

from enum import IntEnum


class TargetState(IntEnum):
    """Where a target is, as the campaign knows it. From ``EXCLUDED`` on, places are final."""

    PENDING = 0
    WORKING = 1
    WAITING = 2
    SUPPORT = 3
    AWAITING = 4
    AWAITING_SEPARATE = 5
    READY = 6
    READY_VALIDATE = 7
    PERMITTED = 8
    REJECTING = 9
    EXPIRING = 10
    STOPPING = 11
    EXCLUDED = 16
    MIGRATED = 17
    ALREADY_MIGRATED = 18
    BLOCKED = 19
    NEEDS_SUPPORT = 20
    REJECTED = 21
    ON_HOLD = 22
    ABORTED = 23
    FAILED = 24
    UNKNOWN = 25
    SETTLED = 26
    ALREADY_SETTLED = 27
    ROLLED_BACK = 28

    @property
    def word(self) -> str:
        """Its name in messages, summaries and what people ask for."""
        return self.name.lower()

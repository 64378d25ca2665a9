"""What reading alone tells of a target, whatever the area. Pure."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What reading alone tells of a target."""

    READY = "ready"
    BLOCKED = "blocked"
    NEEDS_SUPPORT = "needs_support"
    ALREADY_MIGRATED = "already_migrated"
    ALREADY_SETTLED = "already_settled"
    IN_VALIDATION = "in_validation"

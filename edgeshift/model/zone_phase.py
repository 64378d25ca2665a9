"""Where a zone is, by its own word. Pure."""

from __future__ import annotations

from enum import StrEnum


class ZonePhase(StrEnum):
    """Where a zone is, for people."""

    ASSESSING = "assessing"
    NEEDS_SUPPORT = "needs_support"
    AWAITING_VALIDATION = "awaiting_validation_permit"
    STARTING_VALIDATION = "starting_validation"
    VALIDATING = "validating"
    GATHERING_EVIDENCE = "gathering_evidence"
    AWAITING_SIGN_OFF = "awaiting_sign_off"
    AWAITING_PERMIT = "awaiting_permit"
    DELETING_OVERRIDES = "deleting_overrides"
    AWAITING_FIRST_PERMIT = "awaiting_first_permit"
    SETTING_SECRET = "setting_secret"
    PROBING = "probing"
    COMMITTING = "committing"
    VERIFYING = "verifying"
    WATCHING = "watching"
    ROLLING_BACK = "rolling_back"
    WAITING_FOR_SERVICE = "waiting_for_service"
    CLOSED = "closed"

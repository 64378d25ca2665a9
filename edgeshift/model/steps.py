"""The mutating steps of a zone. Pure."""

from __future__ import annotations

from enum import StrEnum


class Step(StrEnum):
    """A mutating step of a zone. Each needs a permit; those that cannot be undone need a sign-off too."""

    VALIDATE = "validate"
    SET_SECRET = "set_secret"
    DELETE_OVERRIDES = "delete_overrides"
    COMMIT = "commit"
    ROLL_BACK = "roll_back"


UNSIGNED = frozenset({Step.VALIDATE, Step.SET_SECRET, Step.ROLL_BACK})
"""Steps without a sign-off: those that come before it, and the rollback."""

BEFORE_SIGN_OFF = frozenset({Step.VALIDATE, Step.SET_SECRET})
"""Steps that a target asks a permit for before anybody has seen its proposal."""

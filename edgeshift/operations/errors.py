"""What can go wrong with an operation, each with a text for people. The command line gives each its exit
code.
"""

from __future__ import annotations


class OperationError(Exception):
    """Something that was asked for did not happen. ``hint``: what to do about it, one sentence or empty."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.text}; {self.hint}" if self.hint else self.text


class BadInput(OperationError):
    """What was given cannot be understood or names several things."""


class NotFound(OperationError):
    """There is no such campaign or zone, or nothing that waits."""


class Refused(OperationError):
    """It was understood and is not allowed: already started, not listed, an old digest, a conflict."""


class TemporalTrouble(OperationError):
    """Temporal cannot be reached, or nobody answers there."""


class ServiceTrouble(OperationError):
    """The service cannot be reached, does not take the credential or answers nonsense."""


class Failed(OperationError):
    """It was tried and failed."""

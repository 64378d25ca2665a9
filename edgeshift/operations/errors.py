"""What can go wrong with an operation, each with a text for people and the exit code of the command line."""

from __future__ import annotations

from typing import ClassVar

from edgeshift.model.exit_codes import ExitCode


class OperationError(Exception):
    """Something that was asked for did not happen. ``hint``: what to do about it, one sentence or empty."""

    exit_code: ClassVar[ExitCode] = ExitCode.FAILED

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.text}; {self.hint}" if self.hint else self.text


class BadInput(OperationError):
    """What was given cannot be understood or names several things."""

    exit_code = ExitCode.BAD_INPUT


class NotFound(OperationError):
    """There is no such campaign or zone, or nothing that waits."""

    exit_code = ExitCode.NOTHING


class Refused(OperationError):
    """It was understood and is not allowed: already started, not listed, an old digest, a conflict."""

    exit_code = ExitCode.REFUSED


class NotAsSigned(Refused):
    """What the archive holds is not what waits for a sign-off: it is not shown, and not signed."""

    def __init__(self, what: str) -> None:
        super().__init__(
            what, "approve nothing of it: find out who changed the archive, and reject the zone or abort"
        )


class NotThatZone(NotAsSigned):
    """What answers in a zone's name is another zone, or nobody signed that it is a target: nothing is signed
    for it. ``what``: that alone, for where others are signed all the same.
    """

    def __init__(self, what: str) -> None:
        OperationError.__init__(
            self,
            f"{what}; nothing was signed, and nothing sent",
            "find out who has access to Temporal; `edgeshift doctor` and `edgeshift alarms` tell more",
        )
        self.what = what


class NotRecorded(NotAsSigned):
    """No worker that counts has recorded what is shown of a zone: anybody may have archived it."""

    def __init__(self, zone: str, why: str, place: str) -> None:
        by = place or "the roots that are known here"
        OperationError.__init__(
            self,
            f"what would be shown of zone {zone} is no worker's by {by}: {why}",
            "compare these roots with those of the workers (`edgeshift doctor`, `edgeshift keys list`). Where"
            " they are the same, reject the zone, and `edgeshift reopen` has a worker read it again",
        )


class NotBegun(Refused):
    """Nobody who is known here has signed the start of a campaign: nothing of it can be signed."""

    def __init__(self, campaign: str) -> None:
        super().__init__(
            f"the start of campaign {campaign} was not signed, so that nothing of it can be",
            f"`edgeshift abort {campaign}` ends it, if it runs; then `edgeshift start FILE --again`, with a"
            " key, starts it so that signatures count",
        )


class StartNotKnown(NotBegun):
    """Somebody has signed the start of a campaign, and nobody who was a starter by the roots that are known
    here: which of them workers go by is not known. ``why``: as these roots say it.
    """

    def __init__(self, campaign: str, why: str) -> None:
        OperationError.__init__(
            self,
            f"the start of campaign {campaign} does not count by the roots that are known here: {why}; so"
            " nothing of it can be signed",
            "EDGESHIFT_AUTHORITY_ROOTS names the workers' roots. Where it does not count by them either,"
            f" `edgeshift abort {campaign}` ends it, if it runs; then `edgeshift start FILE --again` starts"
            " it, to be signed by a starter",
        )
        self.why = why


class TemporalTrouble(OperationError):
    """Temporal cannot be reached, or nobody answers there."""

    exit_code = ExitCode.TEMPORAL


class ServiceTrouble(OperationError):
    """The service cannot be reached, does not take the credential or answers nonsense."""

    exit_code = ExitCode.SERVICE


class Failed(OperationError):
    """It was tried and failed."""


class Unreadable(Failed):
    """What an execution was started with, ended with or answers is nothing that this version understands."""

    def __init__(self, workflow: str, what: str) -> None:
        super().__init__(
            f"{what} of {workflow} cannot be read: it is of another version, or nothing of edgeshift's",
            f"`temporal workflow show --workflow-id {workflow}` shows who started it",
        )


BY_EXIT_CODE: dict[ExitCode, type[OperationError]] = {
    kind.exit_code: kind for kind in (BadInput, NotFound, Refused, TemporalTrouble, ServiceTrouble)
}
"""The error for each exit code that says more than that something failed."""

"""What a failed activity says to a zone's workflow."""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, TimeoutError

with workflow.unsafe.imports_passed_through():
    from edgeshift.rate_limit.circuit import ServiceHold

LOCAL_FAILURES = (ActivityError, ApplicationError)
"""What a failed activity raises: a local one that is not retryable comes as the bare ApplicationError."""

HELD = ("ServiceHeld", "InvalidCredential", "CredentialMissing")
"""Types of failures that are no fault of the zone's: it waits until the service may be called again."""


def said(failure: FailureError) -> str:
    """The innermost reason of a failed activity, short. Of one that was tried until its time was over, which
    one it was: the server does not say what went wrong last.
    """
    cause: BaseException = failure
    tried = ""
    while isinstance(cause, ActivityError) and cause.cause is not None:
        tried, cause = cause.activity_type, cause.cause
    if isinstance(cause, TimeoutError) and tried:
        last = f": {cause.cause}" if cause.cause is not None else ""
        return f"{tried.replace('_', ' ')} did not succeed in time, however often it was tried{last}"[:250]
    return str(cause)[:250] or type(cause).__name__


def is_left_alone(failure: BaseException) -> bool:
    """Whether an activity failed because the campaign has come to its end."""
    cause = _innermost(failure)
    return isinstance(cause, ApplicationError) and cause.type == "CampaignClosed"


def is_gone(failure: BaseException) -> bool:
    """Whether an activity failed because the campaign was ended from outside, or is not known."""
    cause = _innermost(failure)
    return isinstance(cause, ApplicationError) and cause.type == "CampaignGone"


def hold_in(failure: BaseException) -> ServiceHold | None:
    """Why the service is not to be called for now, where that is why an activity failed; or None."""
    cause = _innermost(failure)
    if not isinstance(cause, ApplicationError) or cause.type not in HELD or not cause.details:
        return None
    return ServiceHold.model_validate(cause.details[0])


def _innermost(failure: BaseException) -> BaseException | None:
    cause: BaseException | None = failure
    while isinstance(cause, ActivityError):
        cause = cause.cause
    return cause

"""What a failed activity says to a zone's workflow."""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, TimeoutError

with workflow.unsafe.imports_passed_through():
    from edgeshift.model.failures import HELD, KEPT_BY_ROOTS, reason_of
    from edgeshift.model.reason_texts import text_of
    from edgeshift.model.reasons import Reason, ReasonCode
    from edgeshift.rate_limit.circuit import OpenCircuit

LOCAL_FAILURES = (ActivityError, ApplicationError)
"""What a failed activity raises: a local one that is not retryable comes as the bare ApplicationError."""


def failed(failure: BaseException) -> Reason:
    """Why an activity failed, by the innermost failure. Of one that was tried until its time was over, which
    one it was, and what the last try failed with, where the server says so.
    """
    cause, tried = failure, ""
    while isinstance(cause, ActivityError) and cause.cause is not None:
        tried, cause = cause.activity_type, cause.cause
    if isinstance(cause, TimeoutError) and tried:
        last = cause.cause
        code = ReasonCode.NOT_IN_TIME if last is None else _code_of(last)
        return Reason(code=code, tried=tried, said="" if last is None else _text(last)[:200])
    return Reason(code=_code_of(cause), said=_text(cause)[:250] or type(cause).__name__)


def _text(cause: BaseException) -> str:
    """What it says, without the name of its class, which is for programs."""
    return cause.message if isinstance(cause, FailureError) else str(cause)


def _code_of(cause: BaseException) -> ReasonCode:
    return reason_of(cause.type) if isinstance(cause, ApplicationError) else ReasonCode.FAILED


def said(failure: BaseException) -> str:
    """Why an activity failed, as text."""
    return text_of(failed(failure))


def is_left_alone(failure: BaseException) -> bool:
    """Whether an activity failed because the campaign has come to its end."""
    cause = _innermost(failure)
    return isinstance(cause, ApplicationError) and cause.type == "CampaignClosed"


def is_gone(failure: BaseException) -> bool:
    """Whether an activity failed because the campaign was ended from outside, or is not known."""
    cause = _innermost(failure)
    return isinstance(cause, ApplicationError) and cause.type == "CampaignGone"


def hold_in(failure: BaseException) -> OpenCircuit | None:
    """Why the service is not to be called for now, where that is why an activity failed; or None."""
    cause = _innermost(failure)
    if not isinstance(cause, ApplicationError) or cause.type not in HELD or not cause.details:
        return None
    return OpenCircuit.model_validate(cause.details[0])


def is_kept_by_roots(failure: BaseException) -> bool:
    """Whether the worker's roots did not let an activity ask the service, which says nothing of the zone."""
    cause = _innermost(failure)
    return isinstance(cause, ApplicationError) and cause.type in KEPT_BY_ROOTS


def _innermost(failure: BaseException) -> BaseException | None:
    cause: BaseException | None = failure
    while isinstance(cause, ActivityError):
        cause = cause.cause
    return cause

"""What is known of a step whose request failed (docs/service.md §7)."""

from __future__ import annotations

from typing import Any

from activities.boundary import hold_of
from edgeshift.areas import area_of
from edgeshift.messages import ChangeResult, ChangeStatus
from edgeshift.model.failures import FAILURES, Happened, kind_of
from edgeshift.model.fleet import Area
from edgeshift.model.reasons import ReasonCode
from edgeshift.service_api import Conflict, NoTurn, RateLimited, ServerError, ServiceError, TimedOut


def judged(failure: ServiceError, area: Area) -> ChangeResult:
    """What is known of a step whose request failed.

    Only a 429, a refused credential and a failure before anything was written prove that nothing happened and
    may be tried again; another 4xx with the service's envelope ends the attempt; everything else is unknown
    (docs/service.md §7). The area says whether it is a case for the provider's support: where the outcome is
    unknown, that counts once the status says that nothing came of it.
    """
    facts: dict[str, Any] = {
        "reason": str(failure)[:200],
        "http_status": failure.status or 0,
        "ray": (failure.ray or "")[:40],
        "turn": not isinstance(failure, NoTurn),
    }
    if not failure.nothing_happened or isinstance(failure, Conflict):
        return ChangeResult(status=ChangeStatus.UNKNOWN, cause=support_cause(failure, area), **facts)
    if hold := hold_of(failure):
        # Nothing is wrong with the zone: it waits until the credential is fixed.
        return ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, hold=hold, stands=True, **facts)
    known = FAILURES[kind_of(type(failure)) or ServiceError.__name__]
    if known.happened is not Happened.NOTHING_IF_SAID:
        return ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, stands=True, **facts)
    return ChangeResult(status=ChangeStatus.REFUSED, cause=support_cause(failure, area), **facts)


def support_cause(failure: ServiceError, area: Area) -> ReasonCode | None:
    """The case for the provider's support that an answer is, or None. Which status such a case has is not
    known (docs/service.md §7). A server that has failed may ask to contact support as well, so of its answers
    only a limit that they name counts.
    """
    case_of = area_of(area).support_cause
    cause = case_of(failure.unabridged) if case_of else None
    failed = isinstance(failure, ServerError | TimedOut)
    if isinstance(failure, RateLimited) or (failed and cause is ReasonCode.SUPPORT_REFUSAL):
        return None
    return cause

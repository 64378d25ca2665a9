"""What is known of a step whose request failed (docs/service.md §7)."""

from __future__ import annotations

from typing import Any

from activities.boundary import hold_of
from edgeshift.areas import area_of
from edgeshift.messages import ChangeResult, ChangeStatus
from edgeshift.model.failures import FAILURES, Happened, kind_of
from edgeshift.model.fleet import Area
from edgeshift.service_api import Conflict, NoTurn, ServiceError


def judged(failure: ServiceError, area: Area) -> ChangeResult:
    """What is known of a step whose request failed.

    Only a 429, a refused credential and a failure before anything was written prove that nothing happened and
    may be tried again; another 4xx with the service's envelope ends the attempt; everything else is unknown
    (docs/service.md §7). The area says whether a refusal is a case for the provider's support.
    """
    facts: dict[str, Any] = {
        "reason": str(failure)[:200],
        "http_status": failure.status or 0,
        "ray": (failure.ray or "")[:40],
        "turn": not isinstance(failure, NoTurn),
    }
    if not failure.nothing_happened or isinstance(failure, Conflict):
        return ChangeResult(status=ChangeStatus.UNKNOWN, **facts)
    if hold := hold_of(failure):
        # Nothing is wrong with the zone: it waits until the credential is fixed.
        return ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, hold=hold, stands=True, **facts)
    known = FAILURES[kind_of(type(failure)) or ServiceError.__name__]
    if known.happened is not Happened.NOTHING_IF_SAID:
        return ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, stands=True, **facts)
    case_of = area_of(area).support_cause
    cause = case_of(failure.unabridged) if case_of else None
    return ChangeResult(status=ChangeStatus.REFUSED, cause=cause, **facts)

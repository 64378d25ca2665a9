"""Which alarms a zone's place and the codes of its reasons tell of. Pure.

A code that is not known here, such as one of an installed area, or a reason of an earlier version, which has
none, is an alarm all the same, of the outcome as such: it claims nothing of what was sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edgeshift.areas import area_of
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.reasons import ReasonCode

ENDED = frozenset({"terminated", "canceled", "timed_out"})
"""Places of zones whose workflow somebody ended from outside, or that ended without an outcome."""

_SUPPORT = {
    ReasonCode.TOO_MANY_RULES: "support-too-many-rules",
    ReasonCode.EXPRESSION_TOO_LONG: "support-long-expression",
    ReasonCode.SUPPORT_REFUSAL: "support-refusal",
}
_BLOCKED = {
    ReasonCode.URI_OVERRIDES: "blocked-overrides",
    ReasonCode.NOT_COMPATIBLE: "blocked-not-compatible",
    ReasonCode.LOG_ONLY: "blocked-log-only",
    ReasonCode.EMPTY_CONFIGURATION: "blocked-log-only",
    ReasonCode.UNPROTECTED: "blocked-unprotected",
    ReasonCode.RULES_REPLACED: "blocked-own-rules",
    ReasonCode.PAGE_RULE_PATTERN: "blocked-page-rule",
    ReasonCode.REMOVED: "blocked-removal-date",
    ReasonCode.ACCOUNT_ZONES_HELD: "blocked-account",
    ReasonCode.NOT_ENTITLED: "blocked-plan",
    ReasonCode.SECRET_REFUSED: "blocked-plan",
    ReasonCode.OTHER_PLAN: "blocked-plan",
    ReasonCode.PLAN_UNKNOWN: "blocked-plan",
    ReasonCode.TOO_MANY_FIELDS: "blocked-fields",
    ReasonCode.WRONG_NAMES: "blocked-fields",
    ReasonCode.NO_LOG_JOB: "blocked-log-job",
    ReasonCode.ODD_LOG_JOB: "blocked-log-job",
    ReasonCode.ODD_RULES: "blocked-rules",
}
_FAILED = {
    ReasonCode.WORKFLOW_ENDED: "zone-ended",
    ReasonCode.NOT_ROLLED_BACK: "failed-way-back",
    ReasonCode.STORED_RULES_DIFFER: "failed-differs",
    ReasonCode.GIVEN_UP: "failed-tries",
    ReasonCode.CHANGE_REFUSED: "failed-refused",
    ReasonCode.EDITED_SINCE: "failed-edited",
    ReasonCode.DELETION_REFUSED: "failed-refused",
    ReasonCode.SECRET_REFUSED: "failed-refused",
    ReasonCode.CREDENTIAL_REFUSED: "failed-credential",
    ReasonCode.CREDENTIAL_MISSING: "failed-credential",
    ReasonCode.NOT_PERMITTED: "failed-credential",
    ReasonCode.NOT_THERE: "failed-credential",
    ReasonCode.ARCHIVE_DAMAGED: "failed-archive",
    ReasonCode.ARCHIVE_GONE: "failed-archive",
}
_UNKNOWN = {
    ReasonCode.WORKFLOW_ENDED: "zone-ended",
    ReasonCode.VALIDATION_NOT_SHOWN: "unknown-validation",
}

BY_CODE: Mapping[str, Mapping[ReasonCode, str]] = {
    "support": _SUPPORT,
    "blocked": _BLOCKED,
    "failed": _FAILED,
    "unknown": _UNKNOWN,
    "on_hold": {
        ReasonCode.SIGN_OFF_NOT_COUNTED: "on-hold-uncounted",
        ReasonCode.NOT_SIGNED: "on-hold-unsigned",
    },
}
"""By place: which alarm a code is."""

_OTHERWISE = {
    "support": "support-refusal",
    "blocked": "blocked",
    "needs_support": "needs-support",
    "rejected": "rejected",
    "on_hold": "on-hold",
    "aborted": "aborted",
    "excluded": "excluded",
    "rolled_back": "rolled-back",
    "failed": "failed",
    **dict.fromkeys(ENDED, "zone-ended"),
}

READING = frozenset(
    {
        ReasonCode.SERVICE_REFUSED,
        ReasonCode.SERVICE_FAILED,
        ReasonCode.SERVICE_HELD,
        ReasonCode.ARCHIVE_UNAVAILABLE,
        ReasonCode.TICKETS_UNAVAILABLE,
        ReasonCode.BAD_INPUT,
        ReasonCode.NOT_IN_TIME,
        ReasonCode.FAILED,
    }
)
"""Codes of activities that failed. A zone that ends as failed by them alone was sent nothing: one to which
something was sent ends as unknown by them.
"""

OF_ENTRY_SIZE = frozenset(
    {ReasonCode.FIELDS_OFTEN_CUT_OFF, ReasonCode.FIELDS_CUT_OFF, ReasonCode.FIELDS_NEARLY_FULL}
)
"""Codes of proposals whose fields do not fit into a log entry, or nearly do not."""


def alarm_codes(place: str, codes: Sequence[ReasonCode], area: Area) -> tuple[str, ...]:
    """The codes of a zone's alarms: none where it needs nobody. A zone may be over two limits at once.

    ``place``: of the campaign's ledger, an outcome, or how its workflow ended otherwise. ``codes``: of its
    reasons, the most important first.
    """
    known = BY_CODE.get(place, {})
    found = [known[code] for code in codes if code in known]
    if place == ZoneOutcome.SETTLED and not area_of(area).unverified.isdisjoint(codes):
        found = ["fields-unverified"]
    if not found and place == ZoneOutcome.UNKNOWN:
        found = ["unknown-change" if area_of(area).reversible else "unknown-commit"]
    if not found and place == ZoneOutcome.FAILED and codes and READING.issuperset(codes):
        found = ["failed-reading"]
    if not found and place in _OTHERWISE:
        found = [_OTHERWISE[place]]
    # Of several explanations of one end the first counts; limits count one by one.
    return tuple(dict.fromkeys(found)) if place in ("support", "blocked") else tuple(found[:1])

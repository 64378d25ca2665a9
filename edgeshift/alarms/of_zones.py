"""Which alarms a zone's place and reason tell of. Pure.

A reason is told by its words, those of whoever gave it: so zones that ended under an earlier version are
understood as well. Words that are not known are an alarm all the same, of the outcome as such.
"""

from __future__ import annotations

import re

from edgeshift.model.fleet import Area, ZoneOutcome

ENDED = frozenset({"terminated", "canceled", "timed_out"})
"""Places of zones whose workflow somebody ended from outside, or that ended without an outcome."""

_SUPPORT = (
    (r"firewall rules to migrate; the service migrates at most", "support-too-many-rules"),
    (r"firewall rule expression\(s\) over", "support-long-expression"),
    (r"the service refuse[ds]", "support-refusal"),
)
_BLOCKED = (
    (r"URI-based WAF override\(s\) must be deleted", "blocked-overrides"),
    (r"not compatible in its current configuration", "blocked-not-compatible"),
    (r"its configuration would only log", "blocked-log-only"),
    (r"new configuration without any rule", "blocked-log-only"),
    (r"Edge Side Code was removed on", "blocked-removal-date"),
    (r"zones of the account are worked on by others", "blocked-account"),
    (r"log jobs and custom log fields are for Enterprise zones", "blocked-plan"),
    (r"and enterprise in the campaign's list", "blocked-plan"),
    (r"custom fields and would have \d+: it takes", "blocked-fields"),
    (r"enable one, or name one for such zones under log_fields\.job", "blocked-log-job"),
    (r"\blog job \w+: ", "blocked-log-job"),
    (r"somebody else's rules are sent back as they are, or not at all", "blocked-rules"),
)
_ENDED = (
    (r"^its workflow was ended", "zone-ended"),
    (r"^workflow (terminated|canceled|timed_out|failed|not to be found); ", "zone-ended"),
)
_FAILED = (
    *_ENDED,
    (r"could not be rolled back: ", "failed-way-back"),
    (r"the stored rules differ from the signed body", "failed-differs"),
    (r"^given up after \d+ tries", "failed-tries"),
    (r"^the service refused it: ", "failed-refused"),
    (r"^deleting the URI overrides was refused: ", "failed-refused"),
    (r"^the service refused the test secret: ", "failed-refused"),
    (r"^(\w+: )?(env|file):", "failed-credential"),
    (r"^(\w+: )?[\w.]+: 40[134]\b", "failed-credential"),
    (r"^(\w+: )?[\w.]+: 400: \[(6003|6102|6103|6111|9103|9106|9109)\b", "failed-credential"),
    (r" object [0-9a-f]{64}( is (damaged|not JSON)|$)", "failed-archive"),
)
_UNKNOWN = (
    *_ENDED,
    (r"^the validation was sent but does not show", "unknown-validation"),
)

_OTHERWISE = {
    "support": "support-refusal",
    "blocked": "blocked",
    "needs_support": "needs-support",
    "rejected": "rejected",
    "on_hold": "on-hold",
    "aborted": "aborted",
    "excluded": "excluded",
    "rolled_back": "rolled-back",
    "failed": "failed-reading",
    **dict.fromkeys(ENDED, "zone-ended"),
}
_BY_WORDS = {"support": _SUPPORT, "blocked": _BLOCKED, "failed": _FAILED, "unknown": _UNKNOWN}


def codes_of(place: str, reason: str, area: Area) -> tuple[str, ...]:
    """The codes of a zone's alarms: none where it needs nobody. A zone may be over two limits at once.

    ``place``: of the campaign's ledger, an outcome, or how its workflow ended otherwise.
    """
    found = [code for words, code in _BY_WORDS.get(place, ()) if re.search(words, reason)]
    if not found and place == ZoneOutcome.UNKNOWN:
        found = ["unknown-commit" if area is Area.WAF else "unknown-change"]
    if not found and place in _OTHERWISE:
        found = [_OTHERWISE[place]]
    # Of several explanations of one end the first counts; limits count one by one.
    return tuple(dict.fromkeys(found)) if place in ("support", "blocked") else tuple(found[:1])

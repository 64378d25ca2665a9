"""Evidence judged again just before a commit: by what the archived document counts, and by the policy of the
signed campaign file, whatever verdict it carries. Pure.

The events themselves are not kept, for they tell of visitors. What is counted has to bear the verdict out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from edgeshift.areas.evidence import AHEAD, About, EvidenceAgain, EvidencePolicy, EvidenceVerdict
from edgeshift.areas.waf.evidence_terms import Evidence
from edgeshift.areas.waf.names import OWASP_SCORE_RULE
from edgeshift.model.fleet import Plan, Zone

JUDGED = 0.89
"""Part of a window that is judged, at least: events near its end are left out, of a tenth of it at most."""

_LOGS_ALONE = "shadow"


class Validation(Protocol):
    """The section ``validation`` of a campaign file (edgeshift/campaign_file/parts.py)."""

    @property
    def evidence(self) -> EvidencePolicy:
        """How much evidence is enough."""
        ...

    @property
    def window(self) -> timedelta:
        """How long a window is."""
        ...

    @property
    def modes(self) -> Sequence[object]:
        """Its windows, by how the new rules act in them."""
        ...


class Validating(Protocol):
    """A campaign file that has one."""

    @property
    def validation(self) -> Validation:
        """How zones are validated."""
        ...


def passes(evidence: Evidence, policy: EvidencePolicy, window: timedelta, now: datetime) -> bool:
    """Whether evidence lets a zone join others of its fingerprint. ``window``: how long the campaign's
    windows are, scaled.
    """
    if evidence.verdict is not EvidenceVerdict.PASS or not evidence.whole:
        return False
    unseen = evidence.unseen - evidence.as_before
    if evidence.false_positives > policy.false_positives or evidence.gaps > policy.gaps:
        return False
    if unseen < 0 or unseen > policy.false_positives or (evidence.as_before and not evidence.earlier):
        return False
    if _by_score(evidence) > policy.false_positives:
        return False
    counted = evidence.agreed + evidence.false_positives + evidence.gaps + evidence.unseen
    if min(evidence.agreed, evidence.false_positives, evidence.gaps) < 0 or counted != evidence.requests:
        return False
    if evidence.compared < policy.enough or evidence.events < evidence.compared:
        return False
    if sum(cell.requests for cell in evidence.matrix) < policy.share * evidence.stands_for:
        return False
    if evidence.since is None or evidence.until is None:
        return False
    return evidence.until <= now + AHEAD and evidence.until - evidence.since >= JUDGED * window


def _by_score(evidence: Evidence) -> int:
    """Requests that the score rule stopped and the previous WAF was not asked about. None of them is as in
    the shadow window, which earlier versions took them for.
    """
    return sum(line.unseen for line in evidence.rules if line.rule == OWASP_SCORE_RULE)


def _asked(spec: Validating, zone: Zone) -> bool:
    return zone.plan is Plan.ENTERPRISE and bool(spec.validation.modes)


def suits(mode: str, modes: Sequence[object]) -> bool:
    """Whether evidence of a window in which rules acted thus may let a zone join others of its fingerprint.
    Where the campaign's file has windows in which they act, it is that of its last one; where it has none,
    rules that somebody else has let act have shown more than is asked for.
    """
    asked = [str(one) for one in modes]
    return asked == [_LOGS_ALONE] or mode == asked[-1]


def window_passes(evidence: Evidence, spec: Validating, now: datetime) -> About | None:
    """What evidence is about, where it passes by what it counts, whichever window of the file it is of."""
    judged = spec.validation
    if not passes(evidence, judged.evidence, judged.window, now) or evidence.since is None:
        return None
    return About(evidence.zone, evidence.proposal, evidence.since)


def _passes(evidence: Evidence, spec: Validating, now: datetime) -> About | None:
    if not suits(evidence.mode, spec.validation.modes):
        return None
    return window_passes(evidence, spec, now)


def _of(evidence: Evidence) -> tuple[str, str]:
    return evidence.zone, evidence.proposal


AGAIN = EvidenceAgain(Evidence, _asked, _passes, _of)
"""How the area's evidence is judged again at the door."""

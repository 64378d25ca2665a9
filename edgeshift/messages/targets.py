"""Finding a campaign's targets and assessing them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from edgeshift.areas.assessment import Verdict
from edgeshift.messages.base import Message
from edgeshift.model.fleet import Wave, Zone
from edgeshift.model.sign_off import Digest


class Caller(Message):
    """A credential that targets call with: its reference, and whose calls they are
    (``ServiceSpec.caller``).
    """

    credential: str
    user: str


class Callers(Message):
    """With which credential each target calls. ``numbers``: for each target the number in ``known``, a byte
    each, packed, as text. Both are empty where all call with the same one.
    """

    known: tuple[Caller, ...] = ()
    numbers: str = ""


class ResolveTargets(Message):
    """Find the campaign's targets at the service and freeze them into the archive."""

    spec: Digest


class ResolvedTargets(Message):
    """The frozen list: its digest, its waves, and how often each plan is in it. ``covers``: how many zones
    each target stands for, packed; empty where each is a zone. ``callers``: with which credential each calls.
    """

    targets: Digest
    count: int
    waves: tuple[Wave, ...]
    plans: dict[str, int]
    enterprise: str
    covers: str = ""
    callers: Callers = Callers()


class AssessmentStart(Message):
    """The input of an assessment. ``batch``: zones per activity. ``parallel``: activities at a time, for
    each of the credentials that targets call with.
    """

    name: str
    spec: Digest
    batch: int = 25
    parallel: int = 4


class AssessBatch(Message):
    """Assess the targets ``[first, end)``; of these only ``indexes`` where any are named."""

    spec: Digest
    targets: Digest
    first: int
    end: int
    indexes: tuple[int, ...] = ()

    @property
    def named(self) -> Sequence[int]:
        """The indexes of its targets."""
        return self.indexes or range(self.first, self.end)


class PlanWaits(Message):
    """What the heartbeats of a batch tell beside its parts while it cannot call the service: why."""

    why: str


class AssessedBatch(Message):
    """The archived assessments of a batch."""

    report: Digest


class MergeAssessment(Message):
    """Put the batches' reports together, stratify the waves by fingerprint and freeze the targets anew."""

    spec: Digest
    targets: Digest
    reports: tuple[Digest, ...]


class AssessmentResult(Message):
    """A finished assessment: the plan's report and the frozen, stratified targets. ``readings``: digest of
    the list of their readings.
    """

    report: Digest
    targets: Digest
    count: int
    waves: tuple[Wave, ...]
    enterprise: str
    covers: str = ""
    callers: Callers = Callers()
    readings: str = ""


PROGRESS = "progress"
"""The name in an assessment's memo under which it publishes how far it is (AssessmentProgress)."""


class AssessmentProgress(BaseModel):
    """How many of its targets an assessment has assessed. ``count``: of how many."""

    done: int
    count: int


class ZoneAssessment(BaseModel):
    """One zone's line of a plan's report. ``facts``: what else was read of it, as its area names it.
    ``lost``: how many settings are lost, by kind, as its area counts them.
    ``reading``: digest of the reading that the zone begins with in a campaign of this plan, if it has one.
    """

    index: int
    zone: Zone
    wave: int = 0
    verdict: Verdict | None = None
    causes: list[str] = Field(default_factory=list)
    reasons: list[str] = Field(default_factory=list)
    losses: list[str] = Field(default_factory=list)
    lost: dict[str, int] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)
    additions: list[str] = Field(default_factory=list)
    fingerprint: str = ""
    error: str = ""
    reading: str = ""
    facts: dict[str, str] = Field(default_factory=dict)


class PlanReport(BaseModel):
    """What ``edgeshift plan`` shows: a line for each zone. ``service_time``: what time it is at the service,
    where the area has a date to keep.
    """

    name: str
    made_at: datetime
    zones: list[ZoneAssessment]
    service_time: datetime | None = None

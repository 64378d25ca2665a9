"""Every model that crosses a workflow boundary: runs, signals, queries, updates and activities.

Payloads carry identifiers, digests, counts and enums; bodies, snapshots and evidence are in the archive, and
secrets are only ever references. Every model but a query's answer is frozen.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from edgeshift.areas.waf import Cause, Mode, Verdict
from edgeshift.areas.waf_evidence import EvidenceVerdict
from edgeshift.campaign_spec import ValidationMode
from edgeshift.durations import Duration
from edgeshift.fleet import Area, Target, Wave, Zone, ZoneOutcome
from edgeshift.pace import Lane, PaceTerms, SlotBook
from edgeshift.sign_off import Choice, Decision, Digest, SignOffPolicy

TASK_QUEUE = "edgeshift"


class Message(BaseModel):
    """The base of what crosses a boundary."""

    model_config = ConfigDict(frozen=True)


class Step(StrEnum):
    """A mutating step of a zone. Each needs a permit; those that cannot be undone need a sign-off too."""

    VALIDATE = "validate"
    DELETE_OVERRIDES = "delete_overrides"
    COMMIT = "commit"


class Permit(Message):
    """A campaign's leave for one mutating step of one zone: a numbered lease with an expiry.

    ``name`` is unique over all campaigns and runs; the intent of the step is archived under it.
    """

    number: int
    name: str
    index: int
    step: Step
    expires_at: datetime


class ZonePolicy(Message):
    """What a zone needs of its campaign's policy, its durations already divided by the time scale.

    ``send_window``, ``margin``: of the fenced activity (CommitSpec). ``silence``: how long a worker may say
    nothing of a piece of work before another takes it over.
    """

    sign_off: SignOffPolicy
    modes: tuple[ValidationMode, ...]
    validation_window: Duration
    delete_overrides: bool
    migration_limit: Duration
    poll: Duration
    request_limit: Duration
    resend_unchanged: int
    waits_for_support: Duration
    patience: Duration = timedelta(hours=1)
    lease_margin: Duration = timedelta(seconds=10)
    send_window: Duration = timedelta(seconds=30)
    margin: Duration = timedelta(seconds=15)
    silence: Duration = timedelta(seconds=60)


class ZoneCarried(Message):
    """What a zone carries over a continue-as-new, which only a storm of messages makes it need."""

    sequence: int
    resends: int
    decisions: tuple[Decision, ...] = ()
    evidence: str = ""
    evidence_verdict: EvidenceVerdict | None = None


class ZoneStart(Message):
    """The input of a zone's workflow. ``attempt`` counts from 1; a retry or a reopening is the next one.

    ``campaign_run``: the first run id of the campaign, which tells campaigns of one name apart.
    ``spec``: digest of the campaign's specification in the archive.
    """

    campaign: str
    campaign_run: str
    index: int
    attempt: int
    target: Target
    area: Area
    spec: Digest
    policy: ZonePolicy
    started_by: str
    permit: Permit | None = None
    carried: ZoneCarried | None = None


class ZoneResult(Message):
    """How a zone's workflow ended. ``digest``, ``fingerprint``: of the last proposal. ``record``: the
    archived result.
    """

    outcome: ZoneOutcome
    reason: str
    digest: str = ""
    fingerprint: str = ""
    record: str = ""


class ReportKind(StrEnum):
    """What a zone tells its campaign."""

    AWAITING = "awaiting"
    READY = "ready"
    WAITING = "waiting"
    SUPPORT = "support"
    SETTLED = "settled"
    FINISHED = "finished"


class ZoneReport(Message):
    """A zone's word to its campaign. ``sequence`` only grows within an attempt, so that duplicates,
    reorderings and words of earlier attempts are ignored. ``settles``: the permit that is now used up or,
    where ``unused`` says so, given back.

    ``joins``: whether a decision on the fingerprint may count for this zone (its own evidence passed, or has
    none).
    """

    campaign_run: str
    index: int
    attempt: int
    sequence: int
    kind: ReportKind
    settles: int | None = None
    unused: bool = False
    step: Step | None = None
    digest: str = ""
    fingerprint: str = ""
    joins: bool = True
    outcome: ZoneOutcome | None = None
    reason: str = ""


class PermitGrant(Message):
    """The campaign's word to a zone: a permit, with the decisions on the fingerprint where those brought it
    about.
    """

    permit: Permit
    decisions: tuple[Decision, ...] = ()


class Revoke(Message):
    """The campaign takes permits back. The zone answers with a report once the permit is settled."""

    number: int


class Ruling(Message):
    """The campaign's word that a decision on the zone's fingerprint rejects it."""

    decision: Decision


class Expire(Message):
    """The campaign's word that the zone has waited for its sign-off as long as the policy says."""

    attempt: int


class Stop(Message):
    """The campaign's word that it is aborted, by whom and why."""

    by: str
    reason: str = ""


class SupportResolved(Message):
    """A person's word that the provider's support has mended the zone."""

    by: str
    reason: str = ""


class ZonePhase(StrEnum):
    """Where a zone is, for people."""

    ASSESSING = "assessing"
    NEEDS_SUPPORT = "needs_support"
    AWAITING_VALIDATION = "awaiting_validation_permit"
    STARTING_VALIDATION = "starting_validation"
    VALIDATING = "validating"
    GATHERING_EVIDENCE = "gathering_evidence"
    AWAITING_SIGN_OFF = "awaiting_sign_off"
    AWAITING_PERMIT = "awaiting_permit"
    DELETING_OVERRIDES = "deleting_overrides"
    COMMITTING = "committing"
    VERIFYING = "verifying"
    CLOSED = "closed"


class ZoneState(BaseModel):
    """The answer of a zone's ``state`` query: what it waits for, and what a person would sign."""

    zone: Zone
    campaign: str
    wave: int
    attempt: int
    phase: ZonePhase
    since: datetime
    step: Step | None = None
    digest: str = ""
    fingerprint: str = ""
    proposal: str = ""
    snapshot: str = ""
    evidence: str = ""
    evidence_verdict: EvidenceVerdict | None = None
    decisions: list[Decision] = Field(default_factory=list)
    ignored: list[str] = Field(default_factory=list)
    reasons: list[str] = Field(default_factory=list)
    drifted_from: str = ""
    tickets: list[str] = Field(default_factory=list)
    outcome: ZoneOutcome | None = None


class Answer(Message):
    """A short answer of an update, for people."""

    text: str


# --- activities of a zone


class Prepare(Message):
    """Read the zone, archive what was read, and make the proposal. ``announce``: tell the campaign when it is
    ready.
    """

    start: ZoneStart
    sequence: int
    announce: bool
    joins: bool = True
    settles: int | None = None


class Prepared(Message):
    """What reading and proposing gave. Digests name objects of the archive, except ``digest`` and
    ``fingerprint``, which are the proposal's own and may name equal proposals of several zones. ``config``:
    of the configuration alone.

    For a zone that was found in validation: ``matches_entry_point`` when it runs the proposal as it is,
    ``comparable`` when it runs the proposal or its shadow, so that its events say something of the proposal.
    """

    verdict: Verdict
    causes: tuple[Cause, ...] = ()
    reasons: tuple[str, ...] = ()
    snapshot: str
    step: Step = Step.COMMIT
    digest: str = ""
    fingerprint: str = ""
    proposal: str = ""
    config: str = ""
    matches_entry_point: bool = False
    comparable: bool = True


class Announce(Message):
    """Tell the campaign something. Retried until it is told, or the campaign is gone."""

    campaign: str
    report: ZoneReport


class Change(Message):
    """The input of the fenced activity that makes one mutating step. ``config``: digest that a fresh reading
    must have.

    ``window``: how long the activity may take before it sends. ``request_limit``: how long the request may
    take.
    """

    start: ZoneStart
    step: Step
    permit: Permit
    snapshot: Digest
    proposal: Digest
    digest: Digest
    fingerprint: Digest
    config: str = ""
    mode: ValidationMode | None = None
    decisions: tuple[Decision, ...] = ()
    window: Duration = timedelta(seconds=30)


class ChangeStatus(StrEnum):
    """What is known of a mutating step after its one attempt."""

    ANSWERED = "answered"
    NOTHING_HAPPENED = "nothing_happened"
    REFUSED = "refused"
    DRIFTED = "drifted"
    UNKNOWN = "unknown"


class ChangeResult(Message):
    """What became of a mutating step. ``cause``: the support case that a refusal is, if it is one.

    ``seen``: the status already shows it (looked for after a validation alone).
    """

    status: ChangeStatus
    reason: str = ""
    http_status: int = 0
    ray: str = ""
    cause: Cause | None = None
    seen: bool = False


class Verify(Message):
    """Poll the status until the change shows or may no longer be expected to. ``limit``: how long that may
    take.

    For ``Mode.PENDING`` the stored rules are read back and compared with the signed body of ``proposal``.
    """

    start: ZoneStart
    mode: Mode
    proposal: Digest
    snapshot: Digest
    digest: Digest
    evidence: str = ""
    limit: Duration
    shadow: bool = False


class Verification(Message):
    """What the service shows. ``reached``: the wanted state; ``unchanged``: still the state from before."""

    reached: bool
    unchanged: bool = False
    reason: str = ""
    record: str = ""


class GatherEvidence(Message):
    """Judge the security events of a window, archive the evidence and tell the campaign."""

    start: ZoneStart
    since: datetime
    until: datetime
    mode: ValidationMode
    proposal: Digest
    digest: Digest
    fingerprint: Digest
    sequence: int
    announce: bool
    comparable: bool = True


class Gathered(Message):
    """The evidence's digest in the archive and what it says."""

    evidence: str
    verdict: EvidenceVerdict
    why: str


class OpenTicket(Message):
    """Open the ticket for one cause of one zone, once, whatever is retried. ``refusal``: the service's own
    words, short.
    """

    start: ZoneStart
    cause: Cause
    snapshot: Digest
    refusal: str = ""


class TicketOpened(Message):
    """Where the ticket is."""

    key: str
    location: str


# --- the campaign


class Again(Message):
    """Begin zones again: those at ``indexes``, or, when it is empty, every one that the verb is for."""

    by: str
    reason: str = ""
    indexes: tuple[int, ...] = ()


class CampaignStart(Message):
    """The input of a campaign. ``targets``, ``spec``: digests in the archive. Durations are already scaled.

    ``enterprise``: bitmap of the Enterprise targets. ``carried``: JSON of the state of an earlier run, or of
    a closed campaign that ``again`` begins zones of. ``most_events``: events of one run after which the
    campaign goes on in a new one.
    """

    name: str
    area: Area
    targets: Digest
    spec: Digest
    count: int
    waves: tuple[Wave, ...]
    window: int
    advance_percent: float
    advance_failures: int
    lease: Duration
    sweep: Duration
    policy: ZonePolicy
    started_by: str
    enterprise: str = ""
    time_scale: float = 1.0
    carried: str | None = None
    again: Again | None = None
    most_events: int = 2_000


class Book(BaseModel):
    """Decisions on one fingerprint (and, where ``wave`` is set, for that wave alone)."""

    fingerprint: str
    wave: int | None = None
    decisions: list[Decision] = Field(default_factory=list)


class CampaignSignOff(Message):
    """A person's decision on fingerprints: ``wave`` narrows it to the zones of one wave."""

    choice: Choice
    fingerprints: tuple[Digest, ...] = Field(min_length=1, max_length=1000)
    by: str
    reason: str = ""
    wave: int | None = None


class Person(Message):
    """Who asks for something, and why."""

    by: str
    reason: str = ""


class WaveSummary(BaseModel):
    """A wave's counts: zones by place, where a place is a phase of the campaign's view or an outcome."""

    number: int
    name: str
    size: int
    places: dict[str, int]


class Waiting(BaseModel):
    """A fingerprint that waits for a sign-off: how many zones, in which waves, one of them as an example
    index.
    """

    fingerprint: str
    zones: int
    waves: list[int]
    example: int
    step: Step
    separate: int = 0


class CampaignSummary(BaseModel):
    """The answer of a campaign's ``summary`` query. ``state``: running, pausing, paused, halted, aborting or
    closed.
    """

    name: str
    area: Area
    state: str
    why: str = ""
    started_by: str
    started_at: datetime
    now: datetime
    time_scale: float
    count: int
    wave: int
    waves: list[WaveSummary]
    places: dict[str, int]
    permits_out: int
    waiting: list[Waiting]
    book: list[Book]
    excluded: dict[int, str] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    targets: str
    spec: str
    open_runs: int = 0


class PlacesAsked(Message):
    """The input of a campaign's ``targets_at`` query: the lower-case names of places, and how many at most."""

    places: tuple[str, ...]
    most: int = Field(default=10_000, ge=1, le=200_000)


class TargetAt(BaseModel):
    """Where one target is. ``fingerprint``: what it proposed last, or empty."""

    index: int
    place: str
    wave: int
    fingerprint: str = ""


class TargetsAt(BaseModel):
    """The answer of ``targets_at``: the first targets at the places, and how many there are in all."""

    total: int
    targets: list[TargetAt]


class CampaignResult(Message):
    """How a campaign ended: the number of zones by outcome. ``carried``: its state, for zones that are begun
    again.
    """

    outcomes: dict[str, int]
    aborted: bool = False
    carried: str = ""


# --- activities of a campaign


class StartZones(Message):
    """Start a batch of zones. ``attempts``, ``permits`` run beside ``indexes``."""

    campaign: str
    campaign_run: str
    start: CampaignStart
    indexes: tuple[int, ...]
    attempts: tuple[int, ...]
    permits: tuple[Permit | None, ...]


class Exclusion(Message):
    """A zone that was not started, and why: another campaign has it, or it could not be started."""

    index: int
    reason: str


class StartedZones(Message):
    """Who was started; whoever is not excluded was, or had been already."""

    excluded: tuple[Exclusion, ...] = ()


class TellZones(Message):
    """Send one signal to each of a batch of zones: a permit each, or the same message to all."""

    campaign: str
    targets: Digest
    area: Area
    signal: str
    indexes: tuple[int, ...]
    grants: tuple[PermitGrant, ...] = ()
    revokes: tuple[Revoke, ...] = ()
    ruling: Ruling | None = None
    expire: Expire | None = None
    stop: Stop | None = None
    attempts: tuple[int, ...] = ()


class ToldZones(Message):
    """Indexes of zones that have no open workflow to tell."""

    gone: tuple[int, ...] = ()


class DescribeZones(Message):
    """Look at zones that have been silent: are their workflows open, and if not, how did they end?"""

    campaign: str
    campaign_run: str
    targets: Digest
    spec: Digest
    area: Area
    indexes: tuple[int, ...]
    attempts: tuple[int, ...]


class SilentZone(Message):
    """A zone that closed without a word, settled by its own result or by reading the service."""

    index: int
    outcome: ZoneOutcome
    reason: str


class DescribedZones(Message):
    """Those of the silent zones that turned out to be closed."""

    closed: tuple[SilentZone, ...] = ()


# --- targets and assessment


class ResolveTargets(Message):
    """Find the campaign's targets at the service and freeze them into the archive."""

    spec: Digest


class ResolvedTargets(Message):
    """The frozen list: its digest, its waves, and how often each plan is in it."""

    targets: Digest
    count: int
    waves: tuple[Wave, ...]
    plans: dict[str, int]
    enterprise: str


class AssessmentStart(Message):
    """The input of an assessment. ``batch``: zones per activity."""

    name: str
    spec: Digest
    batch: int = 25
    parallel: int = 4


class AssessBatch(Message):
    """Assess the targets ``[first, end)``."""

    spec: Digest
    targets: Digest
    first: int
    end: int


class AssessedBatch(Message):
    """The archived assessments of a batch."""

    report: Digest


class MergeAssessment(Message):
    """Put the batches' reports together, stratify the waves by fingerprint and freeze the targets anew."""

    spec: Digest
    targets: Digest
    reports: tuple[Digest, ...]


class AssessmentResult(Message):
    """A finished assessment: the plan's report and the frozen, stratified targets."""

    report: Digest
    targets: Digest
    count: int
    waves: tuple[Wave, ...]
    enterprise: str


class AssessmentProgress(BaseModel):
    """The answer of an assessment's ``progress`` query."""

    done: int
    count: int


class ZoneAssessment(BaseModel):
    """One zone's line of a plan's report."""

    index: int
    zone: Zone
    wave: int = 0
    verdict: Verdict | None = None
    causes: list[Cause] = Field(default_factory=list)
    reasons: list[str] = Field(default_factory=list)
    losses: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    additions: list[str] = Field(default_factory=list)
    fingerprint: str = ""
    error: str = ""


class PlanReport(BaseModel):
    """What ``edgeshift plan`` shows: a line for each zone."""

    name: str
    made_at: datetime
    zones: list[ZoneAssessment]


# --- quota


class QuotaStart(Message):
    """The input of a user's quota: its terms, and the slot book that is carried over."""

    user: str
    terms: PaceTerms
    book: SlotBook | None = None


class LeaseRequest(Message):
    """A process asks for slots. ``terms``: the limit as its campaign's file says it."""

    holder: str
    want: int
    lane: Lane
    terms: PaceTerms


class Blocked(Message):
    """The service refuses this user's calls for so many seconds."""

    seconds: float

"""A zone's run, its signals and its query; its words to the campaign and the campaign's to it."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from itertools import zip_longest

from pydantic import BaseModel, Field

from edgeshift.areas import area_of
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.campaign_file.modes import ValidationMode
from edgeshift.messages.base import By, Explained, Message, Name, Number, Permit, Text, Why
from edgeshift.model.durations import Duration
from edgeshift.model.fleet import Area, Plan, Target, Zone, ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, Reasons
from edgeshift.model.sign_off import Decision, Digest, SignOffPolicy
from edgeshift.model.steps import Step
from edgeshift.model.zone_phase import ZonePhase
from edgeshift.rate_limit.circuit import OpenCircuit


class ZonePolicy(Message):
    """What a zone needs of its campaign's policy, its durations already divided by the time scale.

    ``turn_window``, ``send_window``, ``margin``: of the fenced activity (CommitSpec). ``silence``: how long a
    worker may say nothing of a piece of work before another takes it over. ``watch``, ``watch_every``: how
    long a change is watched that can be undone, and how often it is looked at. ``fresh``: how old a probe may
    be when it is acted upon.
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
    turn_window: Duration = timedelta(0)
    send_window: Duration = timedelta(seconds=30)
    margin: Duration = timedelta(seconds=15)
    silence: Duration = timedelta(seconds=60)
    watch: Duration = timedelta(0)
    watch_every: Duration = timedelta(minutes=5)
    fresh: Duration = timedelta(hours=24)
    secret_takes: Duration = timedelta(seconds=30)

    @property
    def over_after(self) -> timedelta:
        """How long after its permit's record a step is over for whoever makes it, also where it is of several
        requests and its workflow is gone.
        """
        return self.send_window + self.request_limit + self.margin


class Prepared(Message):
    """What reading and proposing gave. Digests name objects of the archive, except ``digest`` and
    ``fingerprint``, which are the proposal's own and may name equal proposals of several zones. ``config``:
    of the configuration alone.

    For a zone that was found in validation: ``matches_entry_point`` when it runs the proposal as it is,
    ``comparable`` when it runs the proposal or its shadow, so that its events say something of the proposal.
    ``covered``: digest of the list of the zones that an account stands for. ``begun``: a part of the change
    was made, and has to be taken back where it cannot go on. ``causes``: the codes that the verdict rests on;
    each case for support has a ticket. ``why``: these with their facts, and what else stands in the way;
    ``reasons``: the same as text. ``way_back``: this attempt has sent the rollback of the change,
    before its workflow was reset. ``read_at``: when the reading began, where that is known.
    """

    verdict: Verdict
    causes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    why: Reasons = ()
    snapshot: str
    step: Step = Step.COMMIT
    digest: str = ""
    fingerprint: str = ""
    proposal: str = ""
    config: str = ""
    matches_entry_point: bool = False
    comparable: bool = True
    covered: str = ""
    begun: bool = False
    way_back: bool = False
    read_at: datetime | None = None

    def blocked_by(self, *why: Reason) -> Prepared:
        """This reading, of a zone that cannot go on after all, for these reasons."""
        codes, texts = tuple(one.code for one in why), tuple(map(text_of, why))
        update = {"causes": codes, "reasons": texts, "why": why}
        return self.model_copy(update={"verdict": Verdict.BLOCKED, **update})

    @property
    def explained(self) -> Reasons:
        """Why, also of what was prepared before reasons had facts, of which only codes and text are known; no
        committed history has such a message.
        """
        codes = zip_longest(self.causes[: len(self.reasons)], self.reasons, fillvalue="")
        return self.why or tuple(Reason(code=ReasonCode(code), words=words) for code, words in codes)


class PermitGrant(Message):
    """The campaign's word to a zone: a permit, with the decisions on the fingerprint where those brought it
    about. ``attempt``: which one it is for; a campaign always says it. 0: any, of one that the zone
    keeps of itself, from its start or from the run before.
    """

    campaign_run: Name = ""
    attempt: Number = 0
    permit: Permit
    decisions: tuple[Decision, ...] = Field(default=(), max_length=1_000)


class ZoneCarried(Message):
    """What a zone carries over a continue-as-new, which only a storm of messages makes it need.
    ``validated``: digest of the proposal that its evidence is about; empty while there is more to gather.
    With defaults alone it is what a first run begins with.
    """

    sequence: int = 0
    resends: int = 0
    decisions: tuple[Decision, ...] = ()
    evidence: str = ""
    evidence_verdict: EvidenceVerdict | None = None
    sent: Prepared | None = None
    begun: Prepared | None = None
    validates_itself: bool = False
    validated: str | None = None
    asked_at: datetime | None = None
    grant: PermitGrant | None = None
    to_release: int | None = None
    used: tuple[int, ...] = ()
    revoked: tuple[int, ...] = ()
    put_back: tuple[int, ...] = ()
    tickets: tuple[str, ...] = ()
    drifted_from: str = ""
    drifted_proposal: str = ""


class ToldReading(Message):
    """A plan's reading that a zone begins with, of which whoever starts the zone tells the campaign.

    It stands where a reading stands by itself, and is none: a worker that does not know of it cannot read it
    and leaves the zone to one that does. It would have the zone tell the campaign once more, and later
    workers could not replay that.
    """

    told: Prepared


class ZoneStart(Message):
    """The input of a zone's workflow. ``attempt`` counts from 1; a retry or a reopening is the next one.

    ``campaign_run``: the first run id of the campaign, which tells campaigns of one name apart.
    ``origin``: the same, also where a campaign that had closed goes on. ``spec``: digest of the campaign's
    specification in the archive. ``rejected``: the digests of its own that people rejected, by the
    archive, where nobody has reopened the zone since. ``planned``: what the plan has read of the zone, and
    what follows from it, which its first attempt begins with (``reading``); None where the zone is to read
    by itself. Where ``told``, the campaign knows without the zone's word that it waits with that reading.
    ``archive``: the identity of the archive of its campaign, which a worker without it does not work for.
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
    origin: str = ""
    rejected: tuple[str, ...] = ()
    planned: Prepared | ToldReading | None = None
    archive: str = Field(default="", max_length=32)

    @property
    def reading(self) -> Prepared | None:
        """What the plan has read of the zone, whoever tells the campaign."""
        return self.planned.told if isinstance(self.planned, ToldReading) else self.planned

    @property
    def told(self) -> bool:
        """Whether the campaign is told by whoever starts the zone that it waits with the plan's reading."""
        return isinstance(self.planned, ToldReading)

    @property
    def asks_at_once(self) -> bool:
        """Whether the zone begins by asking people: what the plan has read of it is ready to be signed, and
        nothing comes before that.
        """
        planned = self.reading
        if planned is None or not planned.digest or planned.step is not Step.COMMIT:
            return False
        return not (area_of(self.area).validates and self.target.zone.plan is Plan.ENTERPRISE)

    @property
    def may_be_told(self) -> bool:
        """Whether the zone's first word is known before it begins: that it waits for a sign-off of what the
        plan has read. One whose proposal was rejected says so by itself, and ends.
        """
        planned = self.reading
        if (
            planned is None
            or planned.verdict is not Verdict.READY
            or planned.begun
            or self.permit is not None
        ):
            return False
        return self.asks_at_once and planned.digest not in self.rejected


class ZoneResult(Explained):
    """How a zone's workflow ended, and why. ``digest``, ``fingerprint``: of the last proposal. ``record``:
    the archived result. ``rejected``: the digest that was rejected, also where what an earlier attempt had
    sent made another end of it.
    """

    outcome: ZoneOutcome
    digest: str = ""
    fingerprint: str = ""
    record: str = ""
    rejected: str = ""


class ReportKind(StrEnum):
    """What a zone tells its campaign."""

    AWAITING = "awaiting"
    READY = "ready"
    WAITING = "waiting"
    SUPPORT = "support"
    RELEASED = "released"
    SERVICE = "service"
    FINISHED = "finished"


class ZoneReport(Message):
    """A zone's word to its campaign. ``sequence`` only grows within an attempt, so that duplicates,
    reorderings and words of earlier attempts are ignored. ``releases``: the permit that is now used up or,
    where ``unused`` says so, given back.

    ``joins``: whether a decision on the fingerprint may count for this zone (its own evidence passed, or has
    none). ``hold``: why it waits for the service; ``idle``: whether nothing that its campaign ever sent there
    is in flight meanwhile. ``codes``: of ``reason``. ``again``: the zone's run, where
    it says again what it waits for, since it was asked to. ``took``: of one that has succeeded, how long its
    change took to show by itself, where that is known.
    """

    campaign_run: Name
    index: Number
    attempt: Number
    sequence: Number
    kind: ReportKind
    releases: Number | None = None
    unused: bool = False
    step: Step | None = None
    digest: Name = ""
    fingerprint: Name = ""
    joins: bool = True
    outcome: ZoneOutcome | None = None
    reason: Text = ""
    codes: tuple[ReasonCode, ...] = Field(default=(), max_length=1_000)
    hold: OpenCircuit | None = None
    idle: bool = False
    again: Name = ""
    took: Duration | None = None


class Revoke(Message):
    """The campaign takes permits back. The zone answers with a report once the permit is settled."""

    campaign_run: Name = ""
    number: Number


class Ruling(Message):
    """The campaign's word that a decision on the zone's fingerprint rejects it. ``attempt``: which of the
    zone's attempts; 0: any.
    """

    campaign_run: Name = ""
    attempt: Number = 0
    decision: Decision


class Expire(Message):
    """The campaign's word that the zone has waited for its sign-off as long as the policy says."""

    campaign_run: Name = ""
    attempt: Number


CANCELLATION = "a cancellation of the zone's workflow"
"""Who stops a zone whose workflow somebody cancels while a change is under way."""

OUTLIVED = "its campaign, for which it had ended before"
"""Who stops a zone that was reset after its end."""

LEFT_ALONE = "the end of its campaign"
"""Who stops a zone whose campaign has come to its end before it was told what the zone waits for."""


class SayAgain(Message):
    """The campaign may not know what the zone waits for: it says again what it has said last, if it waits.
    ``attempt``: which of its attempts; 0: any.
    """

    campaign_run: Name = ""
    attempt: Number = 0


UNTOLD = "untold"
"""The key in a zone's memo that is there as long as its campaign could not be told its last word."""


class Stop(Message):
    """The campaign's word that it is aborted, or that the attempt is over for it: by whom and why.
    ``cause``: which of these; None in histories of before, where ``by`` says so. ``attempt``: the one that is
    to end; 0: whichever it is. ``ended_as``: how it had ended, where the campaign knows that, which stands.
    """

    campaign_run: Name = ""
    by: Name
    reason: Text = ""
    cause: ReasonCode | None = None
    attempt: Number = 0
    ended_as: ZoneOutcome | None = None


class SupportResolved(Message):
    """A person's word that the provider's support has fixed the zone."""

    by: By
    reason: Why = ""


class ZoneState(BaseModel):
    """The answer of a zone's ``state`` query: what it waits for, and what a person would sign. ``hold``: why
    it waits for the service. ``sequence``: the number of its last word to the campaign. ``drifted_from``:
    the digest that was no longer true when it was to be sent; ``drifted_proposal``: where the last one lies
    that had been signed. ``why``: what reading told of it, and, once it has ended, why it did; ``reasons``:
    what reading told, as text.
    """

    zone: Zone
    campaign: str
    wave: int
    attempt: int
    sequence: int = 0
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
    why: Reasons = ()
    drifted_from: str = ""
    drifted_proposal: str = ""
    tickets: list[str] = Field(default_factory=list)
    outcome: ZoneOutcome | None = None
    hold: OpenCircuit | None = None

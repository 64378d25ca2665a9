"""The activities of a zone."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.campaign_file.modes import ValidationMode
from edgeshift.messages.base import Message, Number, Permit
from edgeshift.messages.zone import ZoneReport, ZoneStart
from edgeshift.model.durations import Duration
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import Decision, Digest
from edgeshift.model.steps import Step
from edgeshift.rate_limit.circuit import OpenCircuit

LOOK = timedelta(seconds=60)
"""How long a change that was answered, and that nobody signs, is looked for at most; the activity's time-out
has room for it.
"""


class Prepare(Message):
    """Read the zone at the service, archive what was read, and make the proposal."""

    start: ZoneStart


class Announce(Message):
    """Tell the campaign something. Retried until it is told, or the campaign is gone."""

    campaign: str
    report: ZoneReport


class Change(Message):
    """The input of the fenced activity that makes one mutating step. ``config``: digest that a fresh reading
    must have.

    ``window``: how long the activity may take before it sends, from its first turn on; ``waits``: how long it
    may wait for that turn, beyond the window's first half. ``evidence``: digest of the zone's own, where
    it has some. ``anew``: whether the zone's run may have come out of a reset, so that an earlier one may
    have sent this step under this permit. ``used``: numbers of the permits that the run knows to be used;
    what was sent under any other, an earlier one has sent. ``read_at``: when the reading began that it rests
    on, where that is known.
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
    waits: Duration = timedelta(0)
    evidence: str = ""
    anew: bool = False
    used: tuple[Number, ...] = ()
    read_at: datetime | None = None


class ChangeStatus(StrEnum):
    """What is known of a mutating step after its one attempt."""

    ANSWERED = "answered"
    NOTHING_HAPPENED = "nothing_happened"
    REFUSED = "refused"
    DRIFTED = "drifted"
    UNKNOWN = "unknown"


class ChangeResult(Message):
    """What became of a mutating step. ``cause``: the support case that a refusal is, if it is one; of a test
    secret, that the service does not let the scope have one.

    ``seen``: the status already shows it (looked for after a validation alone). ``found``: digest of what the
    step itself archived, such as what it found and merged. ``final``: trying again cannot help. ``hold``: the
    service does not take the credential, or does not answer, and is not to be called for now. ``turn``:
    whether it had its turn within the rate limit. ``earlier``: a commit that was sent before may still come
    to show, and is waited for. ``called_off``: its permit was taken back before anything of it was sent.
    ``unsigned``: it does not rest on what people signed (docs/threat-model.md); ``uncounted``: for want of a
    sign-off that counts; ``aborted_by``: who has signed that the campaign is aborted, with ``reason`` for
    why. ``damaged``: what the archive holds, and it cannot be judged without, cannot be read: the reason
    names it. ``stands``: nothing was sent, and nothing was seen that speaks against what was
    signed: it is tried again as it is, and the zone is not read for it. ``full``: the roots let no more
    commits through for now, which it waits for. ``settled``: what a rollback would undo was seen to its end,
    with this archived record.
    """

    status: ChangeStatus
    reason: str = ""
    http_status: int = 0
    ray: str = ""
    cause: ReasonCode | None = None
    seen: bool = False
    found: str = ""
    final: bool = False
    hold: OpenCircuit | None = None
    turn: bool = True
    earlier: bool = False
    called_off: bool = False
    unsigned: bool = False
    uncounted: bool = False
    aborted_by: str = ""
    damaged: bool = False
    stands: bool = False
    full: bool = False
    settled: str = ""


class GivenUp(Message):
    """Whether a change that was not answered is kept from being sent under its permit: then nothing of it was
    sent. False: it may have been. ``stands``: as of ``ChangeResult``, where it never began.
    """

    given_up: bool
    permit: int
    stands: bool = False


class GatherEvidence(Message):
    """Judge the security events of a window, archive the evidence and tell the campaign. ``sequence``: of the
    word of the first attempt; each later one counts on. ``earlier``: digest of the evidence of the shadow
    window before it.
    """

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
    earlier: str = ""


class Gathered(Message):
    """The evidence's digest in the archive and what it says. ``told``: False where the campaign could not be
    told of it, since it was ended from outside.
    """

    evidence: str
    verdict: EvidenceVerdict
    why: str
    told: bool = True


class OpenTicket(Message):
    """Open the ticket for one cause of one zone, once, whatever is retried. ``refusal``: the service's own
    words, short.
    """

    start: ZoneStart
    cause: ReasonCode
    snapshot: Digest
    refusal: str = ""


class TicketOpened(Message):
    """Where the ticket is."""

    key: str
    location: str

"""The words of evidence: what a validation window found, how much of it is too much. Frozen data, pure."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel

from edgeshift.areas.evidence import EvidenceVerdict

MOST_SAMPLES = 5
MOST_FINDINGS = 50
MOST_RULES = 100
MOST_CLIENTS = 5


class EvidenceCause(StrEnum):
    """Why evidence did not pass."""

    FALSE_POSITIVES = "false-positives"
    GAPS = "gaps"
    UNSEEN = "unseen"
    CUT_OFF = "cut-off"
    FEW_EVENTS = "few-events"
    SMALL_SAMPLE = "small-sample"
    NOT_VALIDATING = "not-validating"
    OTHER_RULES = "other-rules"
    OTHER_MODE = "other-mode"


class Kind(StrEnum):
    """What a finding is about. ``UNSEEN``: the new WAF stopped it, and the previous one was never asked."""

    FALSE_POSITIVE = "false_positive"
    GAP = "gap"
    UNSEEN = "unseen"
    AGREED = "agreed"


class ClientLine(BaseModel):
    """How many requests one client made. Of its address only the network is kept: 24 bits, or 48 of IPv6."""

    network: str
    requests: int


class Agreement(BaseModel):
    """How many requests got this pair of verdicts: ``block``, ``challenge``, ``would_stop`` (it only logged
    because the window lets it), ``log``, ``none``, or ``unseen`` (it was never asked).
    """

    old: str
    new: str
    requests: int


class RuleLine(BaseModel):
    """What one rule of one WAF (``previous`` or ``new``) stopped, in requests: ``alike`` with the other WAF,
    ``alone``, or ``unseen`` by it.
    """

    waf: str
    ruleset: str
    rule: str
    alike: int
    alone: int
    unseen: int = 0


class Finding(BaseModel):
    """Requests that one rule decided on one path: how many, from how many clients, and a few samples.

    ``rule``: the rule that decided, of the new WAF unless it is a gap. ``also``: further rules of the same
    WAF that would have decided. ``other``: rules of the other WAF on the same requests. ``said``: the pairs
    of verdicts. ``clients``: 0 where the events do not name them. ``stands_for``: for how many requests the
    sample stands. Samples have no query string values.
    """

    kind: Kind
    rule: str
    path: str
    requests: int
    clients: int
    samples: tuple[str, ...]
    verdict: EvidenceVerdict | None = None
    stands_for: int = 0
    also: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    said: tuple[Agreement, ...] = ()
    top_clients: tuple[ClientLine, ...] = ()
    first: str = ""
    last: str = ""


class Evidence(BaseModel):
    """What a validation window saw. ``requests``: distinct rays that a WAF stopped or would have; ``events``:
    all events read; ``compared``: those of them that the two WAFs made.

    ``unseen``: requests that the new WAF stopped, so that the previous one was never asked; ``as_before``:
    those of them that a rule stopped which agreed with the previous WAF in the shadow window before.
    ``stands_for``: for about how many requests those that were seen stand, where the service samples.
    ``outside``: requests too near the edges of the window. ``whole``: whether every event could be read.
    ``earlier``: digest of the evidence of the shadow window before this one. ``cause``: why it did not pass;
    None where it did, and in evidence of an earlier version. ``names``: what rules that are
    in it are called, by their identifiers, as the events describe them. ``zone``, ``proposal``: the
    identifier and the digest that it is about; empty in evidence of an earlier version. ``stored``: digest of
    the rules that the zone ran when it was gathered; empty where they were not read.
    """

    zone: str = ""
    proposal: str = ""
    mode: str
    verdict: EvidenceVerdict
    why: str
    cause: EvidenceCause | None = None
    events: int
    compared: int = 0
    requests: int
    agreed: int
    false_positives: int
    gaps: int
    unseen: int = 0
    as_before: int = 0
    stands_for: int = 0
    clients: int = 0
    top_clients: tuple[ClientLine, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    first: str = ""
    last: str = ""
    outside: int = 0
    whole: bool = True
    matrix: tuple[Agreement, ...] = ()
    rules: tuple[RuleLine, ...] = ()
    cannot_see: str = ""
    findings: tuple[Finding, ...] = ()
    alike: tuple[Finding, ...] = ()
    findings_left_out: int = 0
    earlier: str = ""
    stored: str = ""
    names: dict[str, str] = {}

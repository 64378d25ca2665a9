"""A campaign's run, its updates and its queries."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from edgeshift.messages.base import By, Message, Name, Number, Why
from edgeshift.messages.carried import CampaignCarried, Retried
from edgeshift.messages.results import Comparison, ToldWrong
from edgeshift.messages.targets import Callers
from edgeshift.messages.zone import ZonePolicy
from edgeshift.model.durations import Duration
from edgeshift.model.fleet import Area, Wave
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import Choice, Decision, Digest
from edgeshift.model.steps import Step
from edgeshift.model.window import MORE
from edgeshift.rate_limit.circuit import OpenCircuit


class Again(Message):
    """Begin zones again: those at ``indexes``; where there are none, those at ``places`` (names of outcomes,
    or ``excluded``); and where there are neither, every one that the verb is for.
    """

    by: By
    reason: Why = ""
    indexes: tuple[Number, ...] = Field(default=(), max_length=10_000)
    places: tuple[Name, ...] = Field(default=(), max_length=100)


class CampaignStart(Message):
    """The input of a campaign. ``targets``, ``spec``: digests in the archive. Durations are already scaled.

    ``enterprise``: bitmap, packed, as text, of the targets that get a permit with their start: the Enterprise
    zones, in an area that validates. ``readings``: digest of the list of the plan's readings, with which
    zones begin; empty without a plan. ``covers``: how many zones each target stands for, where it is not one,
    packed as well. ``callers``: with which credential each target calls, where they are several. ``carried``:
    the state of an earlier run, or of a closed campaign that ``again`` begins zones of. ``most_events``:
    events of one run after which the campaign goes on in a new one. ``grows_by``: zones a second that the
    rate limit allows, where the window sizes itself, up to ``window``; None where it is fixed. ``grows_in``:
    for how many more zones each success makes room there. ``archive``: the identity of the archive that it
    was started with.
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
    covers: str = ""
    callers: Callers = Callers()
    readings: str = ""
    time_scale: float = 1.0
    carried: CampaignCarried | None = None
    again: Again | None = None
    most_events: int = 2_000
    grows_by: float | None = None
    grows_in: int = MORE
    archive: str = Field(default="", max_length=32)

    def arguments(self) -> tuple[CampaignStart, bytes]:
        """The workflow's two arguments: this without the ledger, and the ledger in bytes, which Temporal
        carries as they are. Always both: the SDK forgets the types where it finds only one.
        """
        if self.carried is None:
            return self, b""
        carried = self.carried.model_copy(update={"ledger": b""})
        return self.model_copy(update={"carried": carried}), self.carried.ledger


class Book(BaseModel):
    """Decisions on one fingerprint (and, where ``wave`` is set, for that wave alone). ``earlier``: how many
    there are before these, which are not shown.
    """

    fingerprint: str
    wave: int | None = None
    decisions: list[Decision] = Field(default_factory=list)
    earlier: int = 0


class CampaignSignOff(Message):
    """A person's decision on fingerprints: ``wave`` narrows it to the zones of one wave."""

    choice: Choice
    fingerprints: tuple[Digest, ...] = Field(min_length=1, max_length=1000)
    by: By
    reason: Why = ""
    wave: Number | None = None


PUBLISHED = "summary"
"""The key in a campaign's memo under which it publishes its summary."""


class WaveSummary(BaseModel):
    """A wave's counts: zones by place, where a place is a phase of the campaign's view or an outcome."""

    number: int
    name: str
    size: int
    places: dict[str, int]


class Waiting(BaseModel):
    """A fingerprint that waits for a sign-off: how many zones, ``separate`` of which each for one of its own;
    in which waves; the index of one as an example.
    """

    fingerprint: str
    zones: int
    waves: list[int]
    example: int
    step: Step
    separate: int = 0


class HeldTargets(BaseModel):
    """How many zones without an outcome wait until the service takes a credential again; or where
    ``credential`` is empty, until it answers a ``user`` again.
    """

    credential: str = ""
    user: str = ""
    zones: int


class CampaignSummary(BaseModel):
    """The answer of a campaign's ``summary`` query; and, with less of what is listed, what it publishes.
    ``waiting``: the largest of ``fingerprints_waiting``; ``state``: a ``CampaignPhase``; where a campaign
    was ended from outside, people are shown Temporal's word in its place (``terminated``, …). ``halted``: why
    it sends nothing because of failures, also while it is paused; or empty. ``holds``: why
    it stands still by itself, with ``held_zones`` that wait for the service; a campaign of several
    credentials goes on with the others, and ``held_by`` says how many zones wait for each. ``fix``: what a
    person has to do about it. ``stopped_by``, ``stopped_at``: who paused or aborted it, and when, where a
    person did. ``excluded_codes``: why targets were left out. ``retrying``: what failed of its own work
    lately. ``archive``: the identity of the archive that has its documents. ``begun_again``: whether any of
    its targets is in a later attempt than its first.
    ``told_wrong``: the first of ``wrong`` targets of which something was told that is not so; ``compared``:
    how the outcomes were compared with results and service before it closed; None before that, and in a
    rehearsal without roots.
    """

    name: str
    area: Area
    state: str
    why: str = ""
    halted: str = ""
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
    fingerprints_waiting: int = 0
    book: list[Book]
    excluded: dict[int, str] = Field(default_factory=dict)
    excluded_codes: dict[int, ReasonCode] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    targets: str
    spec: str
    archive: str = ""
    open_runs: int = 0
    begun_again: bool = False
    fix: str = ""
    holds: list[OpenCircuit] = Field(default_factory=list)
    held_zones: int = 0
    held_by: list[HeldTargets] = Field(default_factory=list)
    stopped_by: str = ""
    stopped_at: datetime | None = None
    retrying: list[Retried] = Field(default_factory=list)
    window: int = 0
    told_wrong: list[ToldWrong] = Field(default_factory=list)
    wrong: int = 0
    compared: Comparison | None = None


class WaitingAsked(Message):
    """The input of a campaign's ``waiting`` query: the fingerprints that begin so and wait in this wave, or
    in any (None); how many at most, from where the last answer ended (``next``).
    """

    prefix: str = Field(default="", max_length=64)
    wave: Number | None = None
    after: int = Field(default=0, ge=0, le=10_000_000)
    most: int = Field(default=500, ge=1, le=500)


class WaitingFound(BaseModel):
    """The answer of ``waiting``: counts of the wave that was asked for alone. ``next``: to be asked from for
    the rest; 0 where there is none.
    """

    waiting: list[Waiting]
    next: int = 0


class PlacesAsked(Message):
    """The input of a campaign's ``targets_at`` query: the names of places, and how many targets at most, from
    the index ``first`` on. ``wave``: of that wave alone; ``fingerprint``: of those alone that propose it.
    """

    places: tuple[Name, ...] = Field(max_length=100)
    most: int = Field(default=5_000, ge=1, le=5_000)
    first: int = Field(default=0, ge=0, le=10_000_000)
    wave: Number | None = None
    fingerprint: Name = ""


class TargetAt(BaseModel):
    """Where one target is. ``fingerprint``: what it proposed last, or empty; ``attempt``: its latest, from 1;
    0 before the first.
    """

    index: int
    place: str
    wave: int
    fingerprint: str = ""
    attempt: int = 0


class TargetsAt(BaseModel):
    """The answer of ``targets_at``: the first targets at the places, and how many there are in all, from the
    first index on or before. ``next``: the index to be asked from for the rest; 0 where there is none.
    """

    total: int
    targets: list[TargetAt]
    next: int = 0


class CampaignResult(Message):
    """How a campaign ended: the number of zones by outcome. ``carried``: its state, for zones that are begun
    again. ``told_wrong``, ``wrong``, ``compared``: see CampaignSummary.
    """

    outcomes: dict[str, int]
    aborted: bool = False
    told_wrong: tuple[ToldWrong, ...] = ()
    wrong: int = 0
    compared: Comparison | None = None
    carried: CampaignCarried | None = None

"""What the checkers saw: the data that the rules are checked against. Nothing here comes from a campaign's
own records.

All moments are of one clock, which is the simulator's where nobody set that to another time.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, Field

from edgeshift.profiles import DEFAULT, Counting, ProfileName, ServiceProfile, profile_named
from edgeshift.testbed.invariants.digests import by_digest, without_versions
from edgeshift.testbed.invariants.installed import names
from edgeshift.testbed.invariants.keys import EvidenceFile, Roster, Signed
from edgeshift.testbed.invariants.requests import Request, Seen

AREAS = ("waf", "esc", "log-fields", *names())
"""The areas, by the names that campaigns have for them."""

_NOTHING_FORWARD = frozenset({"given_up", "opened", "roll_back"})
"""Steps of intents under which nothing goes forward."""


class Signature(Seen):
    """What an approver says to have signed. ``zone``: set where only that zone was meant."""

    by: str
    choice: Literal["approve", "reject"]
    digest: str
    at: datetime
    zone: str | None = None


class Word(Seen):
    """A person's word that lets a zone be sent again: a retry, a reopening, a case that support resolved.
    ``reopens``: whether it voids a rejection, as a reopening alone does.
    """

    by: str
    at: datetime
    zone: str | None = None
    reopens: bool = False


class StopRecord(Seen):
    """A pause or an abort, as the person who asked saw it: when it was answered, and when it ended (a
    resume).
    """

    campaign: str
    kind: Literal["pause", "abort"]
    by: str
    asked_at: datetime
    answered_at: datetime
    resumed_at: datetime | None = None


class CampaignFacts(Seen):
    """What a campaign was asked to do, by whoever asked. Durations as they really pass (already scaled).

    ``sending``: how long a step may take from its last check to its last byte. ``failures``: how many zones
    may fail before it sends no more, None where nobody asked for a limit; ``accepted``: when people accepted
    those so far, which the end of a pause does not. ``service``: the address that it calls; empty where that
    is not told.
    """

    name: str
    zones: frozenset[str]
    window: int
    failures: int | None = None
    accepted: tuple[datetime, ...] = ()
    required: int = 1
    valid_for: timedelta | None = None
    sending: timedelta = timedelta(0)
    resend_unchanged: int = 0
    aborted: bool = False
    migration_limit: timedelta = timedelta(hours=1)
    area: str = "waf"
    service: str = ""


class SnapshotFile(Seen):
    """A snapshot as it lies in the archive. ``written_at``: the file's own time. ``intact``: its bytes
    have the digest that it is filed under. ``holds``: the parts of the zone that it has.
    """

    zone: str
    path: str
    written_at: datetime
    intact: bool
    holds: frozenset[str]
    area: str = "waf"


class IntentFile(Seen):
    """What the archive says was about to be sent: which step of which zone, and the digest of its proposal.

    ``at``: as whoever sent it had the time. ``digest``: empty where a permit was given up. ``attempt``: of
    the zone; 0 where none is recorded.
    """

    zone: str
    area: str
    step: str
    digest: str = ""
    at: datetime
    attempt: int = 0


class RulesVersion(Seen):
    """One version of a zone's ruleset of custom log fields, as the service keeps it."""

    ruleset: str
    number: int
    rules: tuple[dict[str, Any], ...]


class TicketFile(Seen):
    """A ticket as it lies in the ticket system."""

    zone: str
    cause: str
    path: str
    open: bool = True


class Scan(Seen):
    """One place that was searched byte by byte. ``leaks``: labels of the secrets found. ``sighted``:
    whether the text that is known to be there was found, so that a search that sees nothing is not taken
    for a clean one.
    """

    place: str
    size: int
    leaks: tuple[str, ...] = ()
    sighted: bool = True


class ZoneAtService(Seen):
    """A zone as the simulator has it, or an account as a scope of its own. ``bodies``: ruleset bodies it
    stores or stored, of any age. ``rules``: every version of its custom log fields, the oldest first.
    ``jobs``: its log jobs without their destinations. ``always``: whether Edge Side Code is off.
    """

    id: str
    name: str
    plan: str
    migrated: bool = False
    account: str = ""
    kind: Literal["zone", "account"] = "zone"
    bodies: tuple[dict[str, Any], ...] = ()
    rules: tuple[RulesVersion, ...] = ()
    jobs: tuple[dict[str, Any], ...] = ()
    always: bool = False


class RateLimitFacts(Seen):
    """The limit of each user, or of each credential (``counts_by``): requests in a rolling window that really
    lasts so long.
    """

    requests: int
    window: timedelta
    counts_by: Counting = "user"


class Execution(Seen):
    """One run of a zone's migration, as the Temporal server has it: whose zone its input names, whose
    campaign, from when to when, and with which outcome. ``closed_at``: None while it is open; ``outcome``:
    None if it has none.
    """

    run: str
    campaign: str
    zone: str
    started_at: datetime
    closed_at: datetime | None = None
    outcome: str | None = None
    area: str = "waf"


class HeldZone(Seen):
    """A zone that was held for the account that covers it, as the Temporal server has it."""

    zone: str
    account: str
    started_at: datetime
    closed_at: datetime | None = None


class CheckerInput(Seen):
    """Everything that was seen of one scenario.

    ``bodies``: proposals as the approvers read them; they are believed only by their digest. ``targets``:
    zones of the frozen lists, by campaign. ``excluded``: zones that a campaign named as not its own, by
    campaign. ``profile``: the name of that of the service. ``roster``: whose keys count, where people sign
    with keys; then ``statements`` are what the archive has of them. ``by_keys``: rule 1 asks these alone,
    for rule 12, and not what approvers say to have signed.
    """

    journal: tuple[Request, ...]
    campaigns: tuple[CampaignFacts, ...]
    signatures: tuple[Signature, ...] = ()
    words: tuple[Word, ...] = ()
    stops: tuple[StopRecord, ...] = ()
    snapshots: tuple[SnapshotFile, ...] = ()
    tickets: tuple[TicketFile, ...] = ()
    scans: tuple[Scan, ...] = ()
    secrets: int = 0
    zones: tuple[ZoneAtService, ...] = ()
    bodies: tuple[dict[str, Any], ...] = ()
    rate_limit: RateLimitFacts | None = None
    targets: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    excluded: dict[str, frozenset[str]] = Field(default_factory=dict)
    executions: tuple[Execution, ...] = ()
    intents: tuple[IntentFile, ...] = ()
    holds: tuple[HeldZone, ...] = ()
    profile: ProfileName = DEFAULT
    roster: Roster | None = None
    statements: tuple[Signed, ...] = ()
    evidence: tuple[EvidenceFile, ...] = ()
    by_keys: bool = False

    @property
    def service(self) -> ServiceProfile:
        """What is known of the service."""
        return profile_named(self.profile)

    @cached_property
    def areas(self) -> tuple[str, ...]:
        """The areas of the campaigns."""
        return tuple(area for area in AREAS if any(facts.area == area for facts in self.campaigns)) or (
            AREAS[0],
        )

    def within(self, area: str) -> CheckerInput:
        """What was seen of one area's campaigns: theirs, and of the journal what may be theirs."""
        if self.areas == (area,):
            return self
        mine = {facts.name for facts in self.campaigns if facts.area == area}
        kept = dict(self) | {
            "journal": tuple(one for one in self.journal if one.area == area or not one.mutates),
            "campaigns": tuple(one for one in self.campaigns if one.area == area),
            "stops": tuple(one for one in self.stops if one.campaign in mine),
            "snapshots": tuple(one for one in self.snapshots if one.area == area),
            "executions": tuple(one for one in self.executions if one.area == area),
            "intents": tuple(one for one in self.intents if one.area == area),
            "targets": {name: found for name, found in self.targets.items() if name in mine},
            "excluded": {name: found for name, found in self.excluded.items() if name in mine},
        }
        return CheckerInput.model_construct(**kept)

    @cached_property
    def zone(self) -> dict[str, ZoneAtService]:
        """The zones at the service by id."""
        return {zone.id: zone for zone in self.zones}

    @cached_property
    def of_zone(self) -> dict[str, list[Request]]:
        """Each zone's requests, in the order in which the service saw them."""
        found: dict[str, list[Request]] = {}
        for request in sorted(self.journal, key=lambda request: request.seq):
            if request.zone is not None:
                found.setdefault(request.zone, []).append(request)
        return found

    @cached_property
    def said(self) -> tuple[Signed, ...]:
        """What people have signed; not what workers have."""
        return tuple(one for one in self.statements if one.statement["kind"] != "result")

    @cached_property
    def intents_of(self) -> dict[tuple[str, str], list[IntentFile]]:
        """What was about to be sent forward, by zone and area."""
        found: dict[tuple[str, str], list[IntentFile]] = {}
        for intent in self.intents:
            if intent.step not in _NOTHING_FORWARD:
                found.setdefault((intent.zone, intent.area), []).append(intent)
        return found

    @cached_property
    def proposals(self) -> dict[str, dict[str, Any]]:
        """Every body that was seen, by its digest."""
        stored = [body for zone in self.zones for body in zone.bodies]
        return by_digest([*self.bodies, *stored, *map(without_versions, stored)])

    def name(self, zone: str | None) -> str:
        """What people call the zone."""
        known = self.zone.get(zone or "")
        return known.name if known else str(zone)

    @cached_property
    def executions_of(self) -> dict[str, list[Execution]]:
        """Each zone's executions, the earliest first."""
        found: dict[str, list[Execution]] = {}
        for execution in sorted(self.executions, key=lambda execution: execution.started_at):
            found.setdefault(execution.zone, []).append(execution)
        return found

    def owner_at(self, zone: str, moment: datetime) -> str | None:
        """The campaign whose execution had the zone at that moment, if one had."""
        owner = None
        for execution in self.executions_of.get(zone, ()):
            if execution.started_at <= moment and (
                execution.closed_at is None or moment <= execution.closed_at
            ):
                owner = execution.campaign
        return owner

    def campaigns_of(self, zone: str) -> list[CampaignFacts]:
        """The campaigns that have the zone."""
        return [campaign for campaign in self.campaigns if zone in campaign.zones]


class RuleCheck(BaseModel):
    """What became of one rule: how many cases its checker could judge, and which of them broke it."""

    rule: int
    title: str
    checker: str
    checked: int
    violations: list[str] = Field(default_factory=list)

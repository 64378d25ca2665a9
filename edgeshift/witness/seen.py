"""What the witnesses saw: the data that the rules are checked against. Nothing here comes from a campaign's
own records.

All moments are of the simulator's clock, which the journal uses too.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict, Field

MOST_RULES = 200
"""Firewall rules that one migration takes at most (docs/service.md §8)."""

LONGEST_EXPRESSION = 4096
"""Bytes of UTF-8 that a migrating rule's expression has at most (docs/service.md §8)."""

_ALIASES = {"1": "pending", "2": "validation"}
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class Seen(BaseModel):
    """The base of what was seen."""

    model_config = ConfigDict(frozen=True)


class Request(Seen):
    """One line of the simulator's journal: a request as the service saw it.

    ``body_digest``: of a ruleset body, computed by the simulator from the bytes it received. ``effect``:
    ``none``, ``scheduled`` (takes place later) or ``applied``. ``status``: None when no answer was sent.
    """

    seq: int
    time: datetime
    user: str | None = None
    credential: str | None = None
    method: str
    path: str = ""
    query: str = ""
    call: str
    zone: str | None = None
    body_digest: str | None = None
    log_only: bool = False
    status: int | None = None
    effect: str = "none"
    fault: str | None = None
    state_before: dict[str, Any] | None = None
    state_after: dict[str, Any] | None = None
    plan: str | None = None
    rules_to_migrate: int | None = None
    longest_expression_bytes: int | None = None

    @cached_property
    def migration(self) -> str | None:
        """The step of the migration that the request asks for: ``pending``, ``validation``, or None."""
        if self.method != "PUT":
            return None
        values = parse_qs(self.query).get("waf_migration")
        return _ALIASES.get(values[-1], values[-1]) if values else None

    @property
    def commits(self) -> bool:
        """Whether it asks for the irreversible step (docs/service.md §3.2)."""
        return self.migration == "pending"

    @property
    def validates(self) -> bool:
        """Whether it asks for validation mode (docs/service.md §3.2)."""
        return self.migration == "validation"

    @property
    def mutates(self) -> bool:
        """Whether it may change a zone. Queries of security events are a POST that reads."""
        return self.zone is not None and self.method not in _READS and not self.path.endswith("/graphql")

    @property
    def took_effect(self) -> bool:
        """Whether it changed something, at once or later."""
        return self.effect != "none"

    @property
    def over_the_limits(self) -> frozenset[str]:
        """The limits that the zone was over when the request came: the causes of a support case."""
        causes = set()
        if (self.rules_to_migrate or 0) > MOST_RULES:
            causes.add("too_many_rules")
        if (self.longest_expression_bytes or 0) > LONGEST_EXPRESSION:
            causes.add("expression_too_long")
        return frozenset(causes)


class Signature(Seen):
    """What an approver says to have signed. ``zone``: set where only that zone was meant."""

    by: str
    choice: Literal["approve", "reject"]
    digest: str
    at: datetime
    zone: str | None = None


class Word(Seen):
    """A person's word that lets a zone be sent again: a retry, a reopening, a case that support resolved."""

    by: str
    at: datetime
    zone: str | None = None


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
    """What a campaign was asked to do, by whoever asked. Durations as they really pass (already scaled)."""

    name: str
    zones: frozenset[str]
    window: int
    required: int = 1
    valid_for: timedelta | None = None
    resend_unchanged: int = 0
    aborted: bool = False
    migration_limit: timedelta = timedelta(hours=1)


class SnapshotFile(Seen):
    """A snapshot as it lies in the archive. ``written_at``: the file's own time. ``intact``: its bytes
    have the digest that it is filed under. ``holds``: the parts of the zone that it has.
    """

    zone: str
    path: str
    written_at: datetime
    intact: bool
    holds: frozenset[str]


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
    """A zone as the simulator has it. ``bodies``: ruleset bodies it stores or stored, of any age."""

    id: str
    name: str
    plan: str
    migrated: bool
    bodies: tuple[dict[str, Any], ...] = ()


class RateLimitFacts(Seen):
    """The limit of each user: requests in a rolling window that really lasts so long."""

    requests: int
    window: timedelta


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


class WitnessInput(Seen):
    """Everything that was seen of one scenario.

    ``bodies``: proposals as the approvers read them; they are believed only by their digest. ``targets``:
    zones of the frozen lists, by campaign. ``excluded``: zones that a campaign named as not its own, by
    campaign.
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
    """What became of one rule: how many cases its witness could judge, and which of them broke it."""

    rule: int
    title: str
    witness: str
    checked: int
    violations: list[str] = Field(default_factory=list)

"""A request as the service saw it: one line of the simulator's journal, and what it asks for."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict

from edgeshift.profiles import ServiceProfile
from edgeshift.testbed.invariants import owners

_ALIASES = {"1": "pending", "2": "validation"}
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_VALIDATES_OWNERSHIP = "logpush.ownership.validate"

UNKNOWN_4XX = frozenset({408, 409})
"""Refusals after which it is not known what came of the request."""


class Seen(BaseModel):
    """The base of what was seen."""

    model_config = ConfigDict(frozen=True)


class Request(Seen):
    """One line of the simulator's journal: a request as the service saw it.

    ``body_digest``: of a ruleset body, computed by the simulator from the bytes it received. ``effect``:
    ``none``, ``scheduled`` (takes place later) or ``applied``. ``status``: None when no answer was sent.
    ``zone``: the scope that it is about: a zone, or the account whose setting it is. ``time``: by the clock
    of everything else that was seen; ``service_time``: what the service's own clock said, where that is set
    otherwise. ``stranger``: made by somebody who is none of the campaigns. ``esc``, ``log_fields``,
    ``log_job``, ``setting``: what the journal says of such calls (docs/simulator.md).
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
    service_time: datetime | None = None
    stranger: bool = False
    esc: dict[str, Any] | None = None
    log_fields: dict[str, Any] | None = None
    log_job: dict[str, Any] | None = None
    setting: dict[str, Any] | None = None

    @property
    def unrecognised(self) -> bool:
        """Whether the service did not take the credential: it knew nobody by it, or was made to say so.
        Nothing happened then, and nothing is wrong with the zone.
        """
        made_up = (self.fault or "").startswith("server_error:before") and self.status in (401, 403)
        nobody = self.user is None and self.credential is None and self.status in (400, 401, 403)
        return self.effect == "none" and (nobody or made_up)

    @cached_property
    def area(self) -> str:
        """The area that owns the request, or empty: what all areas read alike is nobody's, and so is a change
        that no area makes. Raises TwoOwners.
        """
        return owners.area_of(self)

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
        return self.migration == "pending" and not self.stranger

    @property
    def validates(self) -> bool:
        """Whether it asks for validation mode (docs/service.md §3.2)."""
        return self.migration == "validation"

    @property
    def mutates(self) -> bool:
        """Whether it may change a zone. Queries of security events are a POST that reads, for one."""
        return (
            self.zone is not None
            and not self.stranger
            and self.method not in _READS
            and self.call != _VALIDATES_OWNERSHIP
            and not self.path.endswith("/graphql")
        )

    @property
    def turns_off(self) -> bool:
        """Whether it asks for Edge Side Code to be off for all requests (docs/service.md §3.1)."""
        return self.call == "esc.set" and not self.stranger and "always" in (self.esc or {}).get("asked", ())

    @property
    def turns_on(self) -> bool:
        """Whether it asks for Edge Side Code to be on again (docs/service.md §3.1)."""
        return self.call == "esc.delete" and not self.stranger

    @property
    def sets_secret(self) -> bool:
        """Whether it configures a secret (docs/service.md §3.1)."""
        asked = (self.esc or {}).get("asked", ())
        return self.call == "esc.set" and not self.stranger and "with_secret" in asked

    @property
    def turned_away(self) -> bool:
        """Whether it was answered with a 4xx and had no effect."""
        return not self.took_effect and self.status is not None and 400 <= self.status < 500

    @property
    def refused(self) -> bool:
        """Whether the service refused it for certain, so that nothing came of it."""
        return self.turned_away and self.status not in UNKNOWN_4XX

    @property
    def took_effect(self) -> bool:
        """Whether it changed something, at once or later."""
        return self.effect != "none"

    def over_the_limits(self, profile: ServiceProfile) -> frozenset[str]:
        """The limits of the profile that the zone was over when it came: causes of a support case."""
        causes = set()
        if (self.rules_to_migrate or 0) > profile.most_firewall_rules:
            causes.add("too_many_rules")
        if (self.longest_expression_bytes or 0) > profile.longest_expression:
            causes.add("expression_too_long")
        return frozenset(causes)

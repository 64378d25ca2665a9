"""The nouns of a fleet: accounts, zones, plans, waves, outcomes. Frozen models, little beyond names."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

HexId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
"""An identifier as the service writes it: 32 lower-case hexadecimal digits (docs/service.md §2.2)."""


class Plan(StrEnum):
    """A zone's plan, by its legacy id. Only Enterprise zones can be validated (docs/service.md §3.2)."""

    FREE = "free"
    PRO = "pro"
    BUSINESS = "business"
    ENTERPRISE = "enterprise"
    OTHER = "other"

    @classmethod
    def of(cls, legacy_id: str | None) -> Plan:
        """The plan with this legacy id; anything the service may add later is ``OTHER``."""
        try:
            return cls((legacy_id or "").lower())
        except ValueError:
            return cls.OTHER


class Area(StrEnum):
    """What a campaign changes. The registry of areas (edgeshift/areas) says what each one can do."""

    WAF = "waf"


class Account(BaseModel):
    """An account at the provider."""

    model_config = ConfigDict(frozen=True)

    id: HexId
    name: str = ""


class Zone(BaseModel):
    """A zone as a campaign addresses it: enough to name it, to choose its credential and its path."""

    model_config = ConfigDict(frozen=True)

    id: HexId
    name: str
    account: HexId
    plan: Plan


class Target(BaseModel):
    """A zone's place in the frozen list of a campaign. Its index is its position in that list."""

    model_config = ConfigDict(frozen=True)

    zone: Zone
    wave: int


class Wave(BaseModel):
    """An ordered part of the targets: the half-open range of indexes ``[first, end)``."""

    model_config = ConfigDict(frozen=True)

    number: int
    name: str
    first: int
    end: int

    @property
    def size(self) -> int:
        """How many targets the wave holds."""
        return self.end - self.first


class ZoneOutcome(StrEnum):
    """How a zone's workflow ended. Each is final for one attempt; some can be begun again."""

    MIGRATED = "migrated"
    ALREADY_MIGRATED = "already_migrated"
    BLOCKED = "blocked"
    NEEDS_SUPPORT = "needs_support"
    REJECTED = "rejected"
    ON_HOLD = "on_hold"
    ABORTED = "aborted"
    FAILED = "failed"
    UNKNOWN = "unknown"


RETRYABLE = frozenset(
    {ZoneOutcome.FAILED, ZoneOutcome.UNKNOWN, ZoneOutcome.BLOCKED, ZoneOutcome.NEEDS_SUPPORT}
)
"""Outcomes that ``retry`` begins again."""

REOPENABLE = frozenset({ZoneOutcome.ON_HOLD, ZoneOutcome.REJECTED, ZoneOutcome.ABORTED})
"""Outcomes that ``reopen`` begins again."""


def zone_migration_id(zone_id: str, area: Area) -> str:
    """The workflow id of a zone's migration. It is the lock: one zone has one live migration of an area."""
    return f"zone/{zone_id}/{area.value}"


def campaign_id(name: str) -> str:
    """The workflow id of a campaign."""
    return f"campaign/{name}"


def assessment_id(name: str) -> str:
    """The workflow id of a campaign's assessment (``edgeshift plan``)."""
    return f"assessment/{name}"


def quota_id(user: str) -> str:
    """The workflow id of the quota of one user of the service."""
    return f"quota/{user}"

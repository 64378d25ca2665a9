"""The nouns of a fleet: accounts, zones, plans, waves, outcomes. Frozen models, little beyond names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from importlib.metadata import entry_points
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

HexId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
"""An identifier as the service writes it: 32 lower-case hexadecimal digits (docs/service.md §2.2)."""

CAMPAIGN_NAME = re.compile("[a-z0-9][a-z0-9-]{0,59}")
"""What a campaign may be called: its name is part of identifiers, queries and file names."""


SAME_PLANS = {"lite": "free", "pro_plus": "pro"}
"""Other words of the provider for a plan, without the prefix that partners' plans have (docs/service.md §4.3,
observed).
"""


class Plan(StrEnum):
    """A zone's plan, by its legacy id. Only Enterprise zones can be validated (docs/service.md §3.2).
    ``OTHER``: it is not told, or in a word that nobody knows; it may be Enterprise.
    """

    FREE = "free"
    PRO = "pro"
    BUSINESS = "business"
    ENTERPRISE = "enterprise"
    OTHER = "other"

    @classmethod
    def of(cls, legacy_id: str | None) -> Plan:
        """The plan with this legacy id, also a partner's; anything the service may add later is ``OTHER``."""
        word = (legacy_id or "").lower().removeprefix("partners_")
        try:
            return cls(SAME_PLANS.get(word, word))
        except ValueError:
            return cls.OTHER


class Area(StrEnum):
    """What a campaign changes: the name of an area. The registry (edgeshift/areas) says what each one is.

    Those that other distributions bring are among them, by the names of their entry points.
    """

    WAF = "waf"
    ESC = "esc"
    LOG_FIELDS = "log-fields"

    @classmethod
    def register(cls, name: str) -> Area:
        """The area of this name, made if there is none yet. Raises ValueError where it cannot be a name:
        lower-case letters, digits and hyphens, since workflow ids and archive keys are made of it.
        """
        if name in cls._value2member_map_:
            return cls(name)
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,29}", name):
            raise ValueError(f"{name!r} is not a valid area name; use lower-case letters, digits and hyphens")
        member = str.__new__(cls, name)
        member._name_, member._value_ = name.replace("-", "_").upper(), name
        cls._member_names_.append(member._name_)
        cls._member_map_[member._name_] = cls._value2member_map_[name] = member
        return member


AREAS_OF_OTHERS = "edgeshift.areas"
"""The entry points of areas that other distributions bring; the name of one is the area's."""

INSTALLED_AREAS = tuple(entry_points(group=AREAS_OF_OTHERS))
"""These entry points, looked for once."""

for _entry in INSTALLED_AREAS:
    Area.register(_entry.name)

DEFAULT_AREA = Area.WAF
"""The area of a campaign file, and of a demo, that names none."""


def has_to_be_named(area: Area) -> bool:
    """Whether somebody has to name the area to mean it: every one but the default."""
    return area is not DEFAULT_AREA


def named_for(area: Area, usual: str, *, joint: str = "-") -> str:
    """What something is called that each area has one of: by its ``usual`` name for the area that nobody has
    to name, with the area's name behind the ``joint`` for every other.
    """
    return f"{usual}{joint}{area.value}" if has_to_be_named(area) else usual


class ScopeKind(StrEnum):
    """What a target is: a zone, or an account, which stands for all its zones (docs/service.md §3.1)."""

    ZONE = "zone"
    ACCOUNT = "account"


class Account(BaseModel):
    """An account at the provider."""

    model_config = ConfigDict(frozen=True)

    id: HexId
    name: str = ""


class Zone(BaseModel):
    """A zone as a campaign addresses it: enough to name it, to choose its credential and its path.

    In the area esc it may be an account, which stands for the zones that it ``covers``; its identifier is the
    account's then.
    """

    model_config = ConfigDict(frozen=True)

    id: HexId
    name: str
    account: HexId
    plan: Plan
    kind: ScopeKind = ScopeKind.ZONE
    covers: int = 1

    @property
    def scope(self) -> str:
        """Its path at the service: ``zones/{id}`` or ``accounts/{id}`` (docs/service.md §4.1)."""
        return f"{self.kind.value}s/{self.id}"


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


MOST_ATTEMPTS = 255
"""The highest attempt of a target: a campaign's memory keeps it in one byte, and counts no further."""


def attempt_in(memo: Mapping[str, Any]) -> int:
    """Which attempt a memo names; 0 where it names none that a campaign counts, for whoever has started it
    may have written anything there.
    """
    attempt = memo.get("attempt")
    return attempt if type(attempt) is int and 0 <= attempt <= MOST_ATTEMPTS else 0


class ZoneOutcome(StrEnum):
    """How a zone's workflow ended. Each is final for one attempt; some can be begun again."""

    MIGRATED = "migrated"
    ALREADY_MIGRATED = "already_migrated"
    SETTLED = "settled"
    ALREADY_SETTLED = "already_settled"
    ROLLED_BACK = "rolled_back"
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

REOPENABLE = frozenset(
    {ZoneOutcome.ON_HOLD, ZoneOutcome.REJECTED, ZoneOutcome.ABORTED, ZoneOutcome.ROLLED_BACK}
)
"""Outcomes that ``reopen`` begins again."""


DONE = frozenset({ZoneOutcome.MIGRATED, ZoneOutcome.SETTLED})
"""Outcomes of targets that a campaign itself took where it was meant to."""


CLAIMS = frozenset(
    {
        ZoneOutcome.MIGRATED,
        ZoneOutcome.ALREADY_MIGRATED,
        ZoneOutcome.SETTLED,
        ZoneOutcome.ALREADY_SETTLED,
        ZoneOutcome.ROLLED_BACK,
    }
)
"""Outcomes that say what the service shows. Each rests on a result that a worker has signed."""

ENDS = (ZoneOutcome.MIGRATED, ZoneOutcome.SETTLED, ZoneOutcome.ROLLED_BACK)
"""Outcomes of a change that took effect and was seen to its end."""

UNTOUCHED = frozenset(
    {
        ZoneOutcome.BLOCKED,
        ZoneOutcome.NEEDS_SUPPORT,
        ZoneOutcome.REJECTED,
        ZoneOutcome.ON_HOLD,
        ZoneOutcome.ABORTED,
    }
)
"""Outcomes that say that nothing of the attempt is in force."""


def workflow_id(kind: ScopeKind, identifier: str, area: Area) -> str:
    """The workflow id of a target's migration, by the kind and the identifier of the target."""
    return f"{kind.value}/{identifier}/{area.value}"


def zone_migration_id(zone_id: str, area: Area) -> str:
    """The workflow id of a zone's migration. It is the lock: one zone has one live migration of an area."""
    return workflow_id(ScopeKind.ZONE, zone_id, area)


def migration_id(target: Zone, area: Area) -> str:
    """The workflow id of a target's migration: of a zone, or of an account for all its zones."""
    return workflow_id(target.kind, target.id, area)


def campaign_id(name: str) -> str:
    """The workflow id of a campaign."""
    return f"campaign/{name}"


def campaign_name(identifier: str) -> str:
    """The name of the campaign that has this workflow id. An id of another form is given back as it is."""
    return identifier.removeprefix("campaign/")


def assessment_id(name: str) -> str:
    """The workflow id of a campaign's assessment (``edgeshift plan``)."""
    return f"assessment/{name}"


def quota_id(caller: str) -> str:
    """The workflow id of the quota of one user of a service (``ServiceSpec.caller``)."""
    return f"quota/{caller}"

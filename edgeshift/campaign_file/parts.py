"""The smaller parts of a campaign file: targets, validation, consents, commit, waves, tickets. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Set
from datetime import timedelta
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from edgeshift.areas.evidence import EvidencePolicy
from edgeshift.campaign_file.modes import ValidationMode
from edgeshift.campaign_file.service import A_REFERENCE, Reference
from edgeshift.model.addresses import safe_webhook, web_or_reference
from edgeshift.model.durations import Duration
from edgeshift.model.fleet import Plan, Zone
from edgeshift.model.redacted_path import redacted_path
from edgeshift.model.validators import NUMBER, TRUTH, UP, Part, listed_once, refuse, right
from edgeshift.model.zone_names import goes_by
from edgeshift.runtime.references import is_reference


class TargetSpec(Part):
    """Which zones: ``all`` of them, or those included, less those excluded. Zones and accounts by name or
    identifier.
    """

    all: Annotated[bool, TRUTH] = Field(
        default=False, description="Every zone that the credentials can see; then include stays empty."
    )
    include: tuple[str, ...] = Field(default=(), description="Zones to change, by name or identifier.")
    exclude: tuple[str, ...] = Field(
        default=(), description="Zones that are never changed, whatever else is said."
    )
    accounts: tuple[str, ...] = Field(
        default=(), description="Accounts of which every zone is changed, beside the zones under include."
    )
    plans: tuple[Plan, ...] = Field(
        default=(),
        description="Only zones of these plans: free, pro, business, enterprise, other. Empty: of any plan.",
    )

    @field_validator("include", "exclude", "accounts")
    @classmethod
    def _each_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        refuse(listed_once(names))
        return names

    @field_validator("exclude")
    @classmethod
    def _in_one_of_them(cls, exclude: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        out = {name.lower() for name in exclude}
        include: Iterable[str] = info.data.get("include", ())
        refuse(
            ((UP, "include", index), f"{name!r} is also under exclude; keep it in one of them")
            for index, name in enumerate(include)
            if name.lower() in out
        )
        return exclude

    @model_validator(mode="after")
    def _something(self) -> TargetSpec:
        if not (self.all or self.include or self.accounts):
            raise ValueError("name zones under include, accounts under accounts, or say all: true")
        if self.all and self.include:
            raise ValueError("all: true and include exclude each other")
        return self

    def takes(self, names: Set[str], plan: Plan, *, in_account: bool) -> bool:
        """Whether a zone is meant. ``names``: its name and identifier; ``in_account``: whether it is of an
        account that is named, or may be.
        """
        if names & set(self.exclude) or (self.plans and plan not in self.plans):
            return False
        return self.all or in_account or bool(names & set(self.include))


class ValidationSpec(Part):
    """The validation window of Enterprise zones."""

    window: Duration = Field(
        default=timedelta(hours=72), description="How long old and new WAF are compared."
    )
    modes: Annotated[tuple[ValidationMode, ...], Field(min_length=1, max_length=2)] = Field(
        default=(ValidationMode.SHADOW,),
        description="shadow: new rules only log. enforce: they act (needs a consent). Or both in turn.",
    )
    evidence: EvidencePolicy = Field(
        default=EvidencePolicy(), description="When the window's evidence passes. It never approves."
    )

    @field_validator("modes")
    @classmethod
    def _each_mode_once(cls, modes: tuple[ValidationMode, ...]) -> tuple[ValidationMode, ...]:
        if len(set(modes)) < len(modes):
            raise ValueError(f"names {modes[0].value} twice; each mode has one window")
        return modes


class ConsentSpec(Part):
    """What the campaign may do beyond the ordinary. Each is asked for by name; none is given by default."""

    delete_uri_overrides: Annotated[bool, TRUTH] = Field(
        default=False,
        description="Delete URI overrides that block a zone; archived first, signed off first.",
    )
    enforce_validation: Annotated[bool, TRUTH] = Field(
        default=False, description="Let the new WAF block before anyone agreed to its rules."
    )
    unprotected: tuple[str, ...] = Field(
        default=(),
        description="Zones, by name or identifier, that are migrated although their new WAF runs no rule.",
    )
    replaced_rules: tuple[str, ...] = Field(
        default=(),
        description="Zones, by name or identifier, whose own rules of the new WAF are replaced.",
    )

    @field_validator("unprotected", "replaced_rules")
    @classmethod
    def _each_zone_once(cls, zones: tuple[str, ...]) -> tuple[str, ...]:
        refuse(listed_once(zones))
        return zones

    def leaves_unprotected(self, zone: Zone) -> bool:
        """Whether somebody has agreed, for this very zone, that its new WAF runs nothing."""
        return _is_named(zone, self.unprotected)

    def replaces_rules(self, zone: Zone) -> bool:
        """Whether somebody has agreed, for this very zone, that rules of the new WAF are replaced which
        edgeshift did not write.
        """
        return _is_named(zone, self.replaced_rules)


def _is_named(zone: Zone, names: Iterable[str]) -> bool:
    return any(goes_by(name, zone.name, zone.id) for name in names)


class PlanSpec(Part):
    """What `edgeshift plan` has read."""

    fresh: Duration = Field(
        default=timedelta(days=1),
        description="How old a reading of the plan may be that a zone begins with; older, it is made again.",
    )


class CommitSpec(Part):
    """How the step that was signed is made.

    ``resend_unchanged``: only where the status stayed unchanged for ``migration_limit``.
    """

    migration_limit: Duration = Field(
        default=timedelta(hours=1), description="How long the service may take to show a migration."
    )
    poll: Duration = Field(
        default=timedelta(seconds=20),
        description="The shortest pause between two looks whether a change shows (docs/calls.md).",
    )
    lease: Duration = Field(
        default=timedelta(minutes=4), description="How long a permit for one step counts."
    )
    turn_window: Duration | None = Field(
        default=None,
        description="How long a step may wait for its first turn within the rate limit; without it, three "
        "times send_window.",
    )
    send_window: Duration = Field(
        default=timedelta(seconds=30),
        description="How long a step may take before it is sent, from its first turn on: the fresh reading.",
    )
    margin: Duration = Field(
        default=timedelta(seconds=15),
        description="How long beyond these and request_limit until a step's worker is given up.",
    )
    resend_unchanged: Annotated[int, Field(ge=0, le=3), NUMBER] = Field(
        default=0,
        description="How often a step of unknown outcome is sent again; 0: a person decides.",
    )

    @property
    def waits_for_turn(self) -> timedelta:
        """``turn_window``, or what it is by default."""
        return 3 * self.send_window if self.turn_window is None else self.turn_window


class WaveAdvance(Part):
    """When the next wave begins, and when the campaign halts, in whichever wave: no permit is given then
    until a person says so (docs/rules.md, rule 8).
    """

    percent: Annotated[float, Field(gt=0, le=100), NUMBER] = Field(
        default=100,
        description="The next wave begins when so many percent of the zones so far have an outcome.",
    )
    failures: Annotated[int, Field(ge=0), NUMBER] = Field(
        default=0,
        description="With more zones failed, unknown or rolled back, nothing is sent until somebody resumes.",
    )


def _without_key(url: str) -> str:
    """A URL without a query, and without a part of its path that looks like a key. Raises ValueError."""
    if is_reference(url):
        return url
    parts = urlsplit(url)
    if parts.query or redacted_path(parts.path) != parts.path:
        raise ValueError(
            "this URL may hold a key, and the file is archived; keep the URL where the worker finds it, and"
            " name that place as env:NAME or file:PATH"
        )
    return url


DIRECT = "direct"
"""In place of a proxy: none, also where the service is reached by one."""


def _proxy_or_direct(text: str) -> str:
    """The URL of a proxy, or where one lies, or ``direct``. Raises ValueError for none of these."""
    try:
        return text if text == DIRECT else web_or_reference(text)
    except ValueError as why:
        raise ValueError(f"{why}; direct stands for no proxy") from None


class TicketSpec(Part):
    """Where support tickets go: a folder of Markdown files, or a webhook with an idempotency key."""

    folder: str | None = Field(default=None, description="A folder that gets one Markdown file a ticket.")
    webhook: (
        Annotated[
            str,
            StringConstraints(pattern=r"^(https?://\S+|env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"),
            AfterValidator(safe_webhook),
            AfterValidator(_without_key),
        ]
        | None
    ) = Field(
        default=None,
        description="A URL that gets a POST with an idempotency key; as env:NAME or file:PATH if secret.",
        json_schema_extra=right(
            "it is written as http://HOST:PORT/PATH or https://…, or as env:NAME or file:PATH where it holds"
            " a key"
        ),
    )
    secret: Reference | None = Field(
        default=None,
        description="The webhook's secret: env:NAME or file:PATH.",
        json_schema_extra=A_REFERENCE,
    )
    proxy: Annotated[str, AfterValidator(_proxy_or_direct)] | None = Field(
        default=None,
        description="The webhook's proxy. Without it that of service; direct: none, whatever service has.",
    )
    ca_file: str | None = Field(
        default=None,
        description="Certificate authorities to trust for the webhook. Without it those of service.",
    )

    @model_validator(mode="after")
    def _one(self) -> TicketSpec:
        if self.folder and self.webhook:
            raise ValueError("tickets go to a folder or to a webhook, not to both")
        return self

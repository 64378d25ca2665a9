"""What a campaign is asked to do, as data: the models behind the campaign file. Pure.

Every field but ``name`` and ``targets`` has a default. Secrets appear as references only (``env:NAME``,
``file:PATH``).
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.areas.waf import Adjustment
from edgeshift.areas.waf.evidence import EvidencePolicy
from edgeshift.model.durations import Duration
from edgeshift.model.fleet import Area, Plan
from edgeshift.model.rollout import WaveSpec
from edgeshift.model.sign_off import SignOffPolicy

SECTIONS = {
    "validation": Area.WAF,
    "consents": Area.WAF,
    "adjustments": Area.WAF,
    "esc": Area.ESC,
    "log_fields": Area.LOG_FIELDS,
}
"""Parts of a campaign that one area alone has."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
Reference = Annotated[str, StringConstraints(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$")]
"""Where a secret is to be found by the worker: ``env:NAME`` or ``file:PATH``. Never the secret."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CredentialSpec(_Part):
    """A credential of the service. ``user``: whose rate limit it counts against; several may share one.

    Either ``token``, or ``key`` with ``email`` (docs/service.md §5), which may be a reference too.
    ``accounts``: the accounts it is for, by identifier or name; empty for all that no other credential names.
    """

    user: Annotated[str, StringConstraints(pattern=r"^[\w.@+-]{1,100}$")] = "default"
    token: Reference | None = None
    key: Reference | None = None
    email: str | None = None
    accounts: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """Where its secret lies, such as ``env:EDGE_TOKEN``."""
        return str(self.token or self.key)

    @model_validator(mode="after")
    def _one_scheme(self) -> CredentialSpec:
        if (self.token is None) == (self.key is None):
            raise ValueError("a credential has either token, or key with email")
        if (self.key is None) != (self.email is None):
            raise ValueError("key and email go together")
        return self


class RateSpec(_Part):
    """The service's rate limit of each user, and the share that is left to people (docs/service.md §8,
    observed).
    """

    requests: int = Field(default=1200, ge=10)
    per: Duration = timedelta(minutes=5)
    people: float = Field(default=0.1, ge=0, lt=1)


class ServiceSpec(_Part):
    """Where the service is and how to call it.

    ``request_limit``: how long one request may take as a whole, a minute at most: a worker that is told to
    stop sees through what is on the wire. ``patience``: how long reads are tried
    again before a zone is given up as failed. ``proxy``: its URL, or where one lies that has a password.
    """

    base_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s?#]+$")] = (
        "http://127.0.0.1:8780/client/v4"
    )
    credentials: tuple[CredentialSpec, ...] = (CredentialSpec(token="env:EDGESHIFT_TOKEN"),)
    proxy: str | None = None
    ca_file: str | None = None
    request_limit: Duration = timedelta(seconds=30)
    patience: Duration = timedelta(hours=1)
    rate: RateSpec = RateSpec()

    @model_validator(mode="after")
    def _no_account_twice(self) -> ServiceSpec:
        named = [account for credential in self.credentials for account in credential.accounts]
        if twice := sorted({account for account in named if named.count(account) > 1}):
            raise ValueError(f"more than one credential names the account {twice[0]!r}")
        if not self.credentials:
            raise ValueError("at least one credential is needed")
        return self

    def caller(self, credential: CredentialSpec) -> str:
        """Whose rate limit a call counts against: a user of the service at this address. At another one, such
        as that of a rehearsal or a mistyped one, the same user is somebody else.
        """
        return f"{urlsplit(self.base_url).netloc}/{credential.user}"


class TargetSpec(_Part):
    """Which zones: ``all`` of them, or those included, less those excluded. Zones and accounts by name or
    identifier.
    """

    all: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    plans: tuple[Plan, ...] = ()

    @model_validator(mode="after")
    def _something(self) -> TargetSpec:
        if not (self.all or self.include or self.accounts):
            raise ValueError("name zones under include, accounts under accounts, or say all: true")
        if self.all and self.include:
            raise ValueError("all: true and include exclude each other")
        return self


class ValidationMode(StrEnum):
    """How the window runs: new rules only log (``shadow``) or act as proposed (``enforce``)."""

    SHADOW = "shadow"
    ENFORCE = "enforce"


class ValidationSpec(_Part):
    """The validation window of Enterprise zones. ``modes``: one, or both in turn, each with a window of its
    own.
    """

    window: Duration = timedelta(hours=72)
    modes: Annotated[tuple[ValidationMode, ...], Field(min_length=1, max_length=2)] = (ValidationMode.SHADOW,)
    evidence: EvidencePolicy = EvidencePolicy()

    @model_validator(mode="after")
    def _each_mode_once(self) -> ValidationSpec:
        if len(set(self.modes)) < len(self.modes):
            raise ValueError(f"modes names {self.modes[0].value} twice; each mode has one window")
        return self


class ConsentSpec(_Part):
    """What the campaign may do beyond the ordinary. Each is asked for by name, and none is given by default.

    ``delete_uri_overrides``: delete URI-based overrides that block a zone, archived first, signed off first.
    ``enforce_validation``: let the new WAF block during the window, before anybody has agreed to its rules.
    """

    delete_uri_overrides: bool = False
    enforce_validation: bool = False


class CommitSpec(_Part):
    """How the irreversible step is made.

    ``migration_limit``: how long the service may take to show the effect. ``poll``: how often its status is
    read. ``lease``: how long a permit counts. ``send_window``: how long a step may take before it is sent
    (a turn within the rate limit, the fresh reading, the intent). ``margin``: what is added to it and to the
    request's limit before a step's worker is given up. ``resend_unchanged``: how often one zone may be sent
    again by itself when the outcome was unknown and the status stayed unchanged for ``migration_limit``; 0
    leaves it with a person.
    """

    migration_limit: Duration = timedelta(hours=1)
    poll: Duration = timedelta(seconds=20)
    lease: Duration = timedelta(minutes=2)
    send_window: Duration = timedelta(seconds=30)
    margin: Duration = timedelta(seconds=15)
    resend_unchanged: int = Field(default=0, ge=0, le=3)


class WaveAdvance(_Part):
    """When the next wave begins: as soon as ``percent`` of the zones so far have an outcome. With more than
    ``failures`` that failed, are unknown or were rolled back the campaign halts, in whichever wave: no permit
    is given until a person says so (docs/rules.md, rule 8)."""

    percent: float = Field(default=100, gt=0, le=100)
    failures: int = Field(default=0, ge=0)


class TicketSpec(_Part):
    """Where support tickets go: a folder of Markdown files, or a webhook with an idempotency key.

    ``webhook``: its URL, or where a URL lies that holds a key (``env:NAME``, ``file:PATH``).
    """

    folder: str | None = None
    webhook: (
        Annotated[str, StringConstraints(pattern=r"^(https?://\S+|env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$")]
        | None
    ) = None
    secret: Reference | None = None

    @model_validator(mode="after")
    def _one(self) -> TicketSpec:
        if self.folder and self.webhook:
            raise ValueError("tickets go to a folder or to a webhook, not to both")
        return self


class CampaignSpec(_Part):
    """A campaign as its file says it.

    ``area``: what is changed; of the parts that SECTIONS names, those of other areas mean nothing.
    ``window``: how many zones work at a time (zones that wait for a window or a person do not count).
    ``time_scale``: divides every duration of the campaign, for rehearsals; 1 in production.
    ``waits_for_support``: how long a zone waits for ``support-resolved`` before it ends as needs_support.
    ``silence``: how long a worker may say nothing of a piece of work before another takes it over.
    """

    name: Name
    targets: TargetSpec
    area: Area = Area.WAF
    service: ServiceSpec = ServiceSpec()
    waves: Annotated[tuple[WaveSpec, ...], Field(max_length=100)] = ()
    advance: WaveAdvance = WaveAdvance()
    window: int = Field(default=20, ge=1, le=1000)
    sign_off: SignOffPolicy = SignOffPolicy()
    validation: ValidationSpec = ValidationSpec()
    consents: ConsentSpec = ConsentSpec()
    adjustments: tuple[Adjustment, ...] = ()
    esc: EscSpec = EscSpec()
    log_fields: LogFieldsSpec = LogFieldsSpec()
    commit: CommitSpec = CommitSpec()
    tickets: TicketSpec = TicketSpec()
    waits_for_support: Duration = timedelta(days=14)
    sweep: Duration = timedelta(minutes=10)
    silence: Duration = timedelta(minutes=1)
    time_scale: float = Field(default=1.0, ge=1, le=1_000_000)

    @model_validator(mode="after")
    def _consents_cover(self) -> CampaignSpec:
        if ValidationMode.ENFORCE in self.validation.modes and not self.consents.enforce_validation:
            raise ValueError(
                "validation.modes has enforce, which can block requests before anybody agreed;"
                " it needs consents.enforce_validation: true"
            )
        return self

    def scaled(self) -> CampaignSpec:
        """The same campaign with every duration divided by ``time_scale``.

        Limits of transport (``request_limit``), of permits (``lease``, ``send_window``, ``margin``) and of
        workers (``silence``) are technical and stay; waits between polls and sweeps keep a floor, since real
        work happens in them. Nothing becomes longer than it was.
        """
        scale = self.time_scale
        if scale == 1:
            return self

        def shorter(value: timedelta, floor: float = 0.0) -> timedelta:
            return min(value, max(value / scale, timedelta(seconds=floor)))

        return self.model_copy(
            update={
                "service": self.service.model_copy(
                    update={
                        "patience": shorter(self.service.patience, 20),
                        "rate": self.service.rate.model_copy(update={"per": shorter(self.service.rate.per)}),
                    }
                ),
                "sign_off": self.sign_off.model_copy(
                    update={
                        "expires_after": shorter(self.sign_off.expires_after, 1),
                        "valid_for": shorter(self.sign_off.valid_for, 1),
                    }
                ),
                "validation": self.validation.model_copy(
                    update={"window": shorter(self.validation.window, 0.5)}
                ),
                "commit": self.commit.model_copy(
                    update={
                        "migration_limit": shorter(self.commit.migration_limit, 8),
                        "poll": shorter(self.commit.poll, 0.25),
                    }
                ),
                "esc": self.esc.model_copy(
                    update={
                        "observe": shorter(self.esc.observe, 1),
                        "every": shorter(self.esc.every, 0.5),
                        "effect_limit": shorter(self.esc.effect_limit, 20),
                        "fresh": shorter(self.esc.fresh, 60),
                        "secret_takes": shorter(self.esc.secret_takes, 0.5),
                    }
                ),
                "log_fields": self.log_fields.model_copy(
                    update={
                        "verify": shorter(self.log_fields.verify, 5),
                        "every": shorter(self.log_fields.every, 0.5),
                        "effect_limit": shorter(self.log_fields.effect_limit, 20),
                    }
                ),
                "waits_for_support": shorter(self.waits_for_support, 1),
                "sweep": shorter(self.sweep, 2),
            }
        )

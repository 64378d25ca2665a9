"""The part of a campaign file that says where the service is, and how it is called. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from edgeshift.model.addresses import safe_address, web_or_reference
from edgeshift.model.durations import Duration
from edgeshift.model.validators import NUMBER, Part, at_most, right
from edgeshift.profiles import DEFAULT, SPECIFICATION, ProfileName, ServiceProfile, profile_named
from edgeshift.rate_limit.terms import MOST_REQUESTS
from edgeshift.runtime.references import is_reference

Reference = Annotated[str, StringConstraints(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$")]
"""Where a secret is to be found by the worker: ``env:NAME`` or ``file:PATH``. Never the secret."""

A_REFERENCE = right(
    "a secret is never written into the file; say where it is, as env:NAME or file:PATH", whole=True
)

LONGEST_REQUEST = timedelta(minutes=1)
"""The longest time that one request may be given: a worker that is told to stop sees it through."""


MOST_CREDENTIALS = 255
"""Credentials of a campaign: it tells apart so many, and stops the zones of one without the others
(edgeshift/campaign/callers.py). A file with more is refused; what an earlier version has archived is read.
"""

EVERYBODY = "default"
"""The user of credentials that name none."""


class CredentialSpec(Part):
    """A credential of the service: either ``token``, or ``key`` with ``email`` (docs/service.md §5)."""

    user: Annotated[str, StringConstraints(pattern=r"^[\w.@+-]{1,100}$")] = Field(
        default=EVERYBODY,
        description="Whose rate limit it counts against; several may share one (docs/service.md §10).",
        json_schema_extra=right("a user has 1 to 100 letters, digits and . _ @ + -"),
    )
    token: Reference | None = Field(
        default=None, description="An API token: env:NAME or file:PATH.", json_schema_extra=A_REFERENCE
    )
    key: Reference | None = Field(
        default=None,
        description="In place of a token an API key (env:NAME or file:PATH), together with email.",
        json_schema_extra=A_REFERENCE,
    )
    email: str | None = Field(
        default=None, description="The e-mail address that goes with key, or env:NAME or file:PATH."
    )
    accounts: tuple[str, ...] = Field(
        default=(),
        description="The accounts it is for, by name or identifier. Empty: all that no other names.",
    )

    @property
    def reference(self) -> str:
        """Where its secret lies, such as ``env:EDGE_TOKEN``."""
        return str(self.token or self.key)

    @property
    def references(self) -> tuple[str, ...]:
        """Every place of which something is sent to the service: its secret's, and that of its address."""
        email = [self.email] if self.email and is_reference(self.email) else []
        return (self.reference, *email)

    @model_validator(mode="after")
    def _one_scheme(self) -> CredentialSpec:
        if (self.token is None) == (self.key is None):
            raise ValueError("a credential has either token, or key with email")
        if (self.key is None) != (self.email is None):
            raise ValueError("key and email go together")
        return self


class RateSpec(Part):
    """The service's rate limit of each user, and the share that is left to people (docs/service.md §8,
    observed).
    """

    requests: Annotated[int, Field(ge=10, le=MOST_REQUESTS), NUMBER] = Field(
        default=SPECIFICATION.rate.requests,
        description="How many requests of one user the service takes in the time `per`.",
    )
    per: Duration = Field(
        default=timedelta(seconds=SPECIFICATION.rate.window_seconds),
        description="The time over which the service counts them; from 1s to 1d.",
    )
    people: Annotated[float, Field(ge=0, lt=1), NUMBER] = Field(
        default=0.1, description="The share that is left to people and other programs: 0.1 is a tenth."
    )


class ServiceSpec(Part):
    """Where the service is and how to call it."""

    base_url: Annotated[
        str, StringConstraints(pattern=r"^https?://[^\s?#]+$"), AfterValidator(safe_address)
    ] = Field(
        default="http://127.0.0.1:8780/client/v4",
        description="The service's address with the path prefix /client/v4. The default is the simulator's.",
        json_schema_extra=right("it is written as https://HOST/client/v4, without a query"),
    )
    profile: ProfileName = Field(
        default=DEFAULT,
        description="The state of the service that is relied on: specification, or public-2025-04.",
    )
    credentials: tuple[CredentialSpec, ...] = Field(
        default=(CredentialSpec(token="env:EDGESHIFT_TOKEN"),),
        json_schema_extra={"maxItems": MOST_CREDENTIALS},
        description="At most 255 credentials. No secret is written here, only where the worker finds it.",
    )
    proxy: Annotated[str, AfterValidator(web_or_reference)] | None = Field(
        default=None,
        description="A proxy, such as http://proxy.example:3128; with a password: env:NAME or file:PATH.",
    )
    ca_file: str | None = Field(
        default=None,
        description="A file with the certificate authorities to trust beside the usual ones.",
    )
    request_limit: Annotated[Duration, AfterValidator(at_most(LONGEST_REQUEST))] = Field(
        default=timedelta(seconds=30), description="How long one request may take as a whole; at most 1m."
    )
    patience: Duration = Field(
        default=timedelta(hours=1),
        description="How long readings are tried again before a zone is given up as failed.",
    )
    rate: RateSpec = Field(default=RateSpec(), description="The service's rate limit of each user.")

    @model_validator(mode="after")
    def _no_account_twice(self) -> ServiceSpec:
        named = [account for credential in self.credentials for account in credential.accounts]
        if twice := sorted({account for account in named if named.count(account) > 1}):
            raise ValueError(f"more than one credential names the account {twice[0]!r}")
        if not self.credentials:
            raise ValueError("at least one credential is needed")
        return self

    @property
    def facts(self) -> ServiceProfile:
        """What the profile says of the service."""
        return profile_named(self.profile)

    def caller(self, credential: CredentialSpec) -> str:
        """Whose rate limit a call counts against: a user of the service at this address, or, where the
        profile counts by credential and the credential names no user, the credential itself, by its
        reference. At another address, such as that of a rehearsal or a mistyped one, the same user is
        somebody else.
        """
        own = self.facts.rate.counts_by == "credential" and credential.user == EVERYBODY
        who = credential.reference.replace("/", "_")[-100:] if own else credential.user
        return f"{urlsplit(self.base_url).netloc}/{who}"

    def address(self, name: str) -> str:
        """Whose rate limit calls from an address count against, where the profile knows such a limit: that
        address, by the name which its workers have for it. No user and no reference has a name like this.
        """
        return f"{urlsplit(self.base_url).netloc}/from:{name}"

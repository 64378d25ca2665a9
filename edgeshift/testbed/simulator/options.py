"""Every answer and duration of the simulator that can be chosen.

Where the service's behaviour is not known (docs/service.md, "unknown"), the choice is an option here, so
that a client can be shown indifferent to it.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from edgeshift.testbed.simulator.faults import FaultSpec
from edgeshift.testbed.simulator.support_words import worded


class _Options(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class Refusal(_Options):
    """How something is refused: HTTP status, the wording, and the code where the service gives one."""

    status: int = Field(400, ge=400, le=599)
    message: str
    code: int | None = None


class RateLimit(_Options):
    """Requests a user may make in a rolling window, and what follows one too many (docs/service.md §8)."""

    requests: int = Field(1200, ge=1)
    window_seconds: float = Field(300, gt=0)
    block_seconds: float = Field(300, ge=0)
    retry_after: bool = Field(False, description="send Retry-After with 429")
    headers: bool = Field(False, description="send Ratelimit and Ratelimit-Policy with every answer")


class SupportLimits(_Options):
    """The two limits that only support can lift, and which call reports them (docs/service.md §7, §8)."""

    at: Literal["check", "config", "put"] = "put"
    words: Literal["given", "each", "contact", "limit", "terse", "keys", "found", "polite"] = Field(
        "given", description="as too_many_rules and too_long_expression say, or in other words"
    )
    code: int | None = Field(None, description="beside words other than given")
    firewall_rules: int = Field(200, ge=0)
    expression_bytes: int = Field(4096, ge=0)
    too_many_rules: Refusal = Refusal(
        status=400, message="cannot migrate more than 200 firewall rules, please contact support"
    )
    too_long_expression: Refusal = Refusal(
        status=400,
        message="a firewall rule expression is longer than 4 KB, please contact support",
    )

    def refusal(self, limit: Literal["too_many", "too_long"], zone: str) -> Refusal:
        """How a zone over this limit is refused."""
        if self.words == "given":
            return self.too_many_rules if limit == "too_many" else self.too_long_expression
        said = worded(self.words, zone)
        message = said.too_many if limit == "too_many" else said.too_long
        return Refusal(status=said.status, message=message, code=self.code)


class EscAnswers(_Options):
    """What is not known of the calls that disable Edge Side Code (docs/service.md §2.1, §4.1)."""

    envelope: bool = Field(False, description="answer in the envelope in place of the bare object")
    post: Literal["echo", "empty", "no_content", "envelope"] = "echo"
    delete: Literal["setting", "empty", "no_content", "envelope"] = "setting"
    nothing_configured: Literal["always_false", "empty", "null", "not_found"] = "always_false"
    both_configured: Literal["always", "with_secret", "both"] = "always"
    always_false: Literal["refuse", "enable", "ignore"] = "refuse"
    both_fields: Literal["refuse", "apply"] = "refuse"
    delete_clears_secret: bool = False
    cookie_reaches_origin: bool = Field(False, description="the edge passes the cookie disable_esc on")
    bad_body: Refusal = Refusal(
        message="the body must be an object with either with_secret, a string, or always, which is true"
    )
    secret_too_long: Refusal = Refusal(message="with_secret must have at most 100 characters")
    removed: Refusal = Refusal(status=410, message="Edge Side Code was removed on 2024-01-01")


class LogFields(_Options):
    """What a zone's custom log fields may be, and how much of them is logged (docs/service.md §2.2, §8)."""

    most: int = Field(40, ge=0, description="custom fields a zone may have")
    counted: Literal["every", "distinct"] = Field(
        "every", description="whether a field that two rules name counts twice"
    )
    empty_arrays: Literal["refuse", "accept"] = Field(
        "refuse", description="a rule whose arrays are all empty has none of them, or has them"
    )
    data_bytes: int = Field(8192, ge=0, description="custom field data of one log entry, in UTF-8 bytes")
    data_counts_names: bool = Field(False, description="field names count as data too")


class LogJobs(_Options):
    """What is not known of log jobs (docs/service.md §2.3, §4.2)."""

    answer: Literal["envelope", "bare", "empty"] = Field("envelope", description="to a create or an update")
    unknown_keys: Literal["refuse", "ignore"] = Field(
        "refuse", description="keys that a create or an update does not take"
    )
    not_entitled: Refusal = Refusal(
        status=403, message="log jobs are available on Enterprise zones only", code=1004
    )
    wrong_challenge: Refusal = Refusal(message="incorrect ownership challenge", code=1002)
    needless_challenge: Literal["answer", "refuse"] = Field(
        "answer", description="asking for a challenge at a destination that needs none"
    )


class SimulatorOptions(_Options):
    """All options; durations are seconds before `time_scale` divides them."""

    time_scale: float = Field(1.0, gt=0)
    clock: datetime | None = Field(None, description="the present at the start of a new data folder")
    migration_seconds: float = Field(10.0, ge=0, description="from an accepted commit to its effect")
    validation_seconds: float = Field(3.0, ge=0, description="from an accepted validation PUT to its effect")
    visibility_seconds: float = Field(3.0, ge=0, description="from an effect to the reads that show it")
    esc_effect_seconds: float = Field(3.0, ge=0, description="from a call on ESC to its effect at the edge")
    esc_visibility_seconds: float = Field(0.0, ge=0, description="from such a call to the GET that shows it")
    esc: EscAnswers = EscAnswers()
    rate_limit: RateLimit = RateLimit()
    support: SupportLimits = SupportLimits()

    without_phase_two: Refusal = Refusal(message="the query parameter phase_two=1 is required")
    unknown_migration_value: Refusal = Refusal(
        message="waf_migration must be one of pending, validation, 1, 2"
    )
    not_eligible: Refusal = Refusal(
        message="the zone is not eligible for the migration: URI-based WAF overrides must be deleted first"
    )
    ineligible_check_shows_state: bool = Field(
        True, description="an ineligible zone's check still carries migration_state"
    )
    config_when_ineligible: Literal["refuse", "answer"] = "answer"
    compatible_after_migration: bool = True
    config_after_migration: Refusal = Refusal(message="the zone has already been migrated")
    validation_not_entitled: Refusal = Refusal(
        status=403, message="validation mode is available on Enterprise zones only"
    )
    repeated_commit: Literal["refuse", "accept", "ignore"] = "refuse"
    repeated_commit_refusal: Refusal = Refusal(message="the zone has already been migrated")
    repeated_validation: Literal["refuse", "accept", "ignore"] = "accept"
    repeated_validation_refusal: Refusal = Refusal(message="the zone is already in validation mode")
    validation_after_commit: Literal["refuse", "accept"] = Field(
        "refuse", description="a validation PUT while a commit is under way: accept overwrites its rules"
    )
    legacy_after_migration: Refusal = Refusal(
        status=410, code=10050, message="this endpoint no longer works: the zone uses WAF Managed Rules"
    )
    invalid_token_code: Literal[9109, 1000] = 9109
    no_permission_code: Literal[9109, 10000] = 9109
    log_fields: LogFields = LogFields()
    log_jobs: LogJobs = LogJobs()
    log_batch_seconds: float = Field(30.0, ge=0, description="how long a job of high frequency gathers")
    log_batch_entries: int = Field(1000, ge=1, description="so many entries leave at once")
    log_gzip: bool = Field(False, description="deliver log entries compressed")
    buckets: Path | None = Field(None, description="folder of the buckets; `buckets` in DATA if absent")
    events_limit: int = Field(10_000, ge=1, description="largest `limit` of a security events query")
    old_events_late_seconds: float = Field(0.0, ge=0, description="how late the previous WAF's events show")
    new_events_late_seconds: float = Field(0.0, ge=0, description="how late the new WAF's events show")
    faults: list[FaultSpec] = Field(default_factory=list, description="faults present from the start")

    @field_validator("clock")
    @classmethod
    def _in_utc(cls, moment: datetime | None) -> datetime | None:
        return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)

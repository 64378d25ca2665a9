"""Every answer and duration of the simulator that can be chosen.

Where the service's behaviour is not known (docs/service.md, "unknown"), the choice is an option here, so
that a client can be shown indifferent to it.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from edgeshift.simulator.faults import FaultSpec


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
    firewall_rules: int = Field(200, ge=0)
    expression_bytes: int = Field(4096, ge=0)
    too_many_rules: Refusal = Refusal(
        status=400, message="cannot migrate more than 200 firewall rules, please contact support"
    )
    too_long_expression: Refusal = Refusal(
        status=400,
        message="a firewall rule expression is longer than 4 KB, please contact support",
    )


class SimulatorOptions(_Options):
    """All options; durations are seconds before `time_scale` divides them."""

    time_scale: float = Field(1.0, gt=0)
    migration_seconds: float = Field(10.0, ge=0, description="from an accepted commit to its effect")
    validation_seconds: float = Field(3.0, ge=0, description="from an accepted validation PUT to its effect")
    visibility_seconds: float = Field(3.0, ge=0, description="from an effect to the reads that show it")
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
    events_limit: int = Field(10_000, ge=1, description="largest `limit` of a security events query")
    faults: list[FaultSpec] = Field(default_factory=list, description="faults present from the start")

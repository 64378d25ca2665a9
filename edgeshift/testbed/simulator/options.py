"""Every answer and duration of the simulator that can be chosen.

Where the service's behaviour is not known (docs/service.md, "unknown"), the choice is an option here, so
that a client can be shown indifferent to it.
"""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from edgeshift.profiles import DEFAULT, SPECIFICATION, Counting, ProfileName, ServiceProfile, profile_named
from edgeshift.testbed.simulator.faults import FaultSpec
from edgeshift.testbed.simulator.support_words import Limits, worded


class _Options(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


ExecuteVersion = Literal["absent", "latest", "number"]


class Refusal(_Options):
    """How something is refused: HTTP status, the wording, and the code where the service gives one. With a
    status of success, ``success: false`` in the envelope is all that refuses it.
    """

    status: int = Field(400, ge=HTTPStatus.OK, le=599)
    message: str
    code: int | None = None

    @field_validator("status")
    @classmethod
    def _refuses(cls, status: int) -> int:
        if status not in (HTTPStatus.OK, *range(400, 600)):
            raise ValueError(
                f"a refusal has a status from 400 to 599, or {HTTPStatus.OK:d}, where success is false"
            )
        return status


class RateLimit(_Options):
    """Requests that may be made in a rolling window, and what follows one too many (docs/service.md §8).
    Whose they are, a user's or a credential's, the profile says too.
    """

    requests: int = Field(SPECIFICATION.rate.requests, ge=1)
    window_seconds: float = Field(SPECIFICATION.rate.window_seconds, gt=0)
    block_seconds: float = Field(SPECIFICATION.rate.block_seconds, ge=0)
    counts_by: Counting = SPECIFICATION.rate.counts_by
    per_address: int | None = Field(
        SPECIFICATION.rate.per_address, ge=1, description="requests of one address in a second"
    )
    retry_after: bool = Field(False, description="send Retry-After with 429")
    headers: bool = Field(False, description="send Ratelimit and Ratelimit-Policy with every answer")


class QueryLimit(_Options):
    """Queries for security events that a user may make in a rolling window (docs/service.md §8)."""

    queries: int | None = Field(None, ge=1, description="null: any number")
    window_seconds: float = Field(timedelta(minutes=5).total_seconds(), gt=0)
    told: Literal["429", "200"] = Field("429", description="the status of the answer to one too many")


class SupportLimits(_Options):
    """The two limits that only support can lift, and which call reports them (docs/service.md §7, §8)."""

    at: Literal["check", "config", "put"] = "put"
    words: Literal["given", "each", "contact", "limit", "terse", "keys", "found", "polite"] = Field(
        "given", description="as too_many_rules and too_long_expression say, or in other words"
    )
    code: int | None = Field(None, description="beside words other than given")
    firewall_rules: int = Field(SPECIFICATION.most_firewall_rules, ge=0)
    expression_bytes: int = Field(SPECIFICATION.longest_expression, ge=0)
    expressions_of: Literal["migrating", "all"] = Field(
        "migrating", description="whose expressions count: rules that migrate, or all firewall rules"
    )
    too_many_rules: Refusal = Refusal(
        status=400, message="cannot migrate more than {rules} firewall rules, please contact support"
    )
    too_long_expression: Refusal = Refusal(
        status=400,
        message="a firewall rule expression is longer than {kilobytes} KB, please contact support",
    )

    def refusal(self, limit: Literal["too_many", "too_long"], zone: str) -> Refusal:
        """How a zone over this limit is refused."""
        limits = Limits(self.firewall_rules, self.expression_bytes)
        if self.words == "given":
            given = self.too_many_rules if limit == "too_many" else self.too_long_expression
            return given.model_copy(update={"message": limits.filled(given.message)})
        said = worded(self.words, zone)
        message = said.too_many if limit == "too_many" else said.too_long
        return Refusal(status=said.status, message=limits.filled(message), code=self.code)


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
    delete_when_on: Literal["accept", "refuse"] = Field(
        "accept", description="a DELETE where nothing is disabled"
    )
    cookie_reaches_origin: bool = Field(False, description="the edge passes the cookie disable_esc on")
    not_entitled: tuple[str, ...] = Field((), description="names of zones that may have no Edge Side Code")
    not_entitled_get: Literal["refuse", "unconfigured"] = Field(
        "refuse", description="what GET answers of such a zone"
    )
    not_entitled_refusal: Refusal = Refusal(message="not entitled to use Edge Side Code")
    bad_body: Refusal = Refusal(
        message="the body must be an object with either with_secret, a string, or always, which is true"
    )
    secret_too_long: Refusal = Refusal(message="with_secret must have at most {characters} characters")
    removed: Refusal = Refusal(status=410, message="Edge Side Code was removed on {removal}")


class LogFields(_Options):
    """What a zone's custom log fields may be, and how much of them is logged (docs/service.md §2.2, §8)."""

    most: int | None = Field(
        SPECIFICATION.most_log_fields, ge=0, description="custom fields a zone may have; null: any number"
    )
    counted: Literal["every", "distinct"] = Field(
        "every", description="whether a field that two rules name counts twice"
    )
    empty_arrays: Literal["refuse", "accept"] = Field(
        "refuse", description="a rule whose arrays are all empty has none of them, or has them"
    )
    data_bytes: int | None = Field(
        SPECIFICATION.most_log_data,
        ge=0,
        description="custom field data of one log entry, in UTF-8 bytes; null: any number",
    )
    data_counts_names: bool = Field(False, description="field names count as data too")
    empty_carriers: Literal["written", "left_out"] = Field(
        "written", description="log fields of custom fields of which the request had none, in an entry"
    )
    rules: Literal["add_up", "last", "first", "one"] = Field(
        "add_up",
        description="the fields of several rules: all are logged, those of the last enabled rule alone, those"
        " of the first, or a second rule is refused",
    )
    listed_seconds: float = Field(0, ge=0, description="until a new ruleset is in the list of rulesets")
    readable_seconds: float = Field(0, ge=0, description="until a new ruleset can be read by its id")


class Bodies(_Options):
    """How strictly bodies are read. Usual clients of the service send more than a call takes, which the
    service lets through (docs/simulator.md, "Clients of the real API")."""

    unknown_keys: Literal["ignore", "refuse"] = Field(
        "ignore", description="keys that a log job or an override does not take"
    )
    nulls: Literal["ignore", "refuse"] = Field(
        "ignore", description="null for what could be left out, in rulesets, rules, overrides and log jobs"
    )
    single_items: Literal["accept", "refuse"] = Field(
        "accept", description="one object where an array of them is due: firewall rules and filters"
    )
    without_assigned: Literal["accept", "refuse"] = Field(
        "accept",
        description="a commit whose rules lack id, version or ref, which only a validation may leave out",
    )


STRICT = Bodies(unknown_keys="refuse", nulls="refuse", single_items="refuse", without_assigned="refuse")
"""Bodies are read to the letter."""


class LogJobs(_Options):
    """What is not known of log jobs (docs/service.md §2.3, §4.2)."""

    answer: Literal["envelope", "bare", "empty"] = Field("envelope", description="to a create or an update")
    dataset: Literal["named", "null", "left_out"] = Field(
        "named", description="how readings show the dataset of a job of http_requests, the default"
    )
    not_entitled: Refusal = Refusal(
        status=403, message="log jobs are available on Enterprise zones only", code=1004
    )
    wrong_challenge: Refusal = Refusal(message="incorrect ownership challenge", code=1002)
    challenge_seconds: float = Field(
        0, ge=0, description="until an ownership challenge that was answered is at the destination"
    )
    needless_challenge: Literal["answer", "refuse"] = Field(
        "answer", description="asking for a challenge at a destination that needs none"
    )
    unknown_fields: Literal["refuse", "ignore"] = Field(
        "ignore", description="log fields that a job lists and the dataset does not have; ignored, none comes"
    )


_Part = TypeVar("_Part", bound=_Options)


def _filled(part: _Part, usual: dict[str, Any]) -> _Part:
    """The part with what is usual where nothing was given."""
    return part.model_copy(
        update={key: value for key, value in usual.items() if key not in part.model_fields_set}
    )


class SimulatorOptions(_Options):
    """All options; durations are seconds before `time_scale` divides them. Limits that are not given are
    those of the profile.
    """

    profile: ProfileName | None = Field(
        None, description="which known state of the service it is; that of the fleet if absent"
    )
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
    override_deleted: Literal["envelope", "result", "empty"] = Field(
        "envelope",
        description="what deleting a URI-based override answers: whole, without success, or no body",
    )
    override_list_late_seconds: float = Field(
        0.0, ge=0, description="from the deletion of a URI-based override to the list that lacks it"
    )
    override_check_late_seconds: float = Field(
        0.0, ge=0, description="from the deletion of a URI-based override to the check that counts it no more"
    )
    config_refs: Literal["empty", "given"] = Field(
        "empty", description="whether each rule of the new configuration has a ref already"
    )
    config_rules: Literal["given", "empty", "null", "left_out"] = Field(
        "given", description="the rules of the new configuration, or how it is without any"
    )
    execute_version: ExecuteVersion = Field(
        "absent",
        description="the version of its managed ruleset that a stored execute rule has which was sent"
        " without: none, latest, or the present number",
    )
    skip_logging: Literal["given", "absent"] = Field(
        "absent",
        description="whether a stored skip rule that was sent without logging has it, enabled",
    )
    new_status: Literal["state", "rules"] = Field(
        "state",
        description="whether a migrated zone's new WAF is enabled by its state, or where a rule of it runs",
    )
    compatible_after_migration: bool = True
    check_refused: Literal["never", "validation", "begun"] = Field(
        "never",
        description="whether the check is refused in validation mode, or then and after the migration",
    )
    check_refusal: Refusal = Refusal(message="the zone is already being migrated")
    config_of_migrated: Literal["refuse", "answer"] = "refuse"
    config_after_migration: Refusal = Refusal(message="the zone has already been migrated")
    validation_not_entitled: Refusal = Refusal(
        status=403, message="validation mode is available on Enterprise zones only"
    )
    repeated_commit: Literal["refuse", "accept", "ignore"] = "refuse"
    repeated_commit_refusal: Refusal = Refusal(message="the zone has already been migrated")
    repeated_validation: Literal["refuse", "accept", "ignore"] = "accept"
    repeated_validation_refusal: Refusal = Refusal(message="the zone is already in validation mode")
    validation_after_commit: Literal["refuse", "accept", "always"] = Field(
        "refuse",
        description="a validation PUT while a commit is under way: accept overwrites its rules;"
        " always does so once the zone is migrated, too",
    )
    legacy_after_migration: Refusal = Refusal(
        status=410, code=10050, message="this endpoint no longer works: the zone uses WAF Managed Rules"
    )
    invalid_token_code: Literal[9109, 1000] = 9109
    no_permission_code: Literal[9109, 10000] = 9109
    bodies: Bodies = Bodies()
    log_fields: LogFields = LogFields()
    log_jobs: LogJobs = LogJobs()
    log_batch_seconds: float = Field(30.0, ge=0, description="how long a job of high frequency gathers")
    log_batch_entries: int = Field(1000, ge=1, description="so many entries leave at once")
    log_gzip: bool = Field(False, description="deliver log entries compressed")
    buckets: Path | None = Field(None, description="folder of the buckets; `buckets` in DATA if absent")
    query_limit: QueryLimit = QueryLimit()
    events_limit: int = Field(10_000, ge=1, description="largest `limit` of a security events query")
    old_events_late_seconds: float = Field(0.0, ge=0, description="how late the previous WAF's events show")
    new_events_late_seconds: float = Field(0.0, ge=0, description="how late the new WAF's events show")
    faults: list[FaultSpec] = Field(default_factory=list, description="faults present from the start")

    @property
    def facts(self) -> ServiceProfile:
        """What the profile says of the service."""
        return profile_named(self.profile or DEFAULT)

    def of(self, profile: str) -> "SimulatorOptions":
        """The options of a service of this profile, where they name none themselves: what was not given is
        the profile's.
        """
        facts = profile_named(self.profile or profile)
        rate, fields = facts.rate, {"most": facts.most_log_fields, "data_bytes": facts.most_log_data}
        support = {
            "firewall_rules": facts.most_firewall_rules,
            "expression_bytes": facts.longest_expression,
        }
        return self.model_copy(
            update={
                "profile": facts.name,
                "rate_limit": _filled(self.rate_limit, rate.model_dump()),
                "support": _filled(self.support, support),
                "log_fields": _filled(self.log_fields, fields),
            }
        )

    @field_validator("clock")
    @classmethod
    def _in_utc(cls, moment: datetime | None) -> datetime | None:
        return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)

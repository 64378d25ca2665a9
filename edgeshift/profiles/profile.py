"""The facts that a profile has. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

Counting = Literal["user", "credential"]
"""Whose requests the rate limit adds up: those of a user over all credentials, or of each credential."""

LogJobParameter = Literal["logpull_options", "output_options"]
"""What of a log job says which log fields it pushes."""


class Facts(BaseModel):
    """The base of what is known of the service: it does not change, and has no keys that nobody reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ScoreSetting(NamedTuple):
    """What a ``sensitivity`` of the previous core rule set becomes: ``paranoia_level`` 1 to 4 and the new
    score rule's ``score_threshold`` (docs/service.md §2.4).
    """

    sensitivity: str
    paranoia_level: int
    score_threshold: int

    def __str__(self) -> str:
        return f"{self.sensitivity}: PL{self.paranoia_level}, {self.score_threshold}"


class RateFacts(Facts):
    """How often the service may be called (docs/service.md §8)."""

    requests: int = Field(gt=0, description="requests that the service takes in the window")
    window_seconds: int = Field(gt=0, description="seconds over which it counts them")
    block_seconds: int = Field(ge=0, description="seconds for which it then refuses every call")
    counts_by: Counting = Field(description="whose requests it adds up")
    per_address: int | None = Field(
        default=None, gt=0, description="requests of one address in a second; none: no such limit is known"
    )


class ServiceProfile(Facts):
    """One dated description of the service. ``source``: where its facts are from, by the name of the field;
    what is not in it is from the specification. A limit that is None is not documented: nothing is counted.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,39}$", description="what campaign files call it")
    title: str = Field(description="what it is, in a few words")
    as_of: date = Field(description="the day for which it says what the service is like")
    most_firewall_rules: int = Field(gt=0, description="firewall rules that one migration takes")
    longest_expression: int = Field(gt=0, description="bytes of UTF-8 of a migrating rule's expression")
    most_log_fields: int | None = Field(gt=0, description="custom log fields of a zone")
    most_log_data: int | None = Field(gt=0, description="bytes of custom field data of one log entry")
    longest_esc_secret: int = Field(gt=0, description="characters of an ESC secret")
    esc_removal: date = Field(description="when all Edge Side Code is removed, from 00:00 UTC")
    sensitivities: tuple[ScoreSetting, ...] = Field(
        min_length=1,
        description="previous sensitivity of the core rule set to paranoia level and score threshold; the"
        " first is also for a sensitivity that nobody knows",
    )
    log_job_parameters: tuple[LogJobParameter, ...] = Field(
        min_length=1, description="what of a log job lists its log fields; the last that is there counts"
    )
    response_headers: Literal["original", "transformed"] = Field(
        description="which value of a response header is logged where nothing else is chosen"
    )
    raw_response_fields: bool = Field(
        description="whether raw_response_fields of a rule has original values logged (by API only), and"
        " preserve_duplicates every value of a header"
    )
    wildcard: bool = Field(description="whether expressions of rules have the operator wildcard")
    dry_run: bool = Field(description="whether dry_run=true has a write of a ruleset checked and not saved")
    rate: RateFacts
    source: Mapping[str, str] = Field(default_factory=dict)

    @property
    def esc_removed_at(self) -> datetime:
        """The moment from which there is no Edge Side Code, by the service's own clock."""
        return datetime(self.esc_removal.year, self.esc_removal.month, self.esc_removal.day, tzinfo=UTC)

    @property
    def takes_output_options(self) -> bool:
        """Whether a log job may list its log fields in ``output_options``."""
        return "output_options" in self.log_job_parameters

    def score_setting(self, sensitivity: str) -> ScoreSetting:
        """What a previous sensitivity becomes; of one that nobody knows, what the first becomes."""
        known = {one.sensitivity: one for one in self.sensitivities}
        return known.get(sensitivity, self.sensitivities[0])

    def __str__(self) -> str:
        return f"{self.name} ({self.title}, as of {self.as_of:%Y-%m-%d})"

"""The models of a zone's request logs as a fleet has them: custom log fields and log jobs
(docs/fleet-format.md)."""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from edgeshift.profiles import PROFILES
from edgeshift.testbed.simulator import log_fields
from edgeshift.testbed.simulator.fleet_strict import Strict
from edgeshift.testbed.simulator.logs import destinations, output_options, pull_options
from edgeshift.testbed.simulator.options import SimulatorOptions


class FieldRule(Strict):
    """A rule of custom log fields; header names are in lower case."""

    request_headers: list[str] = Field(default_factory=list)
    response_headers: list[str] = Field(default_factory=list)
    cookies: list[str] = Field(default_factory=list)
    description: str = ""
    enabled: bool = True

    def document(self) -> dict[str, Any]:
        """The rule as the service takes it (docs/service.md §2.2)."""
        arrays = (self.request_headers, self.response_headers, self.cookies)
        parameters = {
            name: [{"name": one} for one in names]
            for name, names in zip(log_fields.ARRAYS, arrays, strict=True)
            if names
        }
        return {
            "action": log_fields.ACTION,
            "expression": log_fields.EXPRESSION,
            "description": self.description,
            "enabled": self.enabled,
            "action_parameters": parameters,
        }


class FleetLogJob(Strict):
    """A log job that is there from the start; the ownership of its destination is taken as proven."""

    destination: str = Field(repr=False, description="such as s3://bucket/path?region=eu-west-1")
    name: str = Field("", pattern=r"^[a-zA-Z0-9\-.]*$")
    dataset: Literal[
        "dns_logs",
        "firewall_events",
        "http_requests",
        "nel_reports",
        "page_shield_events",
        "spectrum_events",
    ] = "http_requests"
    logpull_options: str | None = Field(
        None, description="such as fields=RayID,EdgeStartTimestamp&timestamps=rfc3339"
    )
    output_options: dict[str, Any] | None = Field(
        None, description="in place of logpull_options, where the profile knows them: field_names and more"
    )
    enabled: bool = True
    frequency: Literal["high", "low"] = "high"

    @field_validator("destination")
    @classmethod
    def _is_one(cls, address: str) -> str:
        try:
            destinations.parsed(address)
        except ValueError as error:
            raise PydanticCustomError("bad_destination", "{told}", {"told": str(error)}) from None
        return address

    @model_validator(mode="after")
    def _has_fields(self) -> "FleetLogJob":
        try:
            pull_options.parsed(self.logpull_options, self.dataset)
        except ValueError as error:
            raise PydanticCustomError(
                "bad_options", "logpull_options: {told}", {"told": str(error)}
            ) from None
        given = self.output_options
        if given is not None and (wrong := output_options.problem(given, self.dataset)):
            told = " ".join(filter(None, wrong))
            raise PydanticCustomError("bad_options", "output_options: {told}", {"told": told})
        return self

    def document(self) -> dict[str, Any]:
        """The job as the service answers it, but for its id."""
        return {
            "dataset": self.dataset,
            "name": self.name,
            "enabled": self.enabled,
            "frequency": self.frequency,
            "logpull_options": self.logpull_options,
            **({} if self.output_options is None else {"output_options": self.output_options}),
            "destination_conf": self.destination,
            "last_complete": None,
            "last_error": None,
            "error_message": None,
        }


class ZoneLogs(Strict):
    """What a zone logs at the start; for Enterprise zones alone."""

    fields: list[FieldRule] | None = Field(
        None, description="no ruleset if absent, one without rules if empty"
    )
    jobs: list[FleetLogJob] = Field(default_factory=list)

    @model_validator(mode="after")
    def _are_rules(self) -> "ZoneLogs":
        """Right by one profile or another; the fleet knows by which."""
        if told := min((self.wrong_by(name) for name in PROFILES), key=len):
            raise PydanticCustomError("bad_fields", "{told}", {"told": told})
        return self

    def wrong_by(self, profile: str) -> str:
        """What is wrong with the fields at a service of this profile, or empty."""
        rules = [one.document() for one in self.fields or []]
        found = log_fields.errors(rules, SimulatorOptions().of(profile))
        return f"fields: {found[0]['source']['pointer']}: {found[0]['message']}" if found else ""

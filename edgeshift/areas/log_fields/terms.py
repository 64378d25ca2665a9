"""What a campaign of the area log-fields is asked to do, as data (docs/service.md §2.2, §2.3, §8). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, field_validator

from edgeshift.areas.log_fields.field_set import FieldSet
from edgeshift.areas.log_fields.names import Kind, list_troubles, mistakes, too_many
from edgeshift.areas.log_fields.targeted import without_fields
from edgeshift.areas.section import AreaSection, Targets, Times, shorter
from edgeshift.model.addresses import store_address, with_placeholders
from edgeshift.model.durations import Duration
from edgeshift.model.validators import NUMBER, UP, Part, Trouble, at_least, check_looks, refuse, right
from edgeshift.profiles import ServiceProfile

__all__ = ["FieldSet", "LogFieldsSpec", "NewJobSpec"]

StoreAddress = Annotated[str, AfterValidator(store_address)]
"""An object store's URL in which ``{zone}`` and ``{zone_id}`` stand for the zone."""


class NewJobSpec(Part):
    """The log job that a zone gets which has none of the dataset http_requests."""

    destination: Annotated[str, StringConstraints(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$")] = Field(
        description="Where the worker finds the destination's address: env:NAME or file:PATH.",
        json_schema_extra=right(
            "a destination may carry credentials and is never written into the file; say where it is,"
            " as env:NAME or file:PATH",
            whole=True,
        ),
    )
    name: Annotated[
        str,
        StringConstraints(pattern=r"^([a-zA-Z0-9\-.{}]|\{zone_id\})*$"),
        AfterValidator(with_placeholders),
    ] = Field(
        default="edgeshift-{zone}",
        description="What the job is called; {zone} becomes the zone's name, {zone_id} its identifier.",
        json_schema_extra=right(
            "it has letters, digits, hyphens and dots; {zone} becomes the zone's name,"
            " {zone_id} its identifier"
        ),
    )
    fields: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        default=(
            "RayID",
            "EdgeStartTimestamp",
            "ClientRequestHost",
            "ClientRequestMethod",
            "ClientRequestURI",
            "EdgeResponseStatus",
        ),
        description="Log fields beside those that carry custom fields.",
    )
    timestamps: Literal["rfc3339", "unix", "unixnano"] = Field(
        default="rfc3339", description="How moments are written: rfc3339, unix or unixnano."
    )
    frequency: Literal["high", "low"] = Field(
        default="high", description="high: small batches often. low: large ones seldom."
    )
    challenge: StoreAddress | None = Field(
        default=None,
        description="Where the service's ownership challenge can be read: an object store's URL.",
    )


_EVERY = timedelta(minutes=5)


class LogFieldsSpec(FieldSet, AreaSection):
    """Which custom fields are rolled out, and how it is known that they arrive."""

    request_headers: tuple[str, ...] = Field(default=(), description="Request headers, for every zone.")
    response_headers: tuple[str, ...] = Field(default=(), description="Response headers, for every zone.")
    cookies: tuple[str, ...] = Field(
        default=(), description="Cookies, written as in the requests: case counts."
    )
    zones: dict[str, FieldSet] = Field(
        default_factory=dict,
        validate_default=True,
        description="Further fields of single zones, by the zone's name or identifier.",
        examples=[{"www.shop.example": {"cookies": ["Session"]}}],
    )
    job: NewJobSpec | None = Field(
        default=None,
        description="The log job of zones that have none. null: such zones are blocked.",
        examples=[{"destination": "env:LOG_DESTINATION", "challenge": "s3://logs/{zone}"}],
    )
    entries: StoreAddress | None = Field(
        default=None,
        description="Where log entries can be read (file:///…, s3://…), with {zone} or {zone_id}.",
    )
    verify: Duration = Field(
        default=timedelta(minutes=30), description="How long entries are waited for after a change."
    )
    every: Annotated[Duration, AfterValidator(at_least(timedelta(seconds=1)))] = Field(
        default=_EVERY,
        validate_default=True,
        description="How often entries are looked for while they are waited for.",
    )
    enough: Annotated[int, Field(ge=1, le=100_000), NUMBER] = Field(
        default=20, description="Entries that must have been seen before a field counts as never sent."
    )
    unverified: Literal["keep", "roll_back"] = Field(
        default="keep", description="A zone of which no entries came: keep the change, or roll_back."
    )
    effect_limit: Duration = Field(
        default=timedelta(minutes=5),
        description="How long the service may take to show changed rules and jobs.",
    )

    @field_validator("request_headers", "response_headers", "cookies")
    @classmethod
    def _names(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        kind = next(kind for kind in Kind if kind.attribute == info.field_name)
        refuse(((index,), said) for index, said in list_troubles(kind, names))
        return names

    @field_validator("zones")
    @classmethod
    def _additions(cls, zones: dict[str, FieldSet], info: ValidationInfo) -> dict[str, FieldSet]:
        if all(kind.attribute in info.data for kind in Kind):
            common = {kind: info.data[kind.attribute] for kind in Kind}
            refuse([*_of_zones(zones, common), *(() if zones else _wrong(common, FieldSet(), (UP,)))])
        return zones

    @field_validator("every")
    @classmethod
    def _fits_what_is_waited(cls, every: timedelta, info: ValidationInfo) -> timedelta:
        if (verify := info.data.get("verify")) is not None:
            check_looks(every, verify, _EVERY, "log_fields.verify")
        return every

    @property
    def times(self) -> Times:
        """How long a change of one zone takes (edgeshift/areas/area.py)."""
        return Times(effect=self.effect_limit, watch=self.verify, every=self.every)

    @property
    def references(self) -> dict[str, str]:
        """Where new log jobs send to."""
        return {} if self.job is None else {"job.destination": self.job.destination}

    def faster(self, scale: float) -> Self:
        """The same, so many times as fast."""
        update = {
            "verify": shorter(self.verify, scale, 5),
            "every": shorter(self.every, scale, 0.5),
            "effect_limit": shorter(self.effect_limit, scale, 20),
        }
        return self.model_copy(update=update)

    def troubles(self, targets: Targets | None) -> Iterator[Trouble]:
        """Zones with fields that are no targets, and targets without fields."""
        common = any(getattr(self, kind.attribute) for kind in Kind)
        return without_fields(common, tuple(self.zones), targets)

    def over(self, profile: ServiceProfile) -> Iterator[Trouble]:
        """Zones with more fields than a zone takes, and the campaign where all have."""
        places: dict[tuple[str, ...], FieldSet] = {
            ("zones", name): self.wanted("", name) for name in self.zones
        } or {(): self.wanted("", "")}
        for where, fields in places.items():
            yield from ((where, said) for said in too_many(fields, profile))

    def wanted(self, zone_id: str, zone_name: str) -> FieldSet:
        """The fields of one zone: those of the campaign, then its own additions."""
        own = self.zones.get(zone_name) or self.zones.get(zone_id) or FieldSet()
        return FieldSet(
            request_headers=(*self.request_headers, *own.request_headers),
            response_headers=(*self.response_headers, *own.response_headers),
            cookies=(*self.cookies, *own.cookies),
        )


def _of_zones(zones: Mapping[str, FieldSet], common: Mapping[Kind, tuple[str, ...]]) -> Iterator[Trouble]:
    for name, own in zones.items():
        odd = [
            ((name, kind.attribute, index), said)
            for kind in Kind
            for index, said in list_troubles(kind, getattr(own, kind.attribute), common[kind])
        ]
        yield from odd
        if not odd:
            yield from _wrong(common, own, (name,))
        if name != name.lower():
            yield (name,), f'zones are named as the service does, in lower case: write "{name.lower()}"'


def _wrong(
    common: Mapping[Kind, tuple[str, ...]], own: FieldSet, where: tuple[str | int, ...]
) -> Iterator[Trouble]:
    """What is wrong with the fields of one zone taken together."""
    together: dict[str, Any] = {
        kind.attribute: (*common[kind], *getattr(own, kind.attribute)) for kind in Kind
    }
    if any(together.values()):
        yield from ((where, said) for said in mistakes(FieldSet(**together)))

"""What a campaign of the area log-fields is asked to do, as data (docs/service.md §2.2, §2.3, §8). Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from edgeshift.model.durations import Duration


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldSet(_Part):
    """Custom fields: names of request headers and response headers in lower case, and of cookies, whose case
    counts.
    """

    request_headers: tuple[str, ...] = ()
    response_headers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()


class NewJobSpec(_Part):
    """The log job that a zone gets which has none of the dataset http_requests.

    ``destination``: where the worker finds the destination's address, which may carry credentials
    (``env:NAME``, ``file:PATH``); ``{zone}`` in it becomes the zone's name. ``fields``: log fields beside
    those that carry custom fields. ``challenge``: where edgeshift can read the ownership challenge that the
    service writes to the destination, as an object store's URL (``file:///…``, ``s3://bucket/path``); not
    needed for destinations without one.
    """

    destination: Annotated[str, StringConstraints(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$")]
    name: Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9\-.{}]*$")] = "edgeshift-{zone}"
    fields: Annotated[tuple[str, ...], Field(min_length=1)] = (
        "RayID",
        "EdgeStartTimestamp",
        "ClientRequestHost",
        "ClientRequestMethod",
        "ClientRequestURI",
        "EdgeResponseStatus",
    )
    timestamps: Literal["rfc3339", "unix", "unixnano"] = "rfc3339"
    frequency: Literal["high", "low"] = "high"
    challenge: str | None = None


class LogFieldsSpec(FieldSet):
    """Which custom fields are rolled out, and how it is known that they arrive.

    ``zones``: further fields of single zones, by name or identifier. ``job``: the log job of zones that have
    none. ``entries``: where edgeshift can read the log entries that jobs push, as an object store's URL in
    which ``{zone}`` and ``{zone_id}`` stand for the zone. ``verify``: how long entries are waited for, looked
    at ``every`` so often. ``enough``: entries that must have been seen before a field counts as never sent.
    ``unverified``: what becomes of a zone of which no entries came: it is kept, or rolled back.
    ``effect_limit``: how long the service may take to show a change.
    """

    zones: dict[str, FieldSet] = Field(default_factory=dict)
    job: NewJobSpec | None = None
    entries: str | None = None
    verify: Duration = timedelta(minutes=30)
    every: Duration = timedelta(minutes=5)
    enough: int = Field(default=20, ge=1, le=100_000)
    unverified: Literal["keep", "roll_back"] = "keep"
    effect_limit: Duration = timedelta(minutes=5)

    def wanted(self, zone_id: str, zone_name: str) -> FieldSet:
        """The fields of one zone: those of the campaign, then its own additions."""
        own = self.zones.get(zone_name) or self.zones.get(zone_id) or FieldSet()
        return FieldSet(
            request_headers=(*self.request_headers, *own.request_headers),
            response_headers=(*self.response_headers, *own.response_headers),
            cookies=(*self.cookies, *own.cookies),
        )

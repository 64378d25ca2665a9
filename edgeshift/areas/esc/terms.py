"""What a campaign of the area esc is asked to do, as data (docs/service.md §2.1, §3.1). Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from edgeshift.model.durations import Duration


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


ProbedUrl = Annotated[str, StringConstraints(pattern=r"^(/|/[^/\s]\S*|https?://[^\s/]+(/\S*)?)$")]
"""A path that every zone is asked for, or a whole URL, which is for the zone that its host belongs to."""


class ProbeSpec(_Part):
    """How the differential probe asks: GET or HEAD alone, with and without the cookie.

    ``urls``: paths or whole URLs to ask for. ``sitemap``: whether each host's sitemap is read. ``links``:
    whether links of its root page are followed. ``sample``: URLs of one zone at most. ``rounds``: how often
    each is asked with the cookie and without. ``per_second``: requests to one host. ``edge``: where hosts
    are reached in place of DNS (``http://127.0.0.1:8781``). ``timeout``: of one request as a whole.
    ``ignore_headers``: headers that never count.
    """

    urls: Annotated[tuple[ProbedUrl, ...], Field(max_length=10_000)] = ()
    sitemap: bool = True
    links: bool = True
    sample: int = Field(default=20, ge=1, le=1_000)
    rounds: int = Field(default=3, ge=2, le=10)
    per_second: float = Field(default=5.0, gt=0, le=1_000)
    method: Literal["GET", "HEAD"] = "GET"
    edge: Annotated[str, StringConstraints(pattern=r"^https?://[^\s/?#]+$")] | None = None
    timeout: Duration = timedelta(seconds=10)
    ignore_headers: tuple[str, ...] = ()


class EscSpec(_Part):
    """How Edge Side Code is turned off.

    ``scope``: each zone by itself, or whole accounts, which stand for all their zones. ``observe``: how long
    the scope is watched after it was turned off, probed anew ``every`` so often. ``tolerance``: the share of
    probed URLs that may fail then which did not fail before; any more, or a difference that nobody agreed to,
    turns Edge Side Code on again. ``effect_limit``: how long the service may take to show a change.
    ``fresh``: how old a probe may be when it is acted upon; an older one is made anew after the sign-off,
    which counts for it where nothing has changed. ``secret_takes``: how long a new secret may take to work
    at the edge; the probe waits for it, since before that it would see no difference at all.
    """

    scope: Literal["zone", "account"] = "zone"
    probe: ProbeSpec = ProbeSpec()
    observe: Duration = timedelta(hours=1)
    every: Duration = timedelta(minutes=10)
    tolerance: float = Field(default=0.0, ge=0, lt=1)
    effect_limit: Duration = timedelta(minutes=5)
    fresh: Duration = timedelta(hours=24)
    secret_takes: Duration = timedelta(seconds=30)

"""What a campaign of the area esc is asked to do, as data (docs/service.md §2.1, §3.1). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, field_validator

from edgeshift.areas.section import AreaSection, Targets, Times, shorter
from edgeshift.model.addresses import NO_PASSWORD, web_address
from edgeshift.model.durations import Duration
from edgeshift.model.validators import NUMBER, TRUTH, UP, Part, Trouble, at_least, check_looks, refuse, right

ProbedUrl = Annotated[str, StringConstraints(pattern=r"^(/|/[^/\s]\S*|https?://[^\s/]+(/\S*)?)$")]
"""A path that every zone is asked for, or a whole URL, which is for the zone that its host belongs to."""

EdgeAddress = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/?#]+$"), AfterValidator(web_address)]
"""A web server without a path."""


def _url_troubles(urls: Sequence[str]) -> Iterator[Trouble]:
    seen: dict[str, int] = {}
    for index, url in enumerate(urls):
        if url in seen:
            yield (index,), f"is listed twice, first as item {seen[url] + 1}; keep one"
        seen.setdefault(url, index)
        host = url.partition("://")[2].partition("/")[0]
        if "@" in host:
            yield (index,), NO_PASSWORD
        elif ":" in host:
            said = "a port does not belong into it: the edge is asked at the usual ones, or at esc.probe.edge"
            yield (index,), said


class ProbeSpec(Part):
    """How the differential probe asks: GET or HEAD alone, with the cookie and without."""

    urls: Annotated[tuple[ProbedUrl, ...], Field(max_length=10_000)] = Field(
        default=(),
        description="Paths to ask every zone for, and whole URLs, each for the zone of its host.",
        json_schema_extra=right(
            "a path such as /login, or a whole URL such as https://www.shop.example/login"
        ),
    )
    sitemap: Annotated[bool, TRUTH] = Field(
        default=True, description="Whether each host's sitemap is read for more URLs."
    )
    links: Annotated[bool, TRUTH] = Field(
        default=True, description="Whether links of its root page are followed for more URLs."
    )
    sample: Annotated[int, Field(ge=1, le=1_000), NUMBER] = Field(
        default=20, description="URLs of one zone that are asked for, at most."
    )
    rounds: Annotated[int, Field(ge=2, le=10), NUMBER] = Field(
        default=3, description="How often each URL is asked with the secret and without."
    )
    per_second: Annotated[float, Field(gt=0, le=1_000), NUMBER] = Field(
        default=5.0, description="Requests to one host in a second."
    )
    method: Literal["GET", "HEAD"] = Field(
        default="GET", description="GET, or HEAD where bodies do not matter."
    )
    edge: EdgeAddress | None = Field(
        default=None,
        description="Where hosts are reached in place of DNS, such as http://127.0.0.1:8781.",
        json_schema_extra=right("it is written as http://HOST:PORT, without a path"),
    )
    timeout: Duration = Field(
        default=timedelta(seconds=10), description="How long one request may take as a whole."
    )
    ignore_headers: tuple[str, ...] = Field(default=(), description="Response headers that never count.")

    @field_validator("urls")
    @classmethod
    def _each_url_once(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        refuse(_url_troubles(urls))
        return urls


_EVERY = timedelta(minutes=10)

LONGEST_PROBE = timedelta(hours=2)
"""How long the probe of one scope may take, paced per host."""


class EscSpec(AreaSection):
    """How Edge Side Code is turned off.

    A difference that nobody agreed to, or more failing URLs than ``tolerance``, turns it on again. A probe
    that is made anew after the sign-off is covered by it where nothing has changed. The probe waits for a new
    secret (``secret_takes``), since before that works it would see no difference at all.
    """

    scope: Literal["zone", "account"] = Field(
        default="zone",
        description="zone: each by itself. account: whole accounts, each for all its zones at once.",
    )
    probe: ProbeSpec = Field(
        default=ProbeSpec(),
        description="How it is found out what changes: the same URLs asked with and without the secret.",
    )
    observe: Duration = Field(
        default=timedelta(hours=1), description="How long a scope is watched after it was turned off."
    )
    every: Annotated[Duration, AfterValidator(at_least(timedelta(seconds=1)))] = Field(
        default=_EVERY, validate_default=True, description="How often its URLs are asked while it is watched."
    )
    tolerance: Annotated[float, Field(ge=0, lt=1), NUMBER] = Field(
        default=0.0,
        description="The share of URLs that may fail then and did not before; more turns esc on again.",
    )
    effect_limit: Duration = Field(
        default=timedelta(minutes=5),
        description="How long the service may take to show that esc is off, or on again.",
    )
    fresh: Annotated[Duration, AfterValidator(at_least(timedelta(minutes=5)))] = Field(
        default=timedelta(hours=24),
        description="How old a probe may be when it is acted upon; an older one is made again first.",
    )
    secret_takes: Duration = Field(
        default=timedelta(seconds=30),
        description="How long a new secret may take to work at the edge before the probe begins.",
    )

    @field_validator("every")
    @classmethod
    def _fits_what_is_watched(cls, every: timedelta, info: ValidationInfo) -> timedelta:
        if (observe := info.data.get("observe")) is not None:
            check_looks(every, observe, _EVERY, "esc.observe")
        return every

    @property
    def times(self) -> Times:
        """How long a change of one scope takes (edgeshift/areas/area.py)."""
        return Times(
            effect=self.effect_limit,
            watch=self.observe,
            every=self.every,
            fresh=self.fresh,
            first_step_takes=self.secret_takes,
        )

    @property
    def addresses(self) -> dict[str, str]:
        """Where the probe asks in place of DNS: it carries a scope's secret."""
        return {} if self.probe.edge is None else {"probe.edge": self.probe.edge}

    def faster(self, scale: float) -> Self:
        """The same, so many times as fast."""
        update = {
            "observe": shorter(self.observe, scale, 1),
            "every": shorter(self.every, scale, 0.5),
            "effect_limit": shorter(self.effect_limit, scale, 20),
            "fresh": shorter(self.fresh, scale, 60),
            "secret_takes": shorter(self.secret_takes, scale, 0.5),
        }
        return self.model_copy(update=update)

    def troubles(self, targets: Targets | None) -> Iterator[Trouble]:
        """Whole accounts, and a choice among their zones."""
        if targets is None or self.scope != "account":
            return
        for key in ("include", "exclude", "plans"):
            if getattr(targets, key):
                yield (
                    (UP, "targets", key),
                    f"{key} chooses among zones, but esc.scope is account, which stands for every zone of an"
                    " account: name accounts under targets.accounts, or write `esc: {scope: zone}`",
                )

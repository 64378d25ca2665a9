"""The area's own section of a campaign file."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from edgeshift.areas.section import AreaSection, Times, shorter
from edgeshift.model.durations import Duration
from edgeshift.model.validators import at_least, check_looks

_EVERY = timedelta(minutes=1)


class AlwaysHttpsSection(AreaSection):
    """What the setting is set to, and for how long somebody looks."""

    value: Literal["on", "off"] = Field(
        default="on", description="on: http is redirected to https. off: it is answered as it is."
    )
    watch: Duration = Field(
        default=timedelta(minutes=10), description="How long a zone is watched after its setting was changed."
    )
    every: Annotated[Duration, AfterValidator(at_least(timedelta(seconds=1)))] = Field(
        default=_EVERY,
        validate_default=True,
        description="How often the setting is read while it is watched.",
    )
    effect_limit: Duration = Field(
        default=timedelta(minutes=5), description="How long the service may take to show the change."
    )

    @field_validator("every")
    @classmethod
    def _fits_what_is_watched(cls, every: timedelta, info: ValidationInfo) -> timedelta:
        if (watch := info.data.get("watch")) is not None:
            check_looks(every, watch, _EVERY, "always_https.watch")
        return every

    @property
    def times(self) -> Times:
        """How long a change of one zone takes."""
        return Times(effect=self.effect_limit, watch=self.watch, every=self.every)

    def faster(self, scale: float) -> Self:
        """The same, so many times as fast; reading takes its time all the same."""
        update = {
            "watch": shorter(self.watch, scale, 1),
            "every": shorter(self.every, scale, 0.5),
            "effect_limit": shorter(self.effect_limit, scale, 20),
        }
        return self.model_copy(update=update)

"""The rules of turning Always Use HTTPS on, pure: what was read goes in, what follows comes out."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.assessment import Verdict

SETTING = "always_use_https"
"""The setting's name at the service."""


class Reading(BaseModel):
    """What was read of a zone: whether the setting is on."""

    model_config = ConfigDict(frozen=True)

    value: Literal["on", "off"]


def assess(reading: Reading) -> tuple[Verdict, tuple[str, ...]]:
    """What a reading tells of a zone, and why."""
    if reading.value == "on":
        return Verdict.ALREADY_SETTLED, ("Always Use HTTPS is on already",)
    return Verdict.READY, ()


def body() -> dict[str, Any]:
    """What people sign. It is the same for every zone, so that one sign-off counts for all."""
    return {"name": "always_https", "setting": SETTING, "change": {"from": "off", "to": "on"}}

"""The rules of setting Always Use HTTPS, pure: what was read goes in, what follows comes out."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.assessment import Verdict
from edgeshift.model.reasons import Reason
from edgeshift_always_https.reasons import OnOff, SetAlready

SETTING = "always_use_https"
"""The setting's name at the service."""


class Reading(BaseModel):
    """What was read of a zone: whether the setting is on."""

    model_config = ConfigDict(frozen=True)

    value: OnOff


def other(value: OnOff) -> OnOff:
    """The value that it is not."""
    return "off" if value == "on" else "on"


def assess(reading: Reading, wanted: OnOff) -> tuple[Verdict, tuple[Reason, ...]]:
    """What a reading tells of a zone, and why."""
    if reading.value == wanted:
        return Verdict.ALREADY_SETTLED, (SetAlready(value=wanted).reason(),)
    return Verdict.READY, ()


def body(wanted: OnOff) -> dict[str, Any]:
    """What people sign. It is the same for every zone, so that one sign-off counts for all."""
    return {"name": "always_https", "setting": SETTING, "change": {"from": other(wanted), "to": wanted}}


def wanted_of(signed: dict[str, Any]) -> OnOff | None:
    """The value that a signed body sets, or None where it is no body of this area."""
    values: tuple[OnOff, OnOff] = ("on", "off")
    return next((value for value in values if signed == body(value)), None)

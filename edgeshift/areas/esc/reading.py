"""The rules of turning Edge Side Code off (docs/service.md §2.1, §3.1, §4.1, §8), pure: what was read goes
in, what follows comes out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from edgeshift.areas.assessment import Verdict
from edgeshift.areas.esc.sendable import LONGEST_SECRET
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.model.fleet import Wave, Zone
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, Reasons, codes_of
from edgeshift.profiles import ServiceProfile

TEST_SECRET = "edgeshift-"
"""How the secrets begin that edgeshift makes, so that they are told from a customer's own."""

_SECRET_BODY = "esc_test_secret"

CALLS = 12
"""Calls of the service that one scope takes after the plan where all goes well and a secret is set for it,
besides one for each look at what was changed (docs/calls.md).
"""


class Secret(StrEnum):
    """Whose secret a scope has."""

    NONE = "none"
    OWN = "own"
    TEST = "test"


class Reading(BaseModel):
    """What was read of a scope. Never the secret itself. ``covered``: digest of the list of an account's
    zones. ``told``: whether the setting says if it is off; one that shows a secret may show it alone
    (docs/service.md §4.1). ``sendable``: whether the probe can send the secret that it shows. ``refused``:
    what the service said where it does not let the scope have Edge Side Code (docs/service.md §1).
    """

    model_config = ConfigDict(frozen=True)

    always: bool = False
    secret: Secret = Secret.NONE
    covered: str = ""
    told: bool = True
    sendable: bool = True
    refused: str = ""

    @model_serializer(mode="wrap")
    def _as_ever(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What is so of nearly every scope is left out, as before there was such a field."""
        document: dict[str, Any] = handler(self)
        if self.sendable:
            document.pop("sendable", None)
        if not self.refused:
            document.pop("refused", None)
        return document


class Assessment(BaseModel):
    """What reading tells of a scope, and what people should know before they agree to anything."""

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    why: Reasons = ()
    warnings: tuple[str, ...] = ()

    @property
    def causes(self) -> tuple[ReasonCode, ...]:
        """The codes of what stands in the way; none where nothing does."""
        return codes_of(self.why) if self.verdict is Verdict.BLOCKED else ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons, one sentence each."""
        return tuple(map(text_of, self.why))


def whose(secret: str | None) -> Secret:
    """Whose secret this is, by how it begins."""
    if not secret:
        return Secret.NONE
    return Secret.TEST if secret.startswith(TEST_SECRET) else Secret.OWN


def too_late(now: datetime, profile: ServiceProfile) -> Reason | None:
    """Why nothing can be done any more, or None: from the removal date of the profile on, all Edge Side Code
    is gone (docs/service.md §8). ``now``: the service's time.
    """
    if now < profile.esc_removed_at:
        return None
    return Reason(code=ReasonCode.REMOVED, day=profile.esc_removal, at=now.date())


def not_sendable() -> Reason:
    """Why a scope with a secret that no probe can send cannot go on."""
    return Reason(code=ReasonCode.SECRET_NOT_SENDABLE, limit=LONGEST_SECRET)


def assess(reading: Reading, now: datetime, profile: ServiceProfile) -> Assessment:
    """What reading alone tells of a scope. ``now``: the service's time."""
    if gone := too_late(now, profile):
        return Assessment(verdict=Verdict.BLOCKED, why=(gone,))
    if reading.refused:
        why = Reason(code=ReasonCode.NOT_ENTITLED, said=reading.refused)
        return Assessment(verdict=Verdict.BLOCKED, why=(why,))
    if reading.always:
        return Assessment(verdict=Verdict.ALREADY_SETTLED, why=(Reason(code=ReasonCode.ESC_OFF_ALREADY),))
    if not reading.sendable:
        return Assessment(verdict=Verdict.BLOCKED, why=(not_sendable(),))
    warnings = ["until the removal date the test secret stays: the service removes it with a DELETE at most"]
    if reading.secret is Secret.NONE:
        warnings.append(
            "a test secret is set because the service shows none: one that it has and does not show would"
            " be overwritten (docs/service.md §2.1)"
        )
    if reading.secret is Secret.OWN:
        warnings = [
            "it has a secret of its own, which the probe uses and nobody overwrites; should esc have to be"
            " turned on again, the service may drop that secret"
        ]
    return Assessment(verdict=Verdict.READY, warnings=tuple(warnings))


def state(reading: Reading) -> dict[str, Any]:
    """What must not have changed between the sign-off and the change."""
    return reading.model_dump(mode="json", exclude={"told", "sendable"})


def body(target: Zone, probe: dict[str, Any]) -> dict[str, Any]:
    """What people sign: that all requests of the scope go without Edge Side Code, and what that changes."""
    return {
        "name": "disable_esc",
        "scope": target.kind.value,
        "covers": target.covers,
        "change": {"always": True},
        "probe": probe,
    }


def secret_body(target: Zone) -> dict[str, Any]:
    """What stands for setting a test secret: it is made by whoever sends it, and appears nowhere."""
    return {
        "name": _SECRET_BODY,
        "scope": target.kind.value,
        "change": {"with_secret": "made when sent"},
    }


def sets_secret(body: Mapping[str, Any]) -> bool:
    """Whether a body stands for setting a test secret (``secret_body``)."""
    change = body.get("change")
    is_one = isinstance(change, Mapping) and set(change) == {"with_secret"}
    return body.get("name") == _SECRET_BODY and is_one


def work_of_one(terms: EscSpec, target: Zone) -> timedelta:
    """How long one scope takes a place in the window: its probe above all, each host at its own pace."""
    requests = terms.probe.sample * 2 * terms.probe.rounds
    return timedelta(seconds=requests / terms.probe.per_second) + timedelta(seconds=10)


def late(
    targets: Sequence[Zone],
    waves: Sequence[Wave],
    terms: EscSpec,
    window: int,
    calls_a_second: float,
    now: datetime,
    profile: ServiceProfile,
) -> dict[int, datetime]:
    """The targets that cannot be settled before the profile's removal date, by index, and when they could be.

    The time that people take to sign is not counted, so that whoever is named is late for certain. Each wave
    begins when all of the one before have been watched to the end.
    """
    found: dict[int, datetime] = {}
    begins = now
    for wave in waves:
        busy, taken, ends = timedelta(0), 0, begins
        for index in range(wave.first, wave.end):
            target = targets[index]
            taken += target.covers
            work = work_of_one(terms, target)
            paced = timedelta(seconds=CALLS * taken / calls_a_second)
            busy = max(paced, work * -(-taken // window))
            settled = begins + busy + terms.observe
            ends = max(ends, settled)
            if settled >= profile.esc_removed_at:
                found[index] = settled
        begins = ends
    return found

"""Scripted faults: what is to go wrong, at which calls, how often."""

import random
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from edgeshift.testbed.simulator.poison import MUTATIONS, Poisoned, poisoned

FaultKind = Literal[
    "latency",
    "rate_limit",
    "server_error",
    "gateway_timeout",
    "hang",
    "reset",
    "not_json",
    "truncated",
    "null_errors",
    "wrong_types",
    "unknown_enum",
    "poisoned",
]


class FaultMatch(BaseModel):
    """Which requests a fault meets; what is absent matches everything. `call` is a route's name, such as
    `waf.check`, or a prefix with a star, such as `waf.*`; `nth` is the first matching request it meets
    (from 1).
    """

    model_config = ConfigDict(extra="forbid")

    zone: str | None = Field(None, description="the zone's id")
    call: str | None = None
    method: str | None = None
    path: str | None = Field(None, description="a part of the path")
    user: str | None = Field(None, description="the user's id or e-mail")
    credential: str | None = Field(None, description="the credential's label")
    nth: int | None = Field(None, ge=1)

    def covers(
        self, *, zone: str | None, call: str, method: str, path: str, users: tuple[str, str], credential: str
    ) -> bool:
        """Whether a request is one of those meant, its number aside."""
        if self.call is not None:
            star = self.call.endswith("*")
            if not (call.startswith(self.call[:-1]) if star else call == self.call):
                return False
        return (
            (self.zone is None or self.zone == zone)
            and (self.method is None or self.method.upper() == method)
            and (self.path is None or self.path in path)
            and (self.user is None or self.user in users)
            and (self.credential is None or self.credential == credential)
        )


class FaultSpec(BaseModel):
    """One fault. `effect` says whether the request is carried out: `after` means the effect is there and the
    answer goes wrong, `before` means that nothing happens. Seconds on the wire (latency, hang) are real
    seconds, whatever the time scale.
    """

    model_config = ConfigDict(extra="forbid")

    kind: FaultKind
    match: FaultMatch = Field(default_factory=FaultMatch)
    effect: Literal["before", "after"] | None = Field(
        None, description="before for latency, rate_limit and server_error; after for the others, if absent"
    )
    times: int | None = Field(None, ge=1, description="how often it fires; without end if absent")
    probability: float = Field(1.0, ge=0, le=1)
    seed: int = 0
    status: int | None = Field(None, ge=200, le=599, description="of server_error and not_json")
    seconds: float | None = Field(None, ge=0, description="of latency and hang; a hang ends with the client")
    retry_after: int | None = Field(None, ge=0, description="of rate_limit: send Retry-After")
    block: bool = Field(False, description="of rate_limit: block the user as a crossed limit does")
    body: str | None = Field(None, description="of server_error and not_json: the text sent")
    replace: dict[str, Any] = Field(
        default_factory=dict, description="of wrong_types and unknown_enum: JSON pointer -> value"
    )
    mutations: list[str] = Field(
        default_factory=list, description="of poisoned: which mutations; any of them if absent"
    )

    _met: int = PrivateAttr(0)

    @field_validator("mutations")
    @classmethod
    def _known(cls, names: list[str]) -> list[str]:
        if odd := [name for name in names if name not in MUTATIONS]:
            raise ValueError(f"there is no mutation {odd[0]!r}; there are {', '.join(sorted(MUTATIONS))}")
        return names

    @model_validator(mode="after")
    def _consistent(self) -> "FaultSpec":
        if self.kind == "rate_limit" and self.effect == "after":
            raise ValueError("a rate_limit fault never has an effect: leave effect out")
        if self.kind in ALTERING and self.effect == "before":
            raise ValueError(f"a {self.kind} fault alters the real answer, so its effect is after")
        return self

    @property
    def carried_out(self) -> bool:
        """Whether the request's effect takes place."""
        if self.kind in ("latency", *ALTERING):
            return True
        if self.effect is None:
            return self.kind not in ("rate_limit", "server_error")
        return self.effect == "after"

    def name(self) -> str:
        """What the journal calls it, such as `hang:after`."""
        return f"{self.kind}:{'after' if self.carried_out else 'before'}"

    def as_met(self, seen: int) -> "FaultSpec":
        """The fault as its `seen`-th matching request meets it."""
        met = self.model_copy()
        met._met = seen
        return met

    def poison(self, status: int, document: Any, others: Sequence[str]) -> Poisoned:
        """The answer as a poisoned fault leaves it, by its seed and the request's number. `others`:
        identifiers of zones that are not asked for."""
        return poisoned(f"{self.seed}:{self._met}", status, document, others=others, only=self.mutations)

    def strikes(self, seen: int, fired: int) -> bool:
        """Whether it fires at its `seen`-th matching request (from 1), having fired `fired` times."""
        if self.match.nth is not None and seen < self.match.nth:
            return False
        if self.times is not None and fired >= self.times:
            return False
        if self.match.nth is not None and self.times is None and seen > self.match.nth:
            return False
        return self.probability >= 1 or random.Random(f"{self.seed}:{seen}").random() < self.probability


ALTERING = ("null_errors", "wrong_types", "unknown_enum", "poisoned")

HTML_PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Attention Required!</title></head>"
    "<body><h1>Please wait while your request is being verified</h1></body></html>\n"
)

_UNKNOWN_VALUES = {
    "migration_state": "phase_three",
    "new_waf_status": "partially_enabled",
    "old_waf_status": "draining",
    "source": "organization",
    "mode": "adaptive",
    "detection_mode": "hybrid",
    "sensitivity": "extreme",
    "action_mode": "observe",
    "kind": "custom_account",
    "status": "suspended",
    "action": "interrogate",
    "frequency": "medium",
    "dataset": "http_answers",
}


def altered(fault: FaultSpec, document: Any) -> Any:
    """The answer's document as an altering fault leaves it; the given one is not changed."""
    if not isinstance(document, dict):
        return document
    if fault.kind == "null_errors":
        return {**document, "errors": None, "messages": None}
    if fault.replace:
        for pointer, value in fault.replace.items():
            document = _replaced(document, pointer.strip("/").split("/"), value)
        return document
    change = _wrong_type if fault.kind == "wrong_types" else _unknown_enum
    return {**document, "result": change(document.get("result"))}


def _replaced(value: Any, path: list[str], new: Any) -> Any:
    if not path or path == [""]:
        return new
    head, rest = path[0], path[1:]
    if isinstance(value, list) and head.isdigit() and int(head) < len(value):
        return [_replaced(one, rest, new) if i == int(head) else one for i, one in enumerate(value)]
    if isinstance(value, dict):
        return {**value, head: _replaced(value.get(head), rest, new)}
    return {head: _replaced(None, rest, new)}


def _wrong_type(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _wrong_type(one) for key, one in value.items()}
    if isinstance(value, list):
        return {str(number): one for number, one in enumerate(value)}
    if isinstance(value, bool):
        return [value]
    if isinstance(value, str):
        return {"value": value}
    return str(value)


def _unknown_enum(value: Any) -> Any:
    if isinstance(value, list):
        return [_unknown_enum(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _UNKNOWN_VALUES[key] if key in _UNKNOWN_VALUES and isinstance(one, str) else _unknown_enum(one)
        for key, one in value.items()
    }

"""What a measured campaign leaves: what was asked of it and how soon it answered, what the processes used."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from edgeshift.testbed.invariants.seen import Signature, StopRecord

Kind = Literal["status", "sign_off", "pause", "resume"]
KINDS: tuple[Kind, ...] = ("sign_off", "pause", "status", "resume")


class Answered(BaseModel):
    """One thing that was asked of the campaign: when, and how many seconds its answer took.

    ``trouble``: why there was none, in the words of the command line; empty where there was one. The seconds
    are those until then, and count as an answer's.
    """

    kind: Kind
    at: datetime
    seconds: float
    trouble: str = ""


class Standing(BaseModel):
    """The campaign as its summary had it: targets by place, permits that are out, its state."""

    at: datetime
    state: str
    places: dict[str, int]
    permits: int


class Asked(BaseModel):
    """All of one asking: answers, stops and signatures as whoever asked noted them."""

    answers: list[Answered] = []
    standings: list[Standing] = []
    stops: list[StopRecord] = []
    signatures: list[Signature] = []


class Grown(BaseModel):
    """A campaign's execution at a moment: bytes of the state that its run began with, events of that run."""

    at: datetime
    state_bytes: int
    events: int


class Used(BaseModel):
    """What a process, or several together, had used at a moment: resident memory in MB, seconds of CPU."""

    at: datetime
    rss_mb: float
    cpu: float

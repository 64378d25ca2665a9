"""What a campaign carries over a continue-as-new, and what a closed one leaves for zones that begin again."""

from __future__ import annotations

from datetime import datetime

from pydantic import ConfigDict

from edgeshift.messages.base import Message, Person
from edgeshift.messages.results import ToldWrong
from edgeshift.messages.rulings import RulingNote
from edgeshift.messages.zone import ZoneReport
from edgeshift.model.durations import Duration
from edgeshift.model.window import Growth
from edgeshift.rate_limit.circuit import OpenCircuit


class Retried(Message):
    """A piece of a campaign's own work that failed for good, and is tried again ``again_in`` after that."""

    at: datetime
    again_in: Duration
    said: str


class CampaignCarried(Message):
    """A campaign's state. ``ledger``: packed (edgeshift/campaign/ledger.py), in JSON as Base64; empty in a
    run's input, which has it as an argument of its own (``CampaignStart.arguments``). ``wave``: the one that
    has begun last. ``cursor``: where the sweep goes on. ``origin``: the first run of all that took the
    campaign up, also after it had closed. ``holds``: why it stands still by itself. ``stopped_at``: when a
    person paused or aborted it. ``retrying``: what failed of its own work lately. ``unrecorded``: rulings
    that are not in the archive yet. ``recalled``: whether those of earlier runs are known. ``growth``: how
    far a window has grown that sizes itself. ``unasked``: runs of which nobody has asked whether they came
    out of a reset. ``ended``: words of targets that have ended by them, and were not looked at yet.
    ``told_wrong``: targets of which something was told that is not so; ``wrong``: how many.
    ``resumed_by_hand``: a person has had the calls go on that are held, and nobody has let them yet. But for
    ``started_at`` and ``recalled``, the defaults are what a first run begins with.
    """

    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")

    ledger: bytes = b""
    started_at: datetime
    wave: int = 0
    paused: Person | None = None
    aborted: Person | None = None
    notes: tuple[str, ...] = ()
    cursor: int = 0
    sweep_at: datetime | None = None
    origin: str = ""
    holds: tuple[OpenCircuit, ...] = ()
    stopped_at: datetime | None = None
    retrying: tuple[Retried, ...] = ()
    unrecorded: tuple[RulingNote, ...] = ()
    recalled: bool = True
    growth: Growth | None = None
    unasked: tuple[str, ...] = ()
    ended: tuple[ZoneReport, ...] = ()
    told_wrong: tuple[ToldWrong, ...] = ()
    wrong: int = 0
    resumed_by_hand: bool = False

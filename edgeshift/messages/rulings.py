"""Rejections that outlive a run of their campaign: what is recorded of them, and what is found again."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from edgeshift.messages.base import By, Message, Why
from edgeshift.messages.zone import ZoneStart
from edgeshift.model.sign_off import Decision, Digest

RulingVerb = Literal["rejected", "withdrawn", "reopened", "approved"]


class RulingNote(Message):
    """What a campaign has to record: that fingerprints were rejected or approved, in one wave or in all
    (None); that whoever had rejected them thought better of it; or that fingerprints or targets (``indexes``)
    were reopened.

    ``at``: no two notes of a campaign's run have the same.
    """

    verb: RulingVerb
    at: AwareDatetime
    by: By
    reason: Why = ""
    fingerprints: tuple[str, ...] = ()
    wave: int | None = None
    indexes: tuple[int, ...] = ()


class RecordRulings(Message):
    """Record notes of a campaign. ``run``: the first run of all that took the campaign up. ``archive``: see
    ZoneStart.
    """

    campaign: str
    run: str
    targets: Digest
    notes: tuple[RulingNote, ...]
    archive: str = Field(default="", max_length=32)


class RecordRejection(Message):
    """Record that a zone ended by this rejection, at ``at``. ``digest``: of what it had proposed."""

    start: ZoneStart
    digest: str
    decision: Decision
    at: AwareDatetime

"""What a zone's timeline is made of, and the words that several of its tellers share. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field, SerializeAsAny, ValidationError, field_serializer

from edgeshift.model.fleet import DEFAULT_AREA, Area
from edgeshift.model.reasons import Reason
from edgeshift.views.words import moment, one_line, short


class EntryKind(StrEnum):
    """What a line of the timeline is about, in one word."""

    STARTED = "started"
    READ = "read"
    TOLD = "told"
    WAITED = "waited"
    HELD = "held"
    PROBED = "probed"
    WATCHED = "watched"
    SIGNED = "signed"
    PERMIT = "permit"
    SENT = "sent"
    VERIFIED = "verified"
    EVIDENCE = "evidence"
    TICKET = "ticket"
    SUPPORT = "support"
    STOPPED = "stopped"
    OUTCOME = "outcome"
    TROUBLE = "trouble"
    OTHER = "other"


class Entry(BaseModel):
    """One line of the timeline.

    ``at``: when it began; ``took``: seconds until it ended, None where it has no length or goes on.
    ``by``: the person, where a person did it. ``because``: what led to it, a decision or a permit each.
    ``event``: the number in the history. ``technical``: of interest to whoever debugs only. ``outcome``: the
    outcome that it tells, as a value. ``objects``: digests of what the archive holds for it, by what each is.
    ``losses``: what a change did not carry over, each thing as facts. ``undecided``: whether no
    decision on what it sends is on record, where one is needed; the last of ``because`` says so.
    """

    at: datetime
    kind: EntryKind
    text: str
    by: str = ""
    reason: str = ""
    digest: str = ""
    because: list[str] = Field(default_factory=list)
    details: list[str] = Field(default_factory=list)
    took: float | None = None
    event: int
    technical: bool = False
    outcome: str = ""
    objects: dict[str, str] = Field(default_factory=dict)
    losses: list[SerializeAsAny[BaseModel]] = Field(default_factory=list)
    undecided: bool = False


class Sending(BaseModel):
    """A mutating call that was made or may have been made, and whose agreement it carried."""

    step: str
    status: str
    digest: str
    permit: int
    agreed: list[str] = Field(default_factory=list)


class Signed(BaseModel):
    """A decision that reached the zone. ``way``: how; ``refused``: why it cannot count, or empty."""

    by: str
    choice: str
    digest: str
    reason: str = ""
    at: datetime
    way: str
    refused: str = ""


class Attempt(BaseModel):
    """One attempt at the zone: one workflow run, or several where it continued as new. ``held_for``: the
    workflow of the account for which the zone was only held. ``origin``: the first run of its campaign's
    start, empty where the history does not name it. ``causes``: why it ended so, as codes with
    facts; ``reason``: the same for people. ``wave`` counts from 0, and from 1 in JSON.
    """

    number: int
    campaign: str
    origin: str = ""
    wave: int | None = None
    started_by: str = ""
    held_for: str = ""
    run_ids: list[str]
    started_at: datetime
    closed_at: datetime | None = None
    outcome: str = ""
    reason: str = ""
    causes: list[Reason] = Field(default_factory=list)
    record: str = ""
    evidence: str = ""
    doing: str = ""
    tickets: list[str] = Field(default_factory=list)
    sendings: list[Sending] = Field(default_factory=list)
    signed: list[Signed] = Field(default_factory=list)
    entries: list[Entry] = Field(default_factory=list)

    @field_serializer("wave")
    def _wave(self, wave: int | None) -> int | None:
        return None if wave is None else wave + 1

    @property
    def snapshots(self) -> list[str]:
        """Digests of what was read of the target, in this order."""
        return [found for entry in self.entries if (found := entry.objects.get("snapshot"))]


class Timeline(BaseModel):
    """What happened to a zone, oldest attempt first. ``sentence``: what happened, and who agreed. ``kind``:
    ``zone``, or ``account`` for an account as a whole.
    """

    zone: str
    name: str
    area: Area = DEFAULT_AREA
    kind: str = "zone"
    plan: str = ""
    sentence: str
    attempts: list[Attempt]


def part(value: object, key: str) -> dict[str, Any]:
    """The object under ``key``, or an empty one: histories of other versions may lack it."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def listed(value: Mapping[str, Any], key: str) -> list[Any]:
    """The list under ``key``, or an empty one."""
    found = value.get(key)
    return found if isinstance(found, list) else []


def parts(value: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in the list under ``key``."""
    return [item for item in listed(value, key) if isinstance(item, dict)]


def reasons(value: Mapping[str, Any], key: str) -> list[Reason]:
    """The reasons in the list under ``key``, as far as they can be read."""
    found = []
    for item in parts(value, key):
        with suppress(ValidationError):
            found.append(Reason.model_validate(item))
    return found


def time_of(value: object) -> datetime | None:
    """A moment as pydantic or the SDK's core writes it, or None."""
    if isinstance(value, dict) and isinstance(seconds := value.get("seconds"), int):
        return datetime.fromtimestamp(seconds + int(value.get("nanos") or 0) / 1e9, UTC)
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return found if found.tzinfo else None
    return None


def decision_words(decision: Mapping[str, Any], waiting: Mapping[str, str]) -> str:
    """A decision as a permit or an activity carries it: who, what of, when and why.

    ``waiting``: what the digests that wait for a sign-off are of.
    """
    by = one_line(str(decision.get("by") or "somebody"))
    verb = {"approve": "approved", "reject": "rejected"}.get(str(decision.get("choice")), "decided on")
    digest = str(decision.get("digest") or "")
    words = f"{by} {verb} {waiting.get(digest, 'the digest')} {short(one_line(digest))}"
    if at := time_of(decision.get("at")):
        words += f" on {moment(at)}"
    reason = one_line(str(decision.get("reason") or ""))
    return f"{words}: {reason}" if reason else words

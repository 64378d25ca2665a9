"""What verbs that act print with ``--json``: one document each. docs/output.md describes every field."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from edgeshift.model.fleet import Area

if TYPE_CHECKING:
    from edgeshift.cli.shell import Shell


class Receipt(BaseModel):
    """What was asked for, by whom and why, and the answer. ``environment``: the named environment in which,
    or None; ``address``, ``namespace``: at which Temporal.
    """

    verb: str
    campaign: str
    by: str
    reason: str = ""
    environment: str | None = None
    address: str
    namespace: str
    text: str = ""


class Steered(Receipt):
    """Of ``pause``, ``resume`` and ``abort``. The names of zones that an abort leaves: ``in_flight``, whose
    change may be past return; ``in_validation``, which may stay in validation mode.
    """

    in_flight: list[str] = []
    in_validation: list[str] = []


class NotSteered(BaseModel):
    """A campaign of ``pause --all`` or ``resume --all`` of which that failed, and why. ``paused``: it is
    paused all the same; ``signed``: the word is signed all the same.
    """

    campaign: str
    message: str
    hint: str = ""
    paused: bool = False
    signed: bool = False


class SteeredAll(BaseModel):
    """Of ``pause --all`` and ``resume --all``. ``left_out``: campaigns that run and are not meant."""

    campaigns: list[Steered]
    failed: list[NotSteered]
    left_out: list[str]


class BegunAgain(Receipt):
    """Of ``retry`` and ``reopen``: which ``zones`` were named and begin again, or of which ``outcomes`` they
    are; ``skipped``: those that were named and do not.
    """

    zones: list[str] = []
    skipped: list[str] = []
    outcomes: list[str] = []


class ReadAgain(Receipt):
    """Of ``support-resolved``: where the zone is after it was read again; ``read``: whether that is known
    yet.
    """

    zone: str
    read: bool
    needs_support: bool | None = None
    phase: str = ""
    outcome: str | None = None
    reasons: list[str] = []
    tickets: list[str] = []


class Started(Receipt):
    """Of ``start``: what was started. ``waves``: how many zones each has; ``planned_at``: when they were
    read.
    """

    area: Area
    service: str
    zones: int
    waves: dict[str, int]
    targets: str
    planned_at: datetime | None = None
    warnings: list[str] = []


class SignedZone(BaseModel):
    """A zone that was decided on by itself, and exactly which proposal."""

    name: str
    id: str
    digest: str


class Signed(Receipt):
    """Of ``sign-off``: what was decided on, one ``zone`` or ``fingerprints``. ``zones``: how many wait with
    it now; ``separate``: how many more wait for a sign-off of their own; ``not_shown``: fingerprints that
    could not be shown and were left out, each with why.
    """

    choice: str
    wave: int | None = None
    zone: SignedZone | None = None
    fingerprints: list[str] = []
    zones: int = 0
    separate: int = 0
    not_shown: dict[str, str] = {}


class NotSigned(BaseModel):
    """A zone that was not decided on, and why."""

    name: str
    message: str


class SignedEach(Receipt):
    """Of ``sign-off`` with several zones, or with a cause: what was decided on, each by itself. ``failed``:
    zones that were shown and could not be decided on.
    """

    choice: str
    cause: str = ""
    decided: list[SignedZone]
    failed: list[NotSigned]


class Repaired(BaseModel):
    """Of ``repair``: ``task``, the event to which the workflow was reset; ``run``: the new run, or None of a
    dry run; ``signed``: the digest of what was signed, or None.
    """

    verb: str = "repair"
    workflow: str
    by: str
    reason: str
    environment: str | None = None
    address: str
    namespace: str
    why: str
    events: int
    task: int
    broken_run: str
    run: str | None = None
    signed: str | None = None


class KeyMade(BaseModel):
    """Of ``keys make``: the files of the key; what it is, is in none of the output."""

    name: str
    key: str
    private: str
    public: str


class KeyAdded(BaseModel):
    """Of ``keys add``: who may do what with the key now; ``changed``: whether that was not so before."""

    name: str
    key: str
    roles: list[str]
    accounts: list[str]
    roots: str
    changed: bool


class KeysRevoked(BaseModel):
    """Of ``keys revoke``: the keys that were revoked just now; none where all had been already."""

    who: str
    keys: list[str]
    roots: str


class Written(BaseModel):
    """Of ``init`` and ``fleet generate``: the file, and what it is about."""

    file: str
    name: str = ""
    area: Area | None = None
    zones: int | None = None
    accounts: int | None = None
    seed: int | None = None


def common(shell: Shell, verb: str, campaign: str, by: str, reason: str) -> dict[str, Any]:
    """The fields that every receipt has, but its text."""
    return {
        "verb": verb,
        "campaign": campaign,
        "by": by,
        "reason": reason,
        **shell.where,
    }

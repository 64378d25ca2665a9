"""What the data of each kind of line is (docs/audit.md)."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict

from edgeshift.audit.chain import SealStatement
from edgeshift.model.fleet import Target
from edgeshift.model.sign_off import Digest
from edgeshift.stores.documents import Intent, NothingMore
from edgeshift.stores.documents.intents import ClosedAs


class Row(BaseModel):
    """The data of a line."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Header(Row):
    """Of which campaign the file is, when it was written, and by which version of edgeshift."""

    at: AwareDatetime
    campaign: str
    edgeshift: str
    format: int


class SpecRow(Row):
    """A specification as it was signed, with the SHA-256 of its canonical JSON."""

    digest: Digest
    spec: dict[str, Any]


class TargetsRow(Row):
    """A list of targets as it was signed: how many, and the SHA-256 of the array of all."""

    count: int
    digest: Digest


class TargetRow(Row):
    """One target: its place in its list."""

    index: int
    list: Digest
    target: dict[str, Any]

    @property
    def parsed(self) -> Target:
        """The target itself. Raises ValidationError."""
        return Target.model_validate(self.target)


class SignedRow(Row):
    """A statement and its signature, as they lie in the archive. ``stored``: when the archive took it, where
    it matters and the clock of whoever signed it was ahead; not there in files of earlier versions.
    """

    signature: str
    statement: dict[str, Any]
    stored: AwareDatetime | None = None


class BodyRow(Row):
    """The body of requests that differ in what names their zones alone."""

    body: dict[str, Any]
    fingerprint: Digest


class RequestRow(Row):
    """What was about to be sent: the record that was made before it, as it lies in the archive."""

    key: str
    record: dict[str, Any]

    @property
    def parsed(self) -> Intent:
        """The record itself. Raises ValidationError."""
        return Intent.model_validate(self.record)


class AnswerRow(Row):
    """What became of a request, as workers recorded it. ``closed_as``: why nothing more comes of it, which
    files of earlier versions have not; ``nothing_more``: the same in words, for people.
    """

    answered: bool
    closed_as: ClosedAs | None = None
    key: str
    nothing_more: str | None
    seen: bool

    @property
    def closed(self) -> ClosedAs | None:
        """Why nothing more comes of it; None where that is not recorded."""
        if self.nothing_more is None:
            return self.closed_as
        return NothingMore(kind=self.closed_as, reason=self.nothing_more).closed_as


class CampaignRow(Row):
    """How the campaign stood, as Temporal told it: targets by outcome once it had closed."""

    outcomes: dict[str, int]
    run: str
    state: str


class OutcomeRow(Row):
    """How an attempt at a target ended, as Temporal told it. ``campaign_run``: the campaign's first run;
    empty where that is not known.
    """

    attempt: int
    campaign_run: str = ""
    closed: AwareDatetime | None
    digest: str
    index: int
    outcome: str
    reason: str
    record: str
    run: str
    workflow: str


class OddRow(Row):
    """A record of the archive that could not be read, and why."""

    key: str
    why: str


class SealRow(Row):
    """The end: what whoever wrote the file says of it, and their signature; both None where nobody did."""

    signature: str | None
    statement: SealStatement | None

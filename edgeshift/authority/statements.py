"""What people sign: a campaign's start, decisions, words that stop it or let it go on, words that begin zones
again, and that a workflow is repaired; and what workers sign: the results that they have seen. Pure.

Each is canonical JSON (RFC 8785), signed whole (SSHSIG, namespace ``edgeshift``). It says all that it is
about, so that it proves nothing anywhere else: the service, the campaign and its start, the step, the digest,
the zone or wave, and for how long.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_serializer,
)

from edgeshift.authority.sshsig import BadSignature, PublicKey, verify
from edgeshift.messages.base import By, Why
from edgeshift.model.digests import NotCanonical, canonical_bytes, sha256
from edgeshift.model.fleet import MOST_ATTEMPTS, Area, HexId, ZoneOutcome
from edgeshift.model.sign_off import Choice, Digest
from edgeshift.model.steps import Step

Moment = Annotated[AwareDatetime, PlainSerializer(datetime.isoformat, return_type=str, when_used="json")]
Nonce = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Url = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
LONGEST_NAME = 100
Named = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
OptionalDigest = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]

MOST_ZONES = 10_000
MOST_SUBJECTS = 5_000
MOST_WAVES = 101
"""The hundred that a campaign file may have, and that of the targets which they leave over."""
MOST_PLACES = 100
"""Names of outcomes: as many as a message may have."""
MOST_FIELDS = 40
"""More than any statement has."""
LONGEST = 1_000_000
"""Bytes of a signed statement."""


class Signable(BaseModel):
    """What a key signs, whole."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def bytes(self) -> bytes:
        """What is signed."""
        return canonical_bytes(self.model_dump(mode="json"))


class Statement(Signable):
    """What every statement says. ``by``: the name that the key signs for. ``nonce``: drawn anew each time."""

    edgeshift: Literal[1] = 1
    service: Url
    campaign: Named
    area: Area
    by: By
    issued: Moment
    expires: Moment
    nonce: Nonce

    @property
    def digest(self) -> str:
        """The SHA-256 of what is signed."""
        return sha256(self.bytes)


class WaveSaid(BaseModel):
    """A wave of a start: its name and the half-open range of its targets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    first: int
    end: int


class StartStatement(Statement):
    """That a campaign begins: with this specification and these targets (digests in the archive), in these
    waves. ``listed``: it counts only where a worker has recorded that it made the targets, for this
    specification, of what the service listed. A start of an earlier version does not say it, and is written
    without it.
    """

    kind: Literal["start"] = "start"
    spec: Digest
    targets: Digest
    count: Annotated[int, Field(ge=0)]
    waves: Annotated[tuple[WaveSaid, ...], Field(max_length=MOST_WAVES)]
    listed: bool = False

    @model_serializer(mode="wrap")
    def _as_signed(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = written(self)
        if not self.listed:
            found.pop("listed", None)
        return found


class DecisionStatement(Statement):
    """A decision on proposals. ``start``: digest of the start that it belongs to. ``about``: whether
    ``subjects`` has the digest of one zone's proposal, or fingerprints of many; of a proposal, ``zone`` and
    ``attempt`` say of which. ``wave``: it counts for the zones of that wave alone (from 0). ``shown``: of
    one zone's proposal, the digest under which the archive has it, as its signer was told; empty where
    fingerprints are decided on. Nobody checks it. ``evidence``: digest of the zone's evidence.
    """

    kind: Literal["decision"] = "decision"
    start: Digest
    step: Step
    choice: Choice
    about: Literal["proposal", "fingerprint"]
    subjects: Annotated[tuple[Digest, ...], Field(min_length=1, max_length=MOST_SUBJECTS)]
    zone: HexId | None = None
    attempt: int | None = None
    wave: int | None = None
    shown: Annotated[tuple[Digest, ...], Field(max_length=MOST_SUBJECTS)] = ()
    evidence: OptionalDigest = ""
    reason: Why = ""


class WordStatement(Statement):
    """A word that stops a campaign or lets it go on. ``number``: it is the last word of the campaign where
    none has a higher one.
    """

    kind: Literal["word"] = "word"
    start: Digest
    word: Literal["pause", "resume", "abort"]
    number: Annotated[int, Field(ge=1, le=1_000_000)]
    reason: Why = ""


class AgainStatement(Statement):
    """That zones are begun again. ``zones``: which, by identifier; none: all that are at ``places``."""

    kind: Literal["again"] = "again"
    start: Digest
    verb: Literal["retry", "reopen", "support-resolved"]
    zones: Annotated[tuple[HexId, ...], Field(max_length=MOST_ZONES)] = ()
    places: Annotated[tuple[str, ...], Field(max_length=MOST_PLACES)] = ()
    reason: Why = ""

    def covers(self, zone: str) -> bool:
        """Whether a zone may have been begun again by it."""
        return zone in self.zones or not self.zones

    def voids(self, zone: str) -> bool:
        """Whether what somebody had rejected of a zone is decided anew by it. A reopening of all zones leaves
        the rejected ones as they are, unless they are what it reopens: so does the campaign.
        """
        if self.verb != "reopen":
            return False
        return zone in self.zones or not (self.zones or (self.places and "rejected" not in self.places))


class RepairStatement(Statement):
    """That a workflow of a campaign is reset: which run of it, and to which workflow task (the number of the
    event with which that was completed).
    """

    kind: Literal["repair"] = "repair"
    start: Digest
    workflow: Identifier
    run: Identifier
    task: Annotated[int, Field(ge=1)]
    reason: Why = ""


class ResultStatement(Statement):
    """What a worker has read of a target at the service, in an attempt of a campaign: by its own key, which
    permits nothing. ``run``: the campaign's first one; ``spec``: digest of its specification. ``proposal``:
    digest of the proposal that is in force, or was undone; empty where none of the campaign's is. ``seen``:
    digest of what the archive has of the reading.
    """

    kind: Literal["result"] = "result"
    run: Named
    spec: Digest
    zone: HexId
    attempt: Annotated[int, Field(ge=1, le=MOST_ATTEMPTS)]
    outcome: ZoneOutcome
    proposal: OptionalDigest = ""
    seen: OptionalDigest = ""


AnyStatement = (
    StartStatement | DecisionStatement | WordStatement | AgainStatement | RepairStatement | ResultStatement
)

_ANY: TypeAdapter[AnyStatement] = TypeAdapter(Annotated[AnyStatement, Field(discriminator="kind")])


class BadStatement(ValueError):
    """What is no signed statement, or whose signature does not verify. The text says why."""


class ElsewhereSigned(BadStatement):
    """It says that it is of another campaign than it was looked for. ``digest``: of the bytes that stand for
    the statement, whoever has signed it; empty where it does not lie there as statements are written.
    """

    def __init__(self, digest: str) -> None:
        super().__init__("it is of another campaign")
        self.digest = digest


class Attested(BaseModel):
    """A statement and the key that signed it. Whether that key is its owner's is for the roots to say.
    ``stored``: when the archive took it, by the store's clock, where that was asked (``orders``).
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    statement: Annotated[AnyStatement, Field(discriminator="kind")]
    key: PublicKey
    stored: AwareDatetime | None = None

    @cached_property
    def digest(self) -> str:
        """The statement's."""
        return self.statement.digest


def stops(statement: Statement) -> bool:
    """Whether a statement stops something: a pause, an abort, a rejection."""
    match statement:
        case DecisionStatement():
            return statement.choice is Choice.REJECT
        case WordStatement():
            return statement.word != "resume"
        case _:
            return False


def orders(statement: Statement) -> bool:
    """Whether it matters what a statement came before and after: it stops something, or begins it, also
    again.
    """
    return stops(statement) or isinstance(statement, AgainStatement | StartStatement)


def sealed(statement: Statement, signature: str) -> bytes:
    """A signed statement as it lies in the archive, and as it may be handed over in a file."""
    return canonical_bytes({"statement": statement.model_dump(mode="json"), "signature": signature})


def opened(data: bytes, campaign: str | None = None) -> Attested:
    """The statement in these bytes, its signature verified. ``campaign``: of which it has to be; that is
    looked at before anything that takes long. Raises BadStatement.
    """
    if len(data) > LONGEST:
        raise BadStatement(f"it is longer than {LONGEST:,} bytes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise BadStatement("it is not JSON") from None
    if not isinstance(found, Mapping) or set(found) != {"statement", "signature"}:
        raise BadStatement("it is no signed statement")
    said, signature = found["statement"], found["signature"]
    if not isinstance(signature, str) or not isinstance(said, Mapping):
        raise BadStatement("it is no signed statement")
    if campaign is not None and said.get("campaign") != campaign:
        raise ElsewhereSigned(_digest_within(data, signature))
    return attested(said, signature)


def _digest_within(data: bytes, signature: str) -> str:
    """The digest of a statement as ``sealed`` writes it beside its signature; empty of what it has not
    written.
    """
    try:
        before = canonical_bytes({"signature": signature, "statement": None}).removesuffix(b"null}")
    except NotCanonical:
        return ""
    return sha256(data[len(before) : -1]) if data.startswith(before) and data.endswith(b"}") else ""


def attested(statement: Any, signature: str) -> Attested:
    """The statement that this JSON is, its signature verified. Raises BadStatement."""
    if isinstance(statement, Mapping) and len(statement) > MOST_FIELDS:
        raise BadStatement(f"it has more than {MOST_FIELDS} fields")
    try:
        # First: it takes no long while, whatever lies there.
        read = _ANY.validate_python(_plain(statement))
        signed = canonical_bytes(statement)
        key = verify(signed, signature)
    except RecursionError:
        raise BadStatement("it is nested too deep") from None
    except (NotCanonical, BadSignature) as why:
        raise BadStatement(str(why)) from None
    except ValidationError as why:
        (first, *_) = why.errors(include_url=False, include_context=False, include_input=False)
        place = ".".join(map(str, first["loc"])) or "it"
        raise BadStatement(f"{place}: {first['msg'][:80]}") from None
    if read.bytes != signed:
        raise BadStatement("it is written in another way than it is read")
    return Attested(statement=read, key=key)


def _plain(statement: Any) -> Any:
    """JSON lists as the tuples that the models have."""
    return json.loads(json.dumps(statement)) if isinstance(statement, Mapping) else statement

"""Rule 12: who signed what was sent, as statements in the archive prove it to whoever made the keys. Nothing
here is of edgeshift's own reading of signatures: the format is OpenSSH's (SSHSIG), over the canonical JSON
(RFC 8785) of a statement, and the keys are Ed25519.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from edgeshift.testbed.invariants.requests import Request, Seen

NAMESPACE = b"edgeshift"
CLOCKS_APART = timedelta(seconds=2)
"""How far moments may be apart that are of one clock: statements name whole seconds."""


CLOCK_AHEAD = timedelta(minutes=5)
"""From when on a signer's clock is ahead of the archive's."""


class KeyHeld(Seen):
    """A person's key, as whoever made it knows it. ``key``: the public key's bytes in base64. ``accounts``:
    identifiers of the only accounts whose zones the person decides on; none: of any.
    """

    name: str
    key: str
    roles: frozenset[str]
    accounts: frozenset[str] = frozenset()


class Roster(Seen):
    """Whose signatures count, and the least that is asked for."""

    keys: tuple[KeyHeld, ...]
    required: int = 1
    four_eyes: bool = False


class Signed(Seen):
    """A statement in the archive whose signature verifies. ``key``: that signed it. ``digest``: of what is
    signed. ``zones``: of a start, those of its targets, in their order; ``approvers``: those whom its
    specification lists, none where anybody may approve; ``one_by_one``: whether that has each zone signed for
    itself. ``stored``: when all of it was in the archive, where it is found; None where it never was.
    """

    statement: dict[str, Any]
    key: str
    digest: str
    zones: tuple[str, ...] = ()
    approvers: frozenset[str] = frozenset()
    one_by_one: bool = False
    stored: datetime | None = None

    def at(self, field: str) -> datetime:
        """A moment of the statement."""
        return datetime.fromisoformat(self.statement[field])

    @property
    def since(self) -> datetime:
        """When it was said; by a clock that was ahead, when it was in the archive."""
        issued = self.at("issued")
        return issued if self.stored is None or issued <= self.stored + CLOCK_AHEAD else self.stored


class EvidenceFile(Seen):
    """What a validation window of a zone showed, or the probe of a scope, as it lies in the archive.
    ``proposal``: digest of what it is about.
    """

    area: str = "waf"
    digest: str
    zone: str
    proposal: str
    verdict: str


def verified(data: bytes) -> Signed | None:
    """The signed statement that these bytes are; None where they are none, or its signature does not
    verify.
    """
    try:
        document = json.loads(data)
        statement, armored = document["statement"], document["signature"]
        signed = rfc8785.dumps(statement)
        key = _key_of(signed, armored)
    except (ValueError, KeyError, TypeError, InvalidSignature, struct.error):
        return None
    return Signed(statement=statement, key=key, digest=hashlib.sha256(signed).hexdigest())


def _key_of(signed: bytes, armored: str) -> str:
    """The key, in base64, that signed these bytes."""
    lines = armored.strip().splitlines()
    blob = base64.b64decode("".join(lines[1:-1]), validate=True)
    if blob[:10] != b"SSHSIG" + struct.pack(">I", 1):
        raise ValueError("no SSH signature")
    key, namespace, reserved, algorithm, signature = _strings(blob[10:])
    if namespace != NAMESPACE:
        raise ValueError("for another purpose")
    digest = hashlib.new(algorithm.decode(), signed).digest()
    message = b"SSHSIG" + b"".join(map(_string, (namespace, reserved, algorithm, digest)))
    kind, public = _strings(key)
    also, raw = _strings(signature)
    if kind != also or kind != b"ssh-ed25519":
        raise ValueError("a key of another kind")
    Ed25519PublicKey.from_public_bytes(public).verify(raw, message)
    return base64.b64encode(key).decode()


def _strings(data: bytes) -> Iterator[bytes]:
    """The strings that the wire format has one after the other."""
    while data:
        (size,) = struct.unpack_from(">I", data)
        yield data[4 : 4 + size]
        data = data[4 + size :]


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


@dataclass(frozen=True)
class Sent:
    """A request, and what else is known of it. ``sending``: how long a step may take from its last check to
    its last byte. ``attempts``: those of which something was about to be sent then; none where that is not
    known. ``services``: addresses that the zone's campaigns are about; none where that is not known.
    """

    request: Request
    roster: Roster
    statements: tuple[Signed, ...]
    account: str = ""
    sending: timedelta = timedelta(0)
    attempts: frozenset[int] = frozenset()
    services: frozenset[str] = frozenset()

    @property
    def zone(self) -> str:
        """Of the request."""
        return self.request.zone or ""

    @property
    def settled(self) -> datetime:
        """What was signed later may not have been there when the request was checked."""
        return self.request.time - self.sending - CLOCKS_APART

    def of_kind(self, kind: str) -> list[Signed]:
        """The statements of a kind that were signed by then."""
        until = self.request.time + CLOCKS_APART
        return [one for one in self.statements if one.statement["kind"] == kind and one.at("issued") <= until]

    def starts(self) -> list[Signed]:
        """The starts that counted, of whatever campaign of this area and service."""
        return [
            one
            for one in self.of_kind("start")
            if self.holds(one, "starter")
            and self._in_time(one)
            and one.statement["area"] == self.request.area
            and (not self.services or one.statement["service"] in self.services)
        ]

    def decisions(self) -> list[Signed]:
        """The decisions that counted."""
        return [one for one in self.of_kind("decision") if self.holds(one, "approver") and self._in_time(one)]

    def holds(self, one: Signed, role: str) -> bool:
        """Whether a statement was signed with its author's own key, who has the role."""
        name = one.statement["by"]
        held = [
            key for key in self.roster.keys if key.name == name and key.key == one.key and role in key.roles
        ]
        elsewhere = role == "approver" and held and held[0].accounts and self.account not in held[0].accounts
        return bool(held) and not elsewhere

    def is_settled(self, one: Signed) -> bool:
        """Whether a statement was there when the request was checked, whenever that was."""
        return one.stored is not None and max(one.at("issued"), one.stored) <= self.settled

    def _in_time(self, one: Signed) -> bool:
        return self.request.time < one.at("expires") + self.sending


def unsigned_by_key(
    sent: Sent,
    known: Collection[str],
    evidence: Iterable[EvidenceFile] = (),
    *,
    required: int = 1,
    valid_for: timedelta | None = None,
) -> str | None:
    """Why the keys of too few people have signed a request, or None. ``known``: digest and fingerprint under
    which it can have been.
    """
    moment, zone = sent.request.time, sent.zone
    # Others are not validated: what the archive has of evidence of theirs, anybody may have laid there.
    validated = sent.request.area != "waf" or sent.request.plan in (None, "enterprise")
    files = [one for one in evidence if validated and one.area == sent.request.area]
    starts, decisions = sent.starts(), sent.decisions()
    if not starts:
        return NOBODYS
    found, rejected = 0, None
    for start in starts:
        if _is_superseded(start, starts, sent.settled) or zone not in start.zones:
            continue
        reopened = _reopened(sent, start)
        rejections = [one for one in sent.of_kind("decision") if _rejects(sent, one, start, known)]
        standing = [
            one
            for one in rejections
            if sent.is_settled(one) and not any(one.since < again.since for again in reopened)
        ]
        if standing:
            rejected = standing[0].statement["by"]
            continue
        # Decided anew: what was signed before a rejected zone was reopened does not count.
        anew = [
            again.since
            for again in reopened
            if sent.is_settled(again)
            and any(sent.is_settled(one) and one.since < again.since for one in rejections)
        ]
        since = max(anew, default=None)
        mine = [
            one
            for one in decisions
            if _approves(sent, one, start, known)
            and (since is None or one.at("issued") >= since)
            and (valid_for is None or moment < one.at("issued") + valid_for + sent.sending)
            and _joins(one, zone, known, files)
        ]
        found = max(found, _people(mine, start, sent.roster))
    needed = max(required, sent.roster.required)
    if found >= needed:
        return None
    if rejected is not None and not found:
        return f"by key: {rejected} had rejected it"
    return f"by key: {found} of {needed} people had signed it"


NOBODYS = "by key: nobody who may has signed the campaign's start"


def _is_superseded(start: Signed, starts: Iterable[Signed], settled: datetime) -> bool:
    """Whether the campaign was started anew before that moment."""
    return any(
        one.statement["campaign"] == start.statement["campaign"]
        and start.at("issued") < one.at("issued") <= settled
        for one in starts
    )


def is_here(one: Signed, start: Signed) -> bool:
    """Whether a statement is about the campaign of this start, at its service and in its area."""
    return all(one.statement[field] == start.statement[field] for field in ("campaign", "service", "area"))


def _approves(sent: Sent, one: Signed, start: Signed, known: Collection[str]) -> bool:
    said = one.statement
    return bool(
        said["choice"] == "approve"
        and said["start"] == start.digest
        and _is_about(sent, one, start, known)
        and (said["about"] != "proposal" or not sent.attempts or said["attempt"] in sent.attempts)
    )


def _rejects(sent: Sent, one: Signed, start: Signed, known: Collection[str]) -> bool:
    """Whether somebody who may has rejected it: for whichever start and attempt, and whatever its time. Whom
    the file lists, and that it has each zone signed for itself, says something of its own start alone.
    """
    own = one.statement["start"] == start.digest
    named = not own or not start.approvers or one.statement["by"] in start.approvers
    return bool(
        named
        and sent.holds(one, "approver")
        and one.statement["choice"] == "reject"
        and not (own and start.one_by_one and one.statement["about"] == "fingerprint")
        and _is_about(sent, one, start, known)
    )


def _is_about(sent: Sent, one: Signed, start: Signed, known: Collection[str]) -> bool:
    """Whether a decision is about this commit: its step, body, zone and wave."""
    said = one.statement
    return bool(
        said["step"] == "commit"
        and is_here(one, start)
        and said["wave"] in (None, _wave_of(sent.zone, start))
        and said["zone"] in ((sent.zone,) if said["about"] == "proposal" else (None, sent.zone))
        and set(said["subjects"]) & set(known)
    )


def _wave_of(zone: str, start: Signed) -> int:
    """The wave that a zone is in, as the start has it; -1 where it is in none."""
    place = start.zones.index(zone)
    waves = enumerate(start.statement["waves"])
    return next((number for number, wave in waves if wave["first"] <= place < wave["end"]), -1)


def _reopened(sent: Sent, start: Signed) -> list[Signed]:
    """The words of operators that have reopened what was rejected of the zone: those of all zones only where
    they are about rejected ones.
    """
    return [
        one
        for one in begun_again(sent, start)
        if one.statement["verb"] == "reopen"
        and (one.statement["zones"] or "rejected" in (one.statement["places"] or ["rejected"]))
    ]


def begun_again(sent: Sent, start: Signed) -> list[Signed]:
    """The words of operators that begin the zone again, in whichever start of the campaign."""
    return [
        one
        for one in sent.of_kind("again")
        if sent.holds(one, "operator")
        and one.statement["verb"] in ("retry", "reopen")
        and (not one.statement["zones"] or sent.zone in one.statement["zones"])
        and is_here(one, start)
    ]


def _joins(one: Signed, zone: str, known: Collection[str], evidence: Iterable[EvidenceFile]) -> bool:
    """Whether a decision is about the zone's evidence too, where that did not pass: then only one counts that
    names it.
    """
    mine = [file for file in evidence if file.zone == zone and file.proposal in known]
    if not mine or any(file.verdict == "pass" for file in mine):
        return True
    said = one.statement
    return said["about"] == "proposal" and said["evidence"] in {file.digest for file in mine}


def _people(decisions: Iterable[Signed], start: Signed, roster: Roster) -> int:
    """How many people these are: each by one name and one key."""
    names: set[str] = set()
    keys: set[str] = set()
    for one in decisions:
        name = str(one.statement["by"]).casefold()
        starter = name == str(start.statement["by"]).casefold() or one.key == start.key
        if (roster.four_eyes and starter) or name in names or one.key in keys:
            continue
        names.add(name)
        keys.add(one.key)
    return len(names)

"""Rule 1 by people's keys: who signed what was sent, as statements in the archive prove it to whoever made
the keys. Nothing here is of edgeshift's own reading of signatures: the format is OpenSSH's (SSHSIG), over the
canonical JSON (RFC 8785) of a statement, and the keys are Ed25519.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from edgeshift.testbed.invariants.requests import Request, Seen

NAMESPACE = b"edgeshift"
CLOCKS_APART = timedelta(seconds=2)
"""How far moments may be apart that are of one clock: statements name whole seconds."""


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
    signed. ``zones``: of a start, those of its targets, in their order.
    """

    statement: dict[str, Any]
    key: str
    digest: str
    zones: tuple[str, ...] = ()

    def at(self, field: str) -> datetime:
        """A moment of the statement."""
        return datetime.fromisoformat(self.statement[field])


class EvidenceFile(Seen):
    """What a validation window of a zone showed, as it lies in the archive. ``proposal``: digest of what it
    is about.
    """

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


def unsigned_by_key(
    request: Request,
    known: Collection[str],
    roster: Roster,
    statements: Iterable[Signed],
    evidence: Iterable[EvidenceFile] = (),
    *,
    account: str = "",
    required: int = 1,
    valid_for: timedelta | None = None,
    sending: timedelta = timedelta(0),
) -> str | None:
    """Why the keys of too few people have signed a request, or None. ``known``: digest and fingerprint under
    which it can have been. ``sending``: how long a step may take from its last check to its last byte.
    """
    moment, some = request.time, list(statements)
    counted = [one for one in some if _counts(one, roster, moment, sending, account)]
    starts = [one for one in counted if one.statement["kind"] == "start"]
    if not starts:
        return "by key: nobody who may has signed the campaign's start"
    # One that was signed while the request was under way may not have been there when it was checked.
    settled = moment - sending - CLOCKS_APART
    found = 0
    for start in starts:
        if _is_superseded(start, starts, settled) or request.zone not in start.zones:
            continue
        mine = [
            one
            for one in counted
            if _approves(one, start.digest, request.zone or "", known)
            and (valid_for is None or moment < one.at("issued") + valid_for + sending)
            and _joins(one, request.zone or "", known, evidence)
        ]
        found = max(found, _people(mine, start, roster))
    needed = max(required, roster.required)
    if found >= needed:
        return None
    return f"by key: {found} of {needed} people had signed it"


def _counts(one: Signed, roster: Roster, moment: datetime, sending: timedelta, account: str) -> bool:
    """Whether a statement counted then: its author's own key, and role."""
    statement = one.statement
    role = {"start": "starter", "decision": "approver"}.get(statement["kind"])
    held = [
        key for key in roster.keys if key.name == statement["by"] and key.key == one.key and role in key.roles
    ]
    elsewhere = role == "approver" and held and held[0].accounts and account not in held[0].accounts
    in_time = one.at("issued") <= moment + CLOCKS_APART and moment < one.at("expires") + sending
    return bool(held) and not elsewhere and in_time


def _is_superseded(start: Signed, starts: Iterable[Signed], settled: datetime) -> bool:
    """Whether the campaign was started anew before that moment."""
    return any(
        one.statement["campaign"] == start.statement["campaign"]
        and start.at("issued") < one.at("issued") <= settled
        for one in starts
    )


def _approves(one: Signed, start: str, zone: str, known: Collection[str]) -> bool:
    said = one.statement
    return bool(
        said["kind"] == "decision"
        and said["choice"] == "approve"
        and said["step"] == "commit"
        and said["start"] == start
        and said["zone"] in (None, zone)
        and set(said["subjects"]) & set(known)
    )


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

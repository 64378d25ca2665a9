"""Records of the archive that a worker signs: what is about to be sent, what came of it, what was there
before, and that evidence was gathered. Pure.

The signature lies within the record, under ``signed``, so that record and signature are created in one go. It
is of the archive's name of the record, of its contents and of the time: moved to another name, or changed, it
is none. It permits nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from edgeshift.authority.roots import Role, Roots
from edgeshift.authority.sshsig import BadSignature, PublicKey, verify
from edgeshift.authority.statements import Moment, Signable
from edgeshift.messages.base import By
from edgeshift.model.digests import NotCanonical, canonical_bytes, sha256
from edgeshift.model.sign_off import Digest

SIGNED = "signed"
"""The field of a record that holds its signature."""

MOST_KNOWN, LARGEST_KNOWN = 4_000, 4_000
"""Records of which a process remembers who has signed them, and how large they may be in bytes: most have
about one kilobyte.
"""


class RecordStatement(Signable):
    """What a worker signs of a record. ``key``: the archive's name of it; ``record``: the SHA-256 of its
    canonical JSON without the signature. It is no statement of ``signed/``, and counts nowhere else.
    """

    edgeshift: Literal[1] = 1
    kind: Literal["record"] = "record"
    key: str
    record: Digest
    by: By
    issued: Moment


class _Seal(BaseModel):
    """What a record holds of its signature."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: By
    issued: Moment
    signature: str


def statement_of(key: str, contents: Mapping[str, Any], by: str, issued: datetime) -> RecordStatement:
    """What is signed of a record with these contents under this name. Raises NotCanonical."""
    record = sha256(canonical_bytes({name: contents[name] for name in contents if name != SIGNED}))
    return RecordStatement(key=key, record=record, by=by, issued=issued)


def sealed(contents: Mapping[str, Any], statement: RecordStatement, signature: str) -> bytes:
    """The bytes of a record with its signature."""
    seal = _Seal(by=statement.by, issued=statement.issued, signature=signature)
    return canonical_bytes({**contents, SIGNED: seal.model_dump(mode="json")})


def refused(key: str, data: bytes, roots: Roots, now: datetime) -> str | None:
    """Why the record with these bytes was signed by no worker that the roots know, or None where one did.

    A key counts as of when it signed: one that was replaced since has told the truth, one that was revoked
    not.
    """
    found = _known(key, data) if len(data) <= LARGEST_KNOWN else _signed(key, data)
    if isinstance(found, str):
        return found
    signer, seal = found
    return roots.refuses_key(signer, seal.by, Role.WORKER, seal.issued, now)


@lru_cache(maxsize=MOST_KNOWN)
def _known(key: str, data: bytes) -> tuple[PublicKey, _Seal] | str:
    """``_signed`` of bytes that the steps of a target read again and again."""
    return _signed(key, data)


def _signed(key: str, data: bytes) -> tuple[PublicKey, _Seal] | str:
    """Who has signed these bytes under this name, or why nobody has: whatever the roots say, and whenever it
    is asked.
    """
    try:
        contents = json.loads(data)
    except (ValueError, RecursionError):
        return "it is not JSON"
    if not isinstance(contents, Mapping) or SIGNED not in contents:
        return "no worker has signed it"
    try:
        seal = _Seal.model_validate(contents[SIGNED])
        statement = statement_of(key, contents, seal.by, seal.issued)
        return verify(statement.bytes, seal.signature), seal
    except ValidationError:
        return "its signature is none"
    except (NotCanonical, BadSignature) as why:
        return f"its signature does not verify: {why}"

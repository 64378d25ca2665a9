"""Whether the end of an audit file was signed, and by whom. Pure."""

from __future__ import annotations

from pydantic import ValidationError

from edgeshift.audit.chain import Line
from edgeshift.audit.proof import Sealed
from edgeshift.audit.rows import SealRow
from edgeshift.authority.roots import Roots
from edgeshift.authority.sshsig import BadSignature, rearmored, verify
from edgeshift.model.digests import canonical_bytes

SEALED_BY_NOBODY = "nobody signed its end: lines may have been left out or changed"


def read_seal(line: Line, campaign: str, roots: Roots, *, unsealed: bool) -> Sealed | str | None:
    """Who has sealed the file of which this is the last line, or why nobody has; None where nobody did and
    that is taken (``unsealed``).
    """
    try:
        row = SealRow.model_validate(line.data)
    except ValidationError:
        return "its seal is none"
    if row.statement is None or row.signature is None:
        whole = (row.statement is None) == (row.signature is None)
        return None if unsealed and whole else SEALED_BY_NOBODY
    seal = row.statement
    if canonical_bytes(line.data["statement"]) != seal.bytes:
        # As read it would be what was signed.
        return "its seal is written in another way than seals are"
    try:
        if rearmored(row.signature) != row.signature:
            raise BadSignature("it is written in another way than signatures are")
        key = verify(seal.bytes, row.signature)
    except BadSignature as bad:
        return f"its seal is not signed: {bad}"
    if why := roots.signers.may_sign(key, seal.by, seal.at):
        return f"its seal does not count: {why}"
    if seal.campaign != campaign:
        return "its seal is that of another file"
    if seal.count != line.number - 1 or seal.head != line.before:
        return "its seal is that of a file with other lines"
    return Sealed(name=seal.by, key=key.id, at=seal.at)

"""The seal of an audit file: whose signature stands under its end, and why one counts for nothing."""

from __future__ import annotations

from pydantic import ValidationError

from edgeshift.audit.chain import Line
from edgeshift.audit.proof import Sealed
from edgeshift.audit.rows import SealRow
from edgeshift.authority.roots import Roots
from edgeshift.authority.sshsig import BadSignature, rearmored, verify
from edgeshift.model.digests import canonical_bytes

_BY_NOBODY = "nobody signed its end: lines may have been left out or changed"


def seal_of(line: Line, campaign: str, roots: Roots, *, unsealed: bool) -> Sealed | str | None:
    """Who has sealed the file that ends with this line; or why nobody has, in words; None where nobody has
    and that is asked for (``unsealed``).
    """
    try:
        row = SealRow.model_validate(line.data)
    except ValidationError:
        return "its seal is none"
    if row.statement is None or row.signature is None:
        half = (row.statement is None) != (row.signature is None)
        return _BY_NOBODY if half or not unsealed else None
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

"""What people have signed elsewhere, once it is handed in: looked at, then recorded in the archive."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from edgeshift.authority.records import SignedRecords
from edgeshift.authority.roots import SKEW_AHEAD, Role, Roots
from edgeshift.authority.statements import Statement, opened, sealed
from edgeshift.operations.errors import Refused
from edgeshift.operations.not_counted import would_not_count
from edgeshift.stores.archive import Archive

SignedStatement = tuple[Statement, str]
"""A statement and its signature."""


def matching(
    drafts: Sequence[Statement], signed: Sequence[SignedStatement], roots: Roots | None
) -> list[SignedStatement]:
    """What was signed elsewhere, if it is about exactly what would be signed now. Raises Refused where it is
    not, where it has expired, and where roots that are known here would not count it.
    """
    left = list(signed)
    for draft in drafts:
        differs: list[str] = []
        for found in left:
            if not (differs := differences(found[0], draft)):
                left.remove(found)
                break
        else:
            what = f"another {', '.join(differs)}" if differs else "a statement is missing"
            raise _not_what_waits(what)
    if left:
        raise _not_what_waits("something of it no longer waits")
    now = datetime.now(UTC)
    for statement, signature in signed:
        if statement.issued > now + SKEW_AHEAD or not now < statement.expires:
            raise Refused("what was signed has expired, or is from the future", "print and sign it once more")
        if roots is not None and (
            why := roots.refuses(opened(sealed(statement, signature)), Role.APPROVER, now)
        ):
            raise would_not_count(why, roots)
    return list(signed)


def _not_what_waits(what: str) -> Refused:
    return Refused(
        f"what was signed is not what waits now: {what}",
        "print what waits now (--print), look at it, and sign that",
    )


async def record(archive: Archive, signed: Sequence[SignedStatement]) -> None:
    """Record what was signed elsewhere. Raises ArchiveError."""
    records = SignedRecords(archive)
    for statement, signature in signed:
        await records.put(statement, signature)


def differences(one: Statement, other: Statement) -> list[str]:
    """The fields in which two statements are about different things: not when they were made."""
    anew = {"issued", "expires", "nonce"}
    if type(one) is not type(other):
        return ["kind"]
    ours, theirs = one.model_dump(exclude=anew), other.model_dump(exclude=anew)
    return [field for field in ours | theirs if ours.get(field) != theirs.get(field)]

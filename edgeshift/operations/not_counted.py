"""What is refused before it is signed: by the roots that are known here, nothing would come of it."""

from __future__ import annotations

from edgeshift.authority.roots import Role, Roots
from edgeshift.operations.errors import Refused


def would_not_count(why: str, roots: Roots, role: Role = Role.APPROVER) -> Refused:
    """That what somebody signs would not count, by roots that are known here; ``why``: as these say it."""
    where = f" in the roots {roots.place}" if roots.place else " in the roots that are known here"
    return Refused(
        f"it would not count: {why}{where}; nothing was signed, and nothing sent",
        f"`edgeshift keys list` shows who may do what; somebody who is {role.value} there signs it, or"
        f" `edgeshift keys add NAME --key FILE.pub --role {role.value}` gives the role, in the roots",
    )


def no_key(roots: Roots, role: Role) -> Refused:
    """That nothing would come of what somebody asks for without a key, by roots that are known here."""
    where = f"the roots {roots.place}" if roots.place else "the roots that are known here"
    return Refused(
        f"there is no key to sign with, and by {where} signatures alone count; nothing was signed, and"
        " nothing sent",
        f"EDGESHIFT_AUTHORITY_KEY names the key of somebody who is {role.value} there (docs/authority.md,"
        " Signing)",
    )

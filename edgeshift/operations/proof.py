"""Whether what people say to a campaign is signed by somebody who is known here, or only named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.identity import identity_if_made

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots

UNSIGNED = (
    "Not signed: the names on record are claims. Workers let that count in a rehearsal on their own machine,"
    " or where their roots say `proof: named`."
)
"""What every screen says of such a campaign."""

UNHEEDED = (
    "Not signed: the names on record are claims, and workers with the roots that are known here change"
    " nothing of it, whoever signs it off. `edgeshift abort` ends it; then `edgeshift start FILE --again`,"
    " with a key, starts it so that signatures count."
)
"""The same where the roots that are known here let signatures alone count."""

UNKNOWN = (
    "Signed by a key that nobody here knows: the names on record are claims here, until"
    " EDGESHIFT_AUTHORITY_ROOTS names the workers' roots, and the key is one of a starter in them."
)
"""What every screen says of a campaign whose start a stranger may have signed."""

ELSEWHERE = (
    "Its documents are in another archive, and who signed it is not known here: name that of its workers,"
    " --archive URL or EDGESHIFT_ARCHIVE_URL."
)
"""What a screen of several campaigns says of one that was started with another archive than this one."""


async def note_of(
    archive: Archive | ArchiveError,
    campaign: str,
    spec: str | None,
    roots: Roots | None,
    *,
    kept_in: str = "",
) -> str:
    """What holds of a campaign whose start was signed by nobody who is known here; else nothing. ``spec``:
    digest of its specification, None where any start is meant; ``roots``: those that can be read here;
    ``kept_in``: the identity of the archive that it was started with, where that is known. Nothing where the
    archive cannot be read: then nothing is said.
    """
    # Imported late: reading signed statements takes the libraries of signatures.
    from edgeshift.authority.records import SignedRecords
    from edgeshift.authority.roots import Role, asking
    from edgeshift.authority.statements import StartStatement

    if isinstance(archive, ArchiveError):
        return ""
    try:
        if kept_in and await identity_if_made(archive) != kept_in:
            return ELSEWHERE
        starts = await SignedRecords(archive).starts(campaign)
    except ArchiveError:
        return ""
    found = [
        said
        for said in starts
        if isinstance(said.statement, StartStatement) and spec in (None, said.statement.spec)
    ]
    if not found:
        return UNHEEDED if asking(roots) is not None else UNSIGNED
    # Whose it was when it was given: the doctor and the door tell what has become of the key since.
    known = roots.forgiving if roots is not None else None
    if known and any(known.refuses(said, Role.STARTER, said.statement.issued) is None for said in found):
        return ""
    return UNKNOWN


def is_unsigned(note: str) -> bool:
    """Whether a note says that nobody has signed the start of a campaign. One whose signer is not known here
    is another thing: workers may know whose it is.
    """
    return note in (UNSIGNED, UNHEEDED)


def together(notes: Mapping[str, str]) -> list[str]:
    """Notes of several campaigns, by their names, each once with those that it is of."""
    names: dict[str, list[str]] = {}
    for name, note in notes.items():
        if note:
            names.setdefault(note, []).append(name)
    return [f"{', '.join(some)}: {note}" for note, some in names.items()]

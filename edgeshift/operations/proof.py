"""Whether what people say to a campaign is signed, or only named."""

from __future__ import annotations

from edgeshift.stores.archive import Archive, ArchiveError

UNSIGNED = (
    "Not signed: the names on record are claims. Workers let that count in a rehearsal on their own machine,"
    " or where their roots say `proof: named`."
)
"""What every screen says of such a campaign."""


async def unsigned(archive: Archive, campaign: str, spec: str) -> bool:
    """Whether the start of a campaign was signed by nobody, so that nothing of it can be. ``spec``: digest of
    its specification. False where the archive cannot be read: then nothing is said.
    """
    # Imported late: reading signed statements takes the libraries of signatures.
    from edgeshift.authority.records import SignedRecords
    from edgeshift.authority.statements import StartStatement

    try:
        found = await SignedRecords(archive).starts(campaign)
    except ArchiveError:
        return False
    return not any(
        isinstance(said.statement, StartStatement) and said.statement.spec == spec for said in found
    )

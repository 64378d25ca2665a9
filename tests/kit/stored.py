"""What a scene puts into an archive, whatever it is; edgeshift itself stores documents only."""

from __future__ import annotations

from edgeshift.model.digests import NotCanonical, canonical_bytes
from edgeshift.stores.archive import Archive, ArchiveError


async def put_json(archive: Archive, value: object) -> str:
    """Store the canonical JSON of ``value``; its digest. Raises ArchiveError, as storing a document does."""
    try:
        return await archive.put_object(canonical_bytes(value))
    except NotCanonical as why:
        raise ArchiveError(f"a value was not archived: {why}") from None

"""Whether a worker has recorded the targets that somebody is about to sign a start of."""

from __future__ import annotations

from datetime import UTC, datetime

from edgeshift.authority.roots import Roots
from edgeshift.authority.worker_records import refused
from edgeshift.operations.errors import Refused
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import listed_key


async def refuse_unlisted(archive: Archive, spec: str, targets: str, roots: Roots | None) -> None:
    """Raises Refused where no worker has recorded that it made these targets for this specification
    (digests), or none that counts by the roots that are known here: workers would send nothing by the start.
    Raises ArchiveError.
    """
    key, now = listed_key(spec, targets), datetime.now(UTC)
    why: str | None = "no worker has recorded that it made this list of targets of what the service lists"

    async def refuses(name: str) -> str | None:
        data = await archive.get_named(name)
        if data is None or roots is None or not roots.signed:
            return why if data is None else None
        said = refused(name, data, roots, now)
        return None if said is None else f"no worker's record of this list of targets counts: {said}"

    if (why := await refuses(key)) is None:
        return
    async for name in archive.list(key.rpartition("/")[0]):
        if name.startswith(f"{key}-") and await refuses(name) is None:
            return
    raise Refused(
        f"{why}; nothing was signed, and nothing sent",
        "plan again (`edgeshift plan FILE`), by workers of this version: earlier ones record no lists",
    )

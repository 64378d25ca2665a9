"""Whether a worker has recorded the targets that somebody is about to sign a start of."""

from __future__ import annotations

from datetime import UTC, datetime

from edgeshift.authority.roots import Roots
from edgeshift.authority.worker_records import refused
from edgeshift.operations.errors import Refused
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import FrozenTargets, get_list, listed_key

NO_FUTURE = datetime.max.replace(tzinfo=UTC)
"""Workers judge by the server's clock whether a record is from the future; the one here may be behind."""


async def refuse_unlisted(archive: Archive, spec: str, targets: str, roots: Roots | None) -> None:
    """Raises Refused where no worker has recorded that the service lists these targets, for this
    specification (digests), or none that counts by the roots that are known here: workers would send nothing
    by the start. Raises ArchiveError.
    """
    key = listed_key(spec, await get_list(archive, FrozenTargets, targets))

    async def refuses(name: str) -> str | None:
        data = await archive.get_named(name)
        if data is None:
            return "there is none"
        if roots is None or not roots.signed:
            return None
        return refused(name, data, roots, NO_FUTURE)

    if (why := await refuses(key)) is None:
        return
    async for name in archive.list(key.rpartition("/")[0]):
        if name.startswith(f"{key}-") and await refuses(name) is None:
            return
    if await archive.get_named(key) is None:
        raise Refused(
            "no worker has recorded that it made this list of targets of what the service lists;"
            " nothing was signed, and nothing sent",
            "plan again (`edgeshift plan FILE`), by workers of this version: earlier ones record no lists",
        )
    place = roots.place if roots is not None else "the roots"
    raise Refused(
        f"no worker's record of this list of targets counts by {place}: {why};"
        " nothing was signed, and nothing sent",
        "compare these roots with those of the workers (`edgeshift doctor`, `edgeshift keys list`), or plan"
        " again (`edgeshift plan FILE`) by a worker whose key they have",
    )

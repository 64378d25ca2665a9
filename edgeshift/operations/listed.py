"""Whether a worker has recorded the targets that somebody is about to sign a start of."""

from __future__ import annotations

from edgeshift.authority.roots import Roots
from edgeshift.operations.errors import Refused
from edgeshift.operations.recorded import not_recorded_beside
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import FrozenTargets, get_list, listed_key


async def refuse_unlisted(archive: Archive, spec: str, targets: str, roots: Roots | None) -> None:
    """Raises Refused where no worker has recorded that the service lists these targets, for this
    specification (digests), or none that counts by the roots that are known here: workers would send nothing
    by the start. Raises ArchiveError.
    """
    key = listed_key(spec, await get_list(archive, FrozenTargets, targets))
    if (why := await not_recorded_beside(archive, key, roots)) is None:
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

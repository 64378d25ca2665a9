"""Whether workers have recorded what somebody is shown of a zone before signing: the snapshot, by which it is
told what is lost, and the evidence. A message names them by their digests, and anybody may have put them
there.
"""

from __future__ import annotations

from pydantic import BaseModel

from edgeshift.areas import area_of
from edgeshift.authority.roots import Roots
from edgeshift.authority.worker_records import refused
from edgeshift.messages import Step, ZoneState
from edgeshift.model.fleet import Area
from edgeshift.operations.listed import NO_FUTURE
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import gathered_key, snapshot_key


async def unrecorded(
    archive: Archive, state: ZoneState, area: Area, evidence: BaseModel | None, roots: Roots | None
) -> str | None:
    """Why no worker that counts by the roots that are known here has recorded what is shown of a zone in
    this state, with this evidence; None where one has, and where roots ask for no signatures or none are
    known. Raises ArchiveError.

    A snapshot counts also where its worker's key was revoked since, so that people go on signing meanwhile:
    no step of waf rests on one, and the zone is read again then. Evidence does not, as at the door.
    """
    if roots is None or not roots.signed:
        return None
    if state.snapshot and (why := await _not_taken(archive, state, area, roots.forgiving)):
        return f"of its snapshot {state.snapshot[:12]}, {why}"
    if evidence is None:
        return None
    again = area_of(area).evidence
    if again is None or not state.evidence:
        # Nothing asks who has gathered it.
        return None
    # That of the window before is shown with it.
    for digest in (state.evidence, str(getattr(evidence, "earlier", ""))):
        key = gathered_key(state.zone, digest)
        if digest and (why := await _refused(archive, key, roots)):
            return f"of its evidence {digest[:12]}, {why}"
    commits = (state.step or Step.COMMIT) is Step.COMMIT
    if commits and again.of is not None and again.of(evidence) != (state.zone.id, state.digest):
        return f"its evidence {state.evidence[:12]} is of another zone or proposal"
    return None


async def _not_taken(archive: Archive, state: ZoneState, area: Area, roots: Roots) -> str | None:
    """Why no worker has recorded that it took the snapshot of a state; None where one has."""
    key = snapshot_key(state.zone, area, state.snapshot)
    if (why := await _refused(archive, key, roots)) is None:
        return None
    # Beside a record that does not count, there is another (activities/snapshots.py).
    async for name in archive.list(key.rpartition("/")[0]):
        if name.startswith(f"{key}-") and await _refused(archive, name, roots) is None:
            return None
    return why


async def _refused(archive: Archive, key: str, roots: Roots) -> str | None:
    data = await archive.get_named(key)
    return "no worker has recorded it" if data is None else refused(key, data, roots, NO_FUTURE)

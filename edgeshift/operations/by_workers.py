"""Whether workers have recorded what somebody is shown of a zone before signing: the snapshot, by which it is
told what is lost, and the evidence. A message names them by their digests, and anybody may have put them
there.
"""

from __future__ import annotations

from pydantic import BaseModel

from edgeshift.areas import area_of
from edgeshift.authority.roots import Roots, asking
from edgeshift.messages import Step, ZoneState
from edgeshift.model.fleet import Area
from edgeshift.operations.recorded import not_recorded, not_recorded_beside
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
    if (roots := asking(roots)) is None:
        return None
    taken = snapshot_key(state.zone, area, state.snapshot)
    if state.snapshot and (why := await not_recorded_beside(archive, taken, roots.forgiving)):
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
        if digest and (why := await not_recorded(archive, key, roots)):
            return f"of its evidence {digest[:12]}, {why}"
    commits = (state.step or Step.COMMIT) is Step.COMMIT
    if commits and again.of is not None and again.of(evidence) != (state.zone.id, state.digest):
        return f"its evidence {state.evidence[:12]} is of another zone or proposal"
    return None

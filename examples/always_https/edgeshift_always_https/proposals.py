"""What is read from the archive for people before they sign."""

from __future__ import annotations

from pydantic import BaseModel

from edgeshift.messages import ZoneState
from edgeshift.model.digests import Body
from edgeshift.operations.parts import Facts, ProposalPart, plain_items
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Snapshot, get_document
from edgeshift_always_https.rules import Reading


class AlwaysHttpsProposals(ProposalPart):
    """What is shown of a setting that is to be changed."""

    async def facts(
        self, archive: Archive, state: ZoneState, body: Body, evidence: BaseModel | None
    ) -> Facts:
        """What the zone was read as, beside what is signed."""
        if not state.snapshot:
            return Facts(items=plain_items(body))
        snapshot = await get_document(archive, Snapshot[Reading], state.snapshot)
        return Facts(items=plain_items(body), own=snapshot.reading)


PART = AlwaysHttpsProposals()

"""What a person reads before signing in the area waf: losses, overrides, the evidence of windows."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from edgeshift.areas import waf
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.messages import ZoneState
from edgeshift.model.digests import Body
from edgeshift.operations.parts import ProposalPart
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Snapshot, get_document


class WafProposals(ProposalPart):
    """What is shown of a migration."""

    async def facts(
        self, archive: Archive, state: ZoneState, body: Body, evidence: BaseModel | None
    ) -> dict[str, Any]:
        """What the zone's snapshot and the evidence say. Raises ArchiveError."""
        snapshot = (
            await get_document(archive, Snapshot[waf.Reading], state.snapshot) if state.snapshot else None
        )
        found = waf.assess(snapshot.reading) if snapshot else None
        read = evidence if isinstance(evidence, Evidence) else None
        shadow = read.earlier if read else ""
        return {
            "losses": found.losses if found else (),
            "warnings": found.warnings if found else (),
            "overrides": found.overrides if found else (),
            "evidence": read,
            "earlier": await get_document(archive, Evidence, shadow) if shadow else None,
            "only_log": waf.only_logging(body),
        }


PART = WafProposals()

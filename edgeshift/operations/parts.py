"""What an area reads of its own before a person signs (edgeshift/areas/parts.py)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from edgeshift.areas.parts import PartOf
from edgeshift.messages import ZoneState
from edgeshift.model.digests import Body
from edgeshift.stores.archive import Archive


class ProposalPart:
    """One area's part of what is shown of a proposal."""

    async def facts(
        self, archive: Archive, state: ZoneState, body: Body, evidence: BaseModel | None
    ) -> dict[str, Any]:
        """Fields of ``Preview`` beside those that every proposal has, by their names. ``body``: of the
        proposal, empty where there is none; ``evidence``: the archived document, or None. Raises
        ArchiveError.
        """
        return {}


PROPOSALS = PartOf("proposals", ProposalPart)

"""What a person reads before signing in the area esc: the probe's report."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from edgeshift.messages import ZoneState
from edgeshift.model.digests import Body
from edgeshift.operations.parts import ProposalPart
from edgeshift.stores.archive import Archive


class EscProposals(ProposalPart):
    """What is shown of Edge Side Code being turned off."""

    async def facts(
        self, archive: Archive, state: ZoneState, body: Body, evidence: BaseModel | None
    ) -> dict[str, Any]:
        """The probe. The proposal has its differences in words already; the probe's report has them in
        full.
        """
        return {"losses": (), "probe": evidence}


PART = EscProposals()

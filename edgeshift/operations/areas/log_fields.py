"""What a person reads before signing in the area log-fields: the fields, and what log jobs have to list."""

from __future__ import annotations

import re

from pydantic import BaseModel

from edgeshift.areas import log_fields
from edgeshift.areas.log_fields.body_items import items
from edgeshift.messages import ZoneState
from edgeshift.model.digests import Body
from edgeshift.operations.parts import Facts, ProposalPart
from edgeshift.profiles import SPECIFICATION
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Snapshot, get_document

_JOB = re.compile(r"\blog job \d+\b")


class LogFieldsProposals(ProposalPart):
    """What is shown of custom fields in request logs."""

    async def facts(
        self, archive: Archive, state: ZoneState, body: Body, evidence: BaseModel | None
    ) -> Facts:
        """What the proposal's body asks for, beside what the snapshot shows. Raises ArchiveError."""
        kind = Snapshot[log_fields.Reading]
        snapshot = await get_document(archive, kind, state.snapshot) if state.snapshot else None
        return Facts(
            items=items(
                body,
                snapshot.reading if snapshot else None,
                snapshot.facts if snapshot else SPECIFICATION,
                state.zone,
            )
        )

    def without_own_names(self, text: str) -> str:
        """Without the number that the service has given a log job: another zone's has another."""
        return _JOB.sub("log job", text)


PART = LogFieldsProposals()

"""What a person reads before signing in the area log-fields: the fields, and what log jobs have to list."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from edgeshift.areas.log_fields.names import fields_of_document
from edgeshift.messages import ZoneState
from edgeshift.model.digests import Body
from edgeshift.operations.parts import ProposalPart
from edgeshift.stores.archive import Archive


class LogFieldsProposals(ProposalPart):
    """What is shown of custom fields in request logs."""

    async def facts(
        self, archive: Archive, state: ZoneState, body: Body, evidence: BaseModel | None
    ) -> dict[str, Any]:
        """What the proposal's body asks for."""
        jobs = body.get("jobs") or {}
        return {
            "fields": fields_of_document(body["fields"]) if body.get("fields") else None,
            "jobs": tuple(jobs.get("list") or ()),
            "new_job": str((jobs.get("new") or {}).get("name") or ""),
        }


PART = LogFieldsProposals()

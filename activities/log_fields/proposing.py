"""What is proposed to a zone by what was read of it, archived (docs/service.md §2.2, §2.3)."""

from __future__ import annotations

from activities.connections import Connections
from activities.log_fields.reading import Proposed
from activities.snapshots import archive_snapshot
from edgeshift.areas import log_fields
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Prepared
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Zone
from edgeshift.model.reason_texts import text_of
from edgeshift.stores.documents import Proposal, put_proposal


async def prepared_from(
    connections: Connections,
    spec: CampaignSpec,
    zone: Zone,
    reading: log_fields.Reading,
    found: Proposed,
    verdict: Verdict,
) -> Prepared:
    """Archive a reading as the zone's snapshot, and what follows from it as the proposal. ``verdict``: what
    the zone does, whatever its reading alone tells. Raises ArchiveError.
    """
    assessment = found.assessment
    prepared = Prepared(
        verdict=verdict,
        causes=assessment.causes,
        reasons=assessment.reasons,
        why=assessment.why,
        snapshot=await archive_snapshot(connections, zone, spec.area, reading, spec.service.profile),
    )
    if verdict is not Verdict.READY:
        return prepared
    body = log_fields.proposal_body(reading, zone, found.wanted, spec.section(LogFieldsSpec).job)
    document = Proposal(
        body=body,
        additions=assessment.additions,
        warnings=(*assessment.warnings, *map(text_of, found.notices)),
        notices=found.notices,
    )
    return prepared.model_copy(
        update={
            "digest": digest(body),
            "fingerprint": fingerprint(body, zone),
            "proposal": await put_proposal(connections.archive, document),
        }
    )

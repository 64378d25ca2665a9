"""What is to be done with a scope by what was read of it, archived (docs/service.md §3.1)."""

from __future__ import annotations

from datetime import datetime

from activities.connections import Connections
from activities.snapshots import archive_snapshot
from edgeshift.areas import esc
from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Prepared, Step
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Zone
from edgeshift.model.reasons import Reason
from edgeshift.stores.documents import Proposal, put_proposal


async def prepared_from(
    connections: Connections,
    spec: CampaignSpec,
    target: Zone,
    reading: esc.Reading,
    gone: Reason | None,
    now: datetime,
) -> Prepared:
    """Archive a reading as the scope's snapshot, and what follows from it. Where it has no secret yet, that
    is the next step; what turning it off would change is proposed after a probe. ``gone``: why nothing can be
    done with it any more; ``now``: at the service. Raises ArchiveError.
    """
    found = esc.assess(reading, now, spec.service.facts)
    if gone:
        found = found.model_copy(update={"verdict": Verdict.BLOCKED, "why": (gone,)})
    prepared = Prepared(
        verdict=found.verdict,
        causes=found.causes,
        reasons=found.reasons,
        why=found.why,
        snapshot=await archive_snapshot(connections, target, spec.area, reading, spec.service.profile),
        covered=reading.covered,
        config=digest(esc.state(reading)),
    )
    if prepared.verdict is Verdict.READY and reading.secret is esc.Secret.NONE:
        proposal = await kept_proposal(connections, target, Proposal(body=esc.secret_body(target)))
        prepared = prepared.model_copy(update={"step": Step.SET_SECRET, **proposal})
    return prepared


async def kept_proposal(connections: Connections, target: Zone, proposal: Proposal) -> dict[str, str]:
    """Archive a proposal; what ``Prepared`` says of it."""
    return {
        "digest": digest(proposal.body),
        "fingerprint": fingerprint(proposal.body, target),
        "proposal": await put_proposal(connections.archive, proposal),
    }

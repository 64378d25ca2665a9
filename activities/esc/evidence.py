"""That a worker has probed a scope: recorded with what it proposed by that, and asked for before a commit."""

from __future__ import annotations

from activities.change.intent_records import now_of
from activities.change.not_sent import NotSent
from activities.change.own import run_of
from activities.connections import Connections
from activities.proof.authority import NotSigned
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.campaign.start import zone_policy
from edgeshift.messages import Change, ChangeStatus, Prepared, ZoneStart
from edgeshift.stores.documents import EvidenceGathered, gathered_key, get_document


async def record_probed(
    connections: Connections, start: ZoneStart, evidence: str, prepared: Prepared
) -> None:
    """Record what was proposed by a probe, and by which reading it was made. Raises ArchiveError."""
    said = EvidenceGathered(
        run=run_of(start),
        spec=start.spec,
        start=await connections.starts.begun_by(start.spec),
        proposal=prepared.proposal,
        snapshot=prepared.snapshot,
    )
    await connections.records.create(gathered_key(start.target.zone, evidence), said)


async def refuse_unprobed(connections: Connections, change: Change) -> None:
    """Raises NotSent where no worker has made this proposal by this probe, upon this snapshot, which are all
    a message's word. As a drift, so that the scope is probed anew: also where a version has probed it that
    did not record it, and where the probe is older than the campaign's file lets it be. Raises ArchiveError.
    """
    if not change.evidence:
        raise NotSent("it names no probe: the scope is probed again", ChangeStatus.DRIFTED)
    report = await get_document(connections.archive, ProbeReport, change.evidence)
    key = gathered_key(change.start.target.zone, change.evidence)
    found = await connections.records.find(EvidenceGathered, key)
    if found is None or (found.unproven is None and found.record.proposal is None):
        raise NotSent("no worker has recorded its probe: the scope is probed again", ChangeStatus.DRIFTED)
    if found.unproven is not None:
        # Nothing says that another probe's would count.
        why = f"the record of its probe does not count: {found.unproven}"
        raise NotSent(why, unsigned=NotSigned(why))
    if (found.record.proposal, found.record.snapshot) != (change.proposal, change.snapshot):
        raise NotSent("its probe was of another proposal or reading", ChangeStatus.DRIFTED)
    fresh = zone_policy(await connections.spec(change.start.spec)).fresh
    if now_of(connections) - report.made_at > fresh:
        raise NotSent("its probe is too old by now (esc.fresh)", ChangeStatus.DRIFTED)

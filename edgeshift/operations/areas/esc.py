"""What a person reads before signing in the area esc: the probe's report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from edgeshift.areas import esc
from edgeshift.areas.esc.body_items import items
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.areas.esc.report import summary
from edgeshift.messages import ZoneState
from edgeshift.model.counts import counted
from edgeshift.model.digests import Body, canonical_bytes
from edgeshift.operations.errors import NotAsSigned
from edgeshift.operations.parts import Cause, Facts, ProposalPart, joined
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Snapshot, get_document


class EscProposals(ProposalPart):
    """What is shown of Edge Side Code being turned off."""

    async def facts(
        self, archive: Archive, state: ZoneState, body: Body, evidence: BaseModel | None
    ) -> Facts:
        """The probe and the body. The differences are shown as they are signed, and not once more as losses.
        Raises ArchiveError; NotAsSigned where the probe that is shown did not find what is signed.
        """
        probe = evidence if isinstance(evidence, ProbeReport) else None
        if probe is not None and canonical_bytes(summary(probe)) != canonical_bytes(body.get("probe")):
            raise NotAsSigned(
                f"the archive's probe of {state.zone.name} did not find what its proposal says it did"
            )
        snapshot = (
            await get_document(archive, Snapshot[esc.Reading], state.snapshot) if state.snapshot else None
        )
        always = snapshot.reading.always if snapshot else None
        return Facts(items=items(body, always), losses=())

    def cause(self, evidence: BaseModel | None, own: BaseModel | None) -> Cause | None:
        """Why the probe does not say enough to be taken for granted."""
        if not isinstance(evidence, ProbeReport):
            return None
        found = []
        if evidence.coverage.zones_covered > evidence.coverage.zones_probed:
            found.append(Cause("no-answer", "zones gave the probe no answer from the edge"))
        if evidence.coverage.hosts_unmarked:
            found.append(Cause("not-at-the-edge", "hosts answer without the mark of the edge (CF-Ray)"))
        if evidence.controls.alarms:
            found.append(Cause("changes-by-itself", "what the probe reads changes by itself"))
        return joined(found) if found else None

    def seen_of_all(self, evidence: Mapping[str, BaseModel | None]) -> Sequence[str]:
        """How much the probes looked at, and where least: what a probe did not ask for, it did not see."""
        probes = {zone: seen for zone, seen in evidence.items() if isinstance(seen, ProbeReport)}
        if not probes:
            return ()
        least, most = (pick(probe.coverage.urls for probe in probes.values()) for pick in (min, max))
        scopes = counted(len(probes), "scope")
        if least == most:
            return (f"the probes of all {scopes} looked at {counted(most, 'URL')} each",)
        where = next(zone for zone, probe in probes.items() if probe.coverage.urls == least)
        return (f"the probes of {scopes} looked at {least:,} to {most:,} URLs each, least at {where}",)


PART = EscProposals()

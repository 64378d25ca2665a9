"""The evidence of a zone, judged again just before its commit, from the archive alone."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from activities.proof.records import WorkerRecords
from edgeshift.areas import area_of
from edgeshift.areas.evidence import AHEAD, About
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, Step, ZoneStart
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import (
    DocumentUnreadable,
    EvidenceGathered,
    Intent,
    gathered_key,
    get_document,
    intents_at,
)


async def evidence_passes(
    archive: Archive,
    recorded: WorkerRecords,
    change: Change,
    spec: CampaignSpec,
    now: datetime,
    begun_by: Collection[str],
) -> bool | None:
    """Whether the zone's own evidence passed, by the campaign's file and as its area judges it; None where
    its step needs none. It has to be what a worker gathered for this campaign, in a window that began once
    the zone was last set into validation. ``spec``: its durations scaled. ``begun_by``: the digest of the
    campaign's signed start. Raises ArchiveError.
    """
    start, again = change.start, area_of(spec.area).evidence
    zone = start.target.zone
    if change.step is not Step.COMMIT or again is None or not again.asked(spec, zone):
        return None
    if not change.evidence:
        return False
    about = again.passes(await get_document(archive, again.document, change.evidence), spec, now)
    return await passed_in(archive, recorded, change, about, spec, begun_by)


async def evidence_gathered(
    archive: Archive, recorded: WorkerRecords, change: Change, begun_by: Collection[str]
) -> bool:
    """Whether a worker has gathered a change's evidence for this campaign, of its zone and of what is
    changed, whatever it says. Raises ArchiveError.
    """
    start = change.start
    again = area_of(start.area).evidence
    if again is None or not change.evidence:
        return False
    if not await gathered_here(recorded, start, change.evidence, begun_by):
        return False
    if again.of is None:
        return True
    found = again.of(await get_document(archive, again.document, change.evidence))
    return found == (start.target.zone.id, change.digest)


async def passed_in(
    archive: Archive,
    recorded: WorkerRecords,
    change: Change,
    about: About | None,
    spec: CampaignSpec,
    begun_by: Collection[str],
    *,
    modes: Collection[str] | None = None,
) -> bool:
    """Whether a change's evidence, which passed by what it counts where it is ``about`` something, is of what
    is changed, was gathered by a worker for this campaign, and in a window that began once the zone was last
    set into validation. ``modes``: only these validations are looked at. Raises ArchiveError.
    """
    start = change.start
    if about is None or about.zone != start.target.zone.id or about.proposal != change.digest:
        return False
    if not await gathered_here(recorded, start, change.evidence, begun_by):
        return False
    begun = await validations(archive, recorded, start)
    last = max((one.at for one in begun if modes is None or one.mode in modes), default=None)
    return last is None or last <= about.since + ahead(spec)


def ahead(spec: CampaignSpec) -> timedelta:
    """How far a clock may be ahead of another. ``spec``: its durations scaled."""
    return min(AHEAD / spec.time_scale, AHEAD)


async def gathered_here(
    recorded: WorkerRecords, start: ZoneStart, evidence: str, begun_by: Collection[str]
) -> bool:
    """Whether a worker has gathered the evidence with this digest, of this zone and for this campaign: under
    its signed start, by whichever run a message has named; by the run alone where no start is named. Raises
    ArchiveError.
    """
    said = await recorded.proven(EvidenceGathered, gathered_key(start.target.zone, evidence))
    if said is None or said.spec != start.spec:
        return False
    return said.start in begun_by if said.start else said.run == (start.origin or start.campaign_run)


class Validated(NamedTuple):
    """When a worker was last about to set a zone into validation, and with which proposal, and the digest of
    its archived document, and in which mode: empty where its record does not say so.
    """

    at: datetime
    digest: str
    proposal: str = ""
    mode: str = ""


async def last_validation(archive: Archive, recorded: WorkerRecords, start: ZoneStart) -> Validated | None:
    """The last validation that a worker was about to begin; None where none was: the zone was found so."""
    return max(await validations(archive, recorded, start), default=None)


async def validations(archive: Archive, recorded: WorkerRecords, start: ZoneStart) -> list[Validated]:
    """The validations that workers were about to begin of a zone.

    A record that no worker has signed, or that cannot be read, may be in the place of a validation: it counts
    as one of when the archive took it, which is not before anything was sent.
    """
    begun: list[Validated] = []
    async for key in recorded.keys(intents_at(start.target.zone, start.area)):
        try:
            found = await recorded.find(Intent, key)
        except DocumentUnreadable:
            found = None
        if found is None or found.unproven is not None:
            this = Validated(await archive.stored_at(key), "")
        elif found.record.step == Step.VALIDATE.value:
            said = found.record
            this = Validated(said.at, said.digest or "", said.proposal or "", said.mode or "")
        else:
            continue
        begun.append(this)
    return begun

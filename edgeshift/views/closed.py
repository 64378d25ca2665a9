"""A closed campaign, told from its input and its result alone: no worker has to answer. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import CampaignResult, CampaignStart, CampaignSummary, TargetAt, WaveSummary
from edgeshift.model.campaign_phase import CampaignPhase


def ledger_of(start: CampaignStart, result: CampaignResult) -> Ledger | None:
    """The ledger that the campaign left in its result, or None where it cannot be read."""
    if result.carried is None:
        return None
    ledger = Ledger(start.count, datetime.now(UTC), timedelta(seconds=1), waves=start.waves)
    try:
        ledger.unpack(result.carried.ledger)
    except ValueError:
        # Written by a version with another form: the zones' own results say as much, only more slowly.
        return None
    return ledger


def places_of(start: CampaignStart, ledger: Ledger) -> dict[int, TargetAt]:
    """Where each target ended, by its index."""
    found = {}
    for wave in start.waves:
        for index in range(wave.first, wave.end):
            place, group = TargetState(ledger.places[index]).word, ledger.fingerprint_group(index)
            fingerprint = group.fingerprint if group else ""
            found[index] = TargetAt(
                index=index,
                place=place,
                wave=wave.number,
                fingerprint=fingerprint,
                attempt=ledger.attempts[index],
            )
    return found


def closed_summary(
    start: CampaignStart, result: CampaignResult, ledger: Ledger | None, ended: datetime
) -> CampaignSummary:
    """What the campaign's own summary would say now that it has closed at ``ended``."""
    carried = result.carried
    waves = [
        WaveSummary(
            number=wave.number,
            name=wave.name,
            size=wave.size,
            places=ledger.tallies(wave.number) if ledger else {},
        )
        for wave in start.waves
    ]
    return CampaignSummary(
        name=start.name,
        area=start.area,
        state=CampaignPhase.CLOSED,
        why="aborted" if result.aborted else "",
        started_by=start.started_by,
        started_at=carried.started_at if carried else ended,
        now=ended,
        time_scale=start.time_scale,
        count=start.count,
        wave=carried.wave if carried else 0,
        waves=waves,
        places=result.outcomes,
        permits_out=0,
        waiting=[],
        book=ledger.book.latest(len(ledger.book)) if ledger else [],
        excluded=ledger.excluded if ledger else {},
        excluded_codes=ledger.excluded_codes if ledger else {},
        notes=list(carried.notes) if carried else [],
        targets=start.targets,
        spec=start.spec,
        archive=start.archive,
        told_wrong=list(result.told_wrong),
        wrong=result.wrong,
        compared=result.compared,
    )

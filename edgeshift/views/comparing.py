"""A campaign's outcomes, all of them read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel
from temporalio.client import Client

from edgeshift.messages import CampaignSummary, ToldWrong
from edgeshift.model.counts import agreed
from edgeshift.model.fleet import CLAIMS
from edgeshift.operations.again import zones_at
from edgeshift.operations.archives import check_archive
from edgeshift.operations.comparing import ToldOutcome, compare_told
from edgeshift.operations.zones import frozen_targets
from edgeshift.stores.archive import Archive
from edgeshift.views.gathering import Known, known_campaign, summary_of, zone_rows
from edgeshift.views.words import one_line

_TOLD = {outcome.value: outcome for outcome in CLAIMS}

MOST_REASONS = 20
"""Reasons that are told of why zones could not be read."""


class CampaignCheck(BaseModel):
    """``outcomes``: how many say something of the service, by the campaign's own count; ``read``: how many of
    them it was asked about, ``unread``: of how many it could not be, or which the campaign does not name:
    ``unnamed`` of them. ``unread_for``: why, and how many each time, the most frequent. ``signed``: whether
    each was compared with what workers have signed as well. ``wrong``: those that are not so.
    """

    campaign: str
    outcomes: int
    read: int
    unread: int
    unnamed: int
    unread_for: dict[str, int]
    signed: bool
    wrong: list[ToldWrong]


async def check_campaign(client: Client, archive: Archive, name: str, roots: Path | None) -> CampaignCheck:
    """Read each zone of a campaign that it tells as changed, as it was found, or as rolled back. Raises
    NotFound where there is no such campaign, TemporalTrouble where one that runs does not answer, Refused
    where it has another archive, ArchiveError, RootsError.
    """
    known = await known_campaign(client, name)
    summary = summary_of(known)
    await check_archive(archive, known.start)
    told = await told_by(client, archive, known)
    unnamed = unnamed_of(summary, told)
    compared = await compare_told(client, archive, known.start, known.origin, told, roots)
    found, why = compared.found, Counter({one_line(said): n for said, n in compared.unread_for.items()})
    for place, number in unnamed.items():
        those = agreed(number, "it", "them")
        why[f"the campaign counts {those} as {place.replace('_', ' ')}, and does not name {those}"] = number
    return CampaignCheck(
        campaign=name,
        outcomes=len(told) + sum(unnamed.values()),
        read=found.read,
        unread=found.unread + sum(unnamed.values()),
        unnamed=sum(unnamed.values()),
        unread_for=dict(why.most_common(MOST_REASONS)),
        signed=roots is not None,
        wrong=list(found.wrong),
    )


async def told_by(client: Client, archive: Archive, known: Known) -> list[ToldOutcome]:
    """What the campaign tells of which target, by its own ledger: what Temporal still lists of the zones is
    neither all of it nor the campaign's word.
    """
    count = len(await frozen_targets(archive, known.start.targets))
    if not known.closed:
        # After the summary: its counts say how many there must be at least.
        places = (await zones_at(client, known.start.name, sorted(_TOLD), max(1, count))).targets
    elif known.places:
        places = list(known.places.values())
    else:
        # It closed without a ledger that can be read here: the zones' own results say as much, where there
        # are any.
        rows = await zone_rows(client, archive, known)
        return [ToldOutcome(row.index, row.attempt, _TOLD[row.place]) for row in rows if row.place in _TOLD]
    named = {at.index: at for at in places if at.place in _TOLD and 0 <= at.index < count}
    return [ToldOutcome(at.index, at.attempt, _TOLD[at.place]) for at in named.values()]


def unnamed_of(summary: CampaignSummary, told: Iterable[ToldOutcome]) -> Mapping[str, int]:
    """How many targets the campaign counts at places that say something of the service, and does not name."""
    named = Counter(one.outcome.value for one in told)
    counted = {place: number for place, number in summary.places.items() if place in _TOLD}
    return {place: number - named[place] for place, number in counted.items() if number > named[place]}

"""What a campaign has sent to a target before, which of it has used up what people signed for it, and what of
it a run that was reset has forgotten: by the archive alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from activities.change.intent_records import (
    EFFECTIVE,
    GIVEN_UP,
    ClosedAs,
    SentBefore,
    beside_of,
    closed_as,
    intents_of,
    is_change,
)
from activities.change.own import Own, run_of
from activities.connections import Connections
from edgeshift.authority.door import Earlier
from edgeshift.authority.earlier import Effective, SentStep, earlier_than
from edgeshift.authority.recorded import sent_of
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, Step
from edgeshift.model.fleet import ENDS, Area, Zone
from edgeshift.stores.archive import ArchiveError
from edgeshift.stores.documents import Intent, Seen, intent_key, intents_at


async def earlier_of(connections: Connections, change: Change, spec: CampaignSpec) -> Earlier:
    """What the campaign has sent to the target of this change, by the rule that a verifier of its file has
    too (edgeshift/authority/earlier.py). Raises ArchiveError.
    """
    asked = SentStep(change.step.value, change.start.attempt, change.digest, change.fingerprint)
    mine = [(key, record, sent_of(record)) async for key, record in _of_campaign(connections, change)]
    # Nothing is sent under what was given up, and a pause may come long after the attempt.
    begun = [(sent, record.at) for _, record, sent in mine if record.step != GIVEN_UP]
    alike = [
        await _effective(connections, change, spec, key, record.at, sent)
        for key, record, sent in mine
        if asked.is_alike(sent) and await closed_as(connections, key) in EFFECTIVE
    ]
    return earlier_than(asked, begun, alike, spec.commit.resend_unchanged)


async def forgotten_validation(connections: Connections, change: Change) -> datetime | None:
    """When the last validation of this attempt was recorded that its run knows nothing of: an earlier run has
    sent it, before an operator's reset, under a permit that ran out or was taken back since, so that this one
    has another. None where there is none. One that no worker has signed may be one. Raises ArchiveError.
    """
    start = change.start
    if not change.anew:
        return None
    own = intent_key(start.target.zone, start.area, change.permit.name)
    # A permit's name ends with its number; what it begins with is another in each run of the campaign.
    known = {str(number) for number in change.used}
    latest: datetime | None = None
    async for sent in intents_of(connections, start.target.zone, start.area):
        record = sent.record
        mine = (record.run, record.attempt) == (run_of(start), start.attempt)
        counts = (mine and record.step == Step.VALIDATE.value) or not sent.proven
        if sent.key == own or sent.key.rpartition("-")[2] in known or not counts:
            continue
        if await closed_as(connections, sent.key) in EFFECTIVE:
            latest = max(latest or record.at, record.at)
    return latest


async def commit_took_effect(connections: Connections, zone: Zone, area: Area) -> bool:
    """Whether a worker has seen that a commit of the zone, by whichever campaign, took effect. One that
    nobody has seen may never have shown: of that the zone's status tells. That a worker's key was revoked
    since undoes none. Raises ArchiveError.
    """
    async for sent in intents_of(connections, zone, area, forgiving=True):
        if not sent.proven or sent.record.step != Step.COMMIT.value:
            continue
        seen = await connections.records.proven(Seen, beside_of(sent.key, "seen"), forgiving=True)
        if seen is not None and seen.showed is not False:
            return True
        if await closed_as(connections, sent.key, forgiving=True) is ClosedAs.SHOWS:
            return True
    return False


async def has_changed(connections: Connections, zone: Zone, area: Area, own: Own, attempt: int) -> bool:
    """Whether a worker has recorded, of this attempt of the campaign, a commit or the rollback of one, of an
    earlier attempt maybe, that may have taken effect; whatever became of it since.
    """
    async for sent in _sent_by(connections, zone, area, own):
        mine = sent.record.attempt == attempt and is_change(sent.record)
        if mine and await closed_as(connections, sent.key) in EFFECTIVE:
            return True
    return False


async def committed_at(
    connections: Connections, zone: Zone, area: Area, own: Own, *, or_undone: bool = False
) -> datetime | None:
    """When a worker has recorded the last commit of this campaign, in whichever attempt, which is the word of
    whoever had it sent; None where there is none. ``or_undone``: the last rollback of one counts too.
    """
    return max(
        [
            sent.record.at
            async for sent in _sent_by(connections, zone, area, own)
            if is_change(sent.record) and (or_undone or sent.commits)
        ],
        default=None,
    )


async def _sent_by(connections: Connections, zone: Zone, area: Area, own: Own) -> AsyncIterator[SentBefore]:
    async for sent in intents_of(connections, zone, area, forgiving=True):
        if sent.proven and own.names(sent.record):
            yield sent


async def _of_campaign(connections: Connections, change: Change) -> AsyncIterator[tuple[str, Intent]]:
    """The intents of the campaign at the target. What a worker has sent whose key was revoked since was sent
    all the same; what cannot be read keeps the target from being changed (``intents_of``).
    """
    start = change.start
    async for key, record in connections.records.each(Intent, intents_at(start.target.zone, start.area)):
        if isinstance(record, ArchiveError):
            raise record
        if record.campaign == start.campaign:
            yield key, record


async def _effective(
    connections: Connections, change: Change, spec: CampaignSpec, key: str, at: datetime, sent: SentStep
) -> Effective:
    """What became of something alike, in its attempt or one that has taken it up."""
    if sent.step != change.step.value:
        return Effective(sent, at)
    ends = []
    if sent.run is not None:
        found = await connections.results.proven(spec, sent.run, change.start.target.zone.id)
        ends = [found[end].issued for end in ENDS if end in found and found[end].proposal == sent.digest]
    seen = await connections.records.proven(Seen, beside_of(key, "seen"), forgiving=True)
    # What never came to show was watched to no end.
    return Effective(sent, at, ends, seen is not None and seen.showed is not False)

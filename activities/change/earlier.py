"""What a campaign has sent to a target before, which of it has used up what people signed for it, and what of
it a run that was reset has forgotten: by the archive alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from activities.change.intent_records import (
    EFFECTIVE,
    GIVEN_UP,
    SentBefore,
    beside_of,
    intents_of,
    reason_of,
)
from activities.change.intents import run_of
from activities.connections import Connections
from edgeshift.authority.door import Earlier
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, Step
from edgeshift.model.fleet import ENDS, Area, Zone
from edgeshift.stores.documents import DocumentUnreadable, Intent, Seen, intent_key


@dataclass(frozen=True)
class _Sent:
    """An intent of the campaign's, by a worker. ``seen``: whether what it stands for was watched to its
    end, and not found to have never shown.
    """

    record: Intent
    seen: bool

    @property
    def attempt(self) -> tuple[str | None, int]:
        """Of which run of the campaign, and of the target."""
        return self.record.run, self.record.attempt or 0


async def earlier_of(connections: Connections, change: Change, spec: CampaignSpec) -> Earlier:
    """What the campaign has sent to the target of this change. Raises ArchiveError.

    An approval is used by what took effect and was taken back, or was seen to its end. What came to nothing
    uses none; nor does what may be sent again: a request that never showed, as often as
    ``commit.resend_unchanged`` says, and what is left of a step of several requests.
    """
    mine = [intent async for intent in _of_campaign(connections, change)]
    begun: dict[tuple[str | None, int], datetime] = {}
    for _, record in mine:
        if record.step == GIVEN_UP:
            # Nothing is sent under it, and a pause may come long after the attempt.
            continue
        of = (record.run, record.attempt or 0)
        begun[of] = min(record.at, begun.get(of, record.at))
    before = [at for (_, attempt), at in begun.items() if attempt < change.start.attempt]
    alike = [
        await _sent(connections, key, record)
        for key, record in mine
        if record.step in (change.step.value, Step.ROLL_BACK.value)
        and (record.digest == change.digest or record.fingerprint == change.fingerprint)
        and await reason_of(connections, key) in EFFECTIVE
    ]
    backs = [one.record.at for one in alike if one.record.step == Step.ROLL_BACK.value]
    changes = [one for one in alike if one.record.step == change.step.value]
    used: dict[int, datetime] = {}
    for sent in changes:
        moments = [at for at in backs if at >= sent.record.at]
        moments += await _ended(connections, change, spec, sent)
        tries = [one for one in changes if one.attempt == sent.attempt and one.seen]
        if sent.seen and len(tries) > spec.commit.resend_unchanged:
            # Within these nobody may have been able to tell what became of it, so that it is sent once more.
            moments.append(sent.record.at)
        for at in moments:
            number = sent.record.attempt or 0
            used[number] = max(at, used.get(number, at))
    return Earlier(begun=max(before, default=None), used=used)


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
        if await reason_of(connections, sent.key) in EFFECTIVE:
            latest = max(latest or record.at, record.at)
    return latest


async def has_changed(connections: Connections, zone: Zone, area: Area, run: str, attempt: int) -> bool:
    """Whether a worker has recorded, of this attempt of the campaign, a commit or the way back of one, of an
    earlier attempt maybe, that may have taken effect; whatever became of it since.
    """
    steps = (Step.COMMIT.value, Step.ROLL_BACK.value)
    async for sent in _of_attempt(connections, zone, area, run, attempt):
        if sent.record.step in steps and await reason_of(connections, sent.key) in EFFECTIVE:
            return True
    return False


async def committed_at(
    connections: Connections, zone: Zone, area: Area, run: str, attempt: int
) -> datetime | None:
    """When a worker has recorded the last commit of this attempt; None where there is none."""
    return max(
        [
            sent.record.at
            async for sent in _of_attempt(connections, zone, area, run, attempt)
            if sent.record.step == Step.COMMIT.value
        ],
        default=None,
    )


async def _of_attempt(
    connections: Connections, zone: Zone, area: Area, run: str, attempt: int
) -> AsyncIterator[SentBefore]:
    async for sent in intents_of(connections, zone, area, forgiving=True):
        if sent.proven and (sent.record.run, sent.record.attempt) == (run, attempt):
            yield sent


async def _of_campaign(connections: Connections, change: Change) -> AsyncIterator[tuple[str, Intent]]:
    """The intents of the campaign at the target. What a worker has sent whose key was revoked since was sent
    all the same; what cannot be read keeps the target from being changed (``intents_of``).
    """
    start = change.start
    async for key in connections.archive.list(intent_key(start.target.zone, start.area)):
        try:
            record = await connections.records.proven(Intent, key, forgiving=True)
        except DocumentUnreadable:
            continue
        if record is not None and record.campaign == start.campaign:
            yield key, record


async def _sent(connections: Connections, key: str, record: Intent) -> _Sent:
    seen = await connections.records.proven(Seen, beside_of(key, "seen"), forgiving=True)
    return _Sent(record, seen is not None and seen.showed is not False)


async def _ended(connections: Connections, change: Change, spec: CampaignSpec, sent: _Sent) -> list[datetime]:
    """When workers have signed how what was sent ended, in this attempt or one that has taken it up."""
    run, _ = sent.attempt
    if run is None:
        return []
    found = await connections.results.proven(spec, run, change.start.target.zone.id)
    since = sent.record.at.replace(microsecond=0)
    ends = [found[end] for end in ENDS if end in found]
    return [end.issued for end in ends if end.proposal == sent.record.digest and end.issued >= since]

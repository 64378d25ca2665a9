"""What others have sent to a zone, or are about to, and keeps a change of it from being sent."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from activities.change.intent_records import by_server, closed_as, intents_of, is_answered
from activities.change.intents import shows_within
from activities.change.terms import NO_TIME, times_of
from activities.connections import Connections
from edgeshift.campaign.start import zone_policy
from edgeshift.messages import Change, Step


class SentByOthers(NamedTuple):
    """``shows``: whether a commit of the zone may still come to show, however soon it was made.

    ``until``: until when something may be on its way of which nobody has recorded an answer; None where
    nothing is. That may be a commit whose time to show would be over else. Before a commit it may also be a
    validation, which would land after it.
    """

    shows: bool = False
    until: datetime | None = None

    def __bool__(self) -> bool:
        return self.shows or self.until is not None


async def others_of(connections: Connections, change: Change, *, beside: str = "") -> SentByOthers:
    """What there is beside a change, by whomever. How long anything takes is no shorter than the campaign's
    file says, whatever a message does; nor than the file by which a commit was sent. ``beside``: what was
    sent under the permit of this name does not count. Raises ArchiveError.
    """
    start, now = change.start, by_server(connections)
    policy = zone_policy(await connections.spec(start.spec))
    # Whoever has waited for an answer counts from there on; of an earlier run nobody has.
    told = shows_within(start) if change.anew else start.policy.migration_limit
    limit = max(told, policy.migration_limit)
    # It may have left as late as its request may.
    landed = max(limit, policy.request_limit + max(start.policy.migration_limit, policy.migration_limit))
    # A write may wait for a second turn for as long as its request may take.
    validated = 2 * policy.request_limit + policy.margin
    shows, until = False, None
    async for sent in intents_of(connections, start.target.zone, start.area, beside=beside):
        if sent.commits:
            its = await times_of(connections, sent.record, start) if sent.proven else NO_TIME
            sure = sent.record.at + max(limit, its.effect)
            over = sent.record.at + max(landed, its.on_the_wire + its.effect)
        elif change.step is Step.COMMIT and sent.record.step == Step.VALIDATE.value:
            over = sure = sent.record.at + validated
        else:
            continue
        if now >= over or await closed_as(connections, sent.key) is not None:
            continue
        if sent.commits and now < sure:
            shows = True
        elif not await is_answered(connections, sent.key):
            until = max(until or over, over)
    return SentByOthers(shows, until)

"""From when on a test secret that a worker has set may be taken to work at the edge: before that a probe sees
no difference, whatever the scope's sites do with Edge Side Code (docs/service.md §2.1).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from temporalio.exceptions import ApplicationError

from activities.change.intent_records import ClosedAs, SentBefore, beside_of, by_server, closed_as, intents_of
from activities.connections import Connections
from edgeshift.campaign.start import zone_policy
from edgeshift.messages import LOOK, Step, ZonePolicy, ZoneStart


async def refuse_before_it_works(connections: Connections, start: ZoneStart) -> None:
    """Raises a failure that is tried again, once it is due, where the scope's secret was set by a worker, in
    whichever campaign, and may not work at the edge yet. Where no worker has set it, there is nothing to wait
    for. Asked after the setting has shown the secret: the intent is on record before that, so that none is
    missed. Raises ArchiveError.

    By the server's time and the campaign's file: the workflow waits as well, and anybody may ask for a probe.
    """
    policy = zone_policy(await connections.spec(start.spec))
    rest, now = timedelta(0), by_server(connections)
    async for sent in intents_of(connections, start.target.zone, start.area, damaged=True):
        if sent.proven and sent.record.step == Step.SET_SECRET.value:
            until = await _works_from(connections, sent, policy)
            rest = max(rest, until - now) if until is not None else rest
    if rest > timedelta(0):
        # By the server's time it is due exactly then: it takes one try more, however long that is.
        raise ApplicationError(
            "the scope's secret was set a moment ago, and may not work at the edge yet"
            " (esc.secret_takes; esc.effect_limit where nobody has seen it show)",
            type="SecretNotShown",
            next_retry_delay=rest,
        )


async def _works_from(connections: Connections, sent: SentBefore, policy: ZonePolicy) -> datetime | None:
    """From when on the secret that was sent works, as the workflow waits for it: None where nothing came of
    it; where nobody has seen it show, once it may no longer be expected to. Both count from before the
    step ends, so that the workflow's wait is enough; where the clock of whoever set it was ahead, the probe's
    next try comes that much later.
    """
    at, key = sent.record.at, sent.key
    match await closed_as(connections, key):
        case None:
            return at + max(policy.migration_limit, policy.secret_takes)
        case ClosedAs.ANSWERED | ClosedAs.SHOWS:
            shown = await connections.archive.stored_at(beside_of(key, "nothing"))
            # The step is over by then, whatever the store's clock says.
            latest = at + policy.request_limit + LOOK
            return min(max(at, shown), latest) + policy.secret_takes
    return None

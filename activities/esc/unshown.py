"""What becomes of a change of a scope that did not come to show in time: by its setting, or by its URLs where
the setting does not tell (docs/service.md §4.1).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from temporalio import activity

from activities.boundary import refuse_held
from activities.change.intents import close_intents, seen_through
from activities.change.own_changes import OwnChange, landed_change, last_change, never_showed
from activities.connections import Connections
from activities.esc.reading import shows
from activities.stable_read import twice
from edgeshift.areas.esc import probe as esc_probe
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.messages import Confirm, Prepared, Shown, ZoneStart
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.probes import Baseline, Prober
from edgeshift.service_api import ServiceClient, ServiceError
from edgeshift.stores.documents import get_document
from edgeshift.stores.documents.areas.esc import ProbedProposal

MOST_TOLD = 5
"""Differences that a result says in words; the report in the archive has all."""

ON_FOR_CERTAIN = (False, False)
"""What a setting shows that is on: neither off, nor a secret alone (``shows``)."""


async def has_shown(connections: Connections, start: ZoneStart, own: OwnChange | None) -> None:
    """It is off: whichever commit turned it off, those that were sent before it was read have shown."""
    if own is not None and not own.back:
        await close_intents(connections, start.target.zone, start.area, own.commits)


async def stayed_on(
    connections: Connections,
    client: ServiceClient,
    start: ZoneStart,
    look: Callable[[], Awaitable[Shown | None]],
) -> Shown | None:
    """It did not come to show in time. Once it cannot any more, and the setting says twice that it is on,
    that is recorded: who turns it off later is not the campaign. What ``look`` gives where it shows by then;
    else None.
    """
    own = await landed_change(connections, start)
    if own is None:
        return None
    scope = start.target.zone.scope
    try:
        found = shows(await twice("esc.get", lambda: client.esc(scope, urgent=True), shows))
        if found != ON_FOR_CERTAIN:
            return await look()
    except ServiceError as failure:
        refuse_held(failure)
        activity.logger.info("not recorded that it never showed: %s", failure)
        return None
    await never_showed(connections, start, own)
    return None


async def settled_by_probe(connections: Connections, message: Confirm, prober: Prober) -> Shown:
    """A service that shows a scope's secret may not show its status beside it (docs/service.md §4.1): what
    the URLs answer tells then, where the probe found that turning off changes something. That they tell it is
    on is recorded, as by ``stayed_on``: so they are asked when it cannot come to show any more. Only once,
    since those of an account may take minutes.
    """
    start = message.start
    spec, own = await connections.spec(start.spec), await last_change(connections, start)
    # What was sent, whatever a message tells of it.
    prepared = own.prepared(message.prepared) if own is not None else message.prepared
    agreed, baseline = await probed(connections, prepared)
    as_before = agreed.model_copy(update={"differences": ()})
    landed = await landed_change(connections, start)
    now = await prober.observe(baseline, beat)
    # What others than the edge answer says nothing of Edge Side Code.
    told = esc_probe.from_edge(agreed, now)
    if told.differences and len(esc_probe.still_seen(told, now)) == len(told.differences):
        await has_shown(connections, start, own)
        return Shown(reached=True, why=(Reason(code=ReasonCode.ESC_OFF_BY_URLS),))
    seen = esc_probe.still_seen(agreed, now)
    others = [] if seen else esc_probe.worse(as_before, now, spec.section(EscSpec).tolerance)
    # What an earlier attempt was compared with is old: a site that has changed since says nothing of it.
    if others and not message.prepared.begun:
        unshown = Reason(code=ReasonCode.NOT_SHOWN_AND_WORSE, names=tuple(others[:MOST_TOLD]))
        return Shown(reached=False, worse=True, why=(unshown,))
    if seen or others or not told.differences:
        if landed is not None:
            # Nothing will tell any more: a person looks at it, and the next attempt begins afresh.
            await seen_through(connections, start.target.zone, start.area, landed.mine)
        elsewhere = esc_probe.unmarked(now.coverage.hosts_unmarked)
        return Shown(reached=False, why=(Reason(code=ReasonCode.NO_URL_TELLS), *elsewhere))
    if landed is not None:
        await never_showed(connections, start, landed)
    return Shown(reached=False, unchanged=True, why=(Reason(code=ReasonCode.ESC_ON_BY_URLS),))


async def probed(connections: Connections, prepared: Prepared) -> tuple[esc_probe.ProbeReport, Baseline]:
    """What was agreed to, and what it is compared with."""
    archive = connections.archive
    proposal = await get_document(archive, ProbedProposal, prepared.proposal)
    agreed = await get_document(archive, esc_probe.ProbeReport, proposal.report)
    return agreed, await get_document(archive, Baseline, proposal.baseline)


def beat(done: int, of: int) -> None:
    """Say how far a probe has come."""
    activity.heartbeat(done, of)

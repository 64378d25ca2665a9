"""Rules of the new WAF that a zone has and edgeshift did not write: looked for in what was read, before a
proposal, and at the service, before a validation that nobody signs (docs/service.md §4.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from activities.change.area_work import FencedStep, in_time
from activities.change.intent_records import intents_of
from activities.change.not_sent import NotSent
from activities.connections import Connections
from edgeshift.areas import waf
from edgeshift.messages import ChangeStatus, Step
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveMissing
from edgeshift.stores.documents import Proposal, Snapshot, get_document

_WRITE = (Step.VALIDATE.value, Step.COMMIT.value)


async def rules_replaced(
    connections: Connections, zone: Zone, stored: Mapping[str, Any] | None, body: Body
) -> tuple[str, ...]:
    """The rules of an entry point that this body would replace, and that edgeshift has not written, by the
    records that workers signed: a few words each. A record that cannot be read says nothing, so that the
    rules are told as somebody's. Raises ArchiveError where the archive does not answer.
    """
    if not waf.replaced(stored, body):
        # Most zones have none, and the archive is not asked.
        return ()
    written = []
    with suppress(ArchiveCorrupt, ArchiveMissing):
        proposals = {
            sent.record.proposal
            async for sent in intents_of(connections, zone, Area.WAF, forgiving=True, damaged=True)
            if sent.proven and sent.record.step in _WRITE and sent.record.proposal
        }
        for one in sorted(proposals):
            with suppress(ArchiveCorrupt, ArchiveMissing):
                written.append((await get_document(connections.archive, Proposal, one)).body)
    return waf.replaced(stored, body, *written)


async def refuse_replacing_unsigned(connections: Connections, step: FencedStep) -> None:
    """Raises NotSent with a drift where a validation, which nobody signs, would replace rules that edgeshift
    did not write, and nobody has consented for this zone. It is read again: blocked, or adopted where
    somebody has set it into validation. That it has such rules is believed when it stays.
    """
    spec = await connections.spec(step.change.start.spec)
    if spec.consents.replaces_rules(step.zone):
        return
    for _ in range(2):
        found = await in_time(step, step.client.entry_point(step.zone.id, urgent=True), "its stored rules")
        stored = found.raw if found is not None else None
        if not (rules := await rules_replaced(connections, step.zone, stored, step.body)):
            return
    raise NotSent(f"a validation would replace {rules[0]}", ChangeStatus.DRIFTED)


async def refuse_replacing_unasked(connections: Connections, step: FencedStep) -> None:
    """Raises NotSent with a drift where a zone had such rules as it was read, and nobody has consented for
    it, as after a proposal of an earlier version. Who signs a zone that was found in validation is told them.
    """
    spec = await connections.spec(step.change.start.spec)
    if spec.consents.replaces_rules(step.zone):
        return
    before = (await get_document(connections.archive, Snapshot[waf.Reading], step.change.snapshot)).reading
    if waf.in_validation(before.status):
        return
    if rules := await rules_replaced(connections, step.zone, before.entry_point, step.body):
        raise NotSent(f"the commit would replace {rules[0]}", ChangeStatus.DRIFTED)

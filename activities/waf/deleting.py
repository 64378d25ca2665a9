"""The URI-based overrides of a zone are deleted, each by a request of its own (docs/service.md §4.3)."""

from __future__ import annotations

from collections.abc import Awaitable
from http import HTTPStatus

from activities.change.area_work import FencedStep
from activities.change.not_sent import NotSent
from activities.connections import Connections
from activities.waf.proposing import NOTHING, deletion_body
from activities.waf.replacing import rules_replaced
from edgeshift.areas import waf
from edgeshift.messages import ChangeResult, ChangeStatus
from edgeshift.model.counts import agreed, counted
from edgeshift.model.digests import digest
from edgeshift.stores.documents import Snapshot, get_document


async def refuse_deleting_unasked(connections: Connections, step: FencedStep) -> None:
    """Raises NotSent with a drift where the campaign's file has no consent to that, whoever signed it; and
    where the zone had rules of the new WAF as it was read that edgeshift did not write, and nobody has
    consented to replace them: it could not move afterwards. It is read again, and blocked. Raises
    ArchiveError.
    """
    consents = (await connections.spec(step.change.start.spec)).consents
    if not consents.delete_uri_overrides:
        raise NotSent("nobody has consented to the deletion of URI overrides", ChangeStatus.DRIFTED)
    if consents.replaces_rules(step.zone):
        return
    before = (await get_document(connections.archive, Snapshot[waf.Reading], step.change.snapshot)).reading
    if rules := await rules_replaced(connections, step.zone, before.entry_point, NOTHING):
        raise NotSent(f"the commit that follows would replace {rules[0]}", ChangeStatus.DRIFTED)


async def delete_overrides(step: FencedStep) -> ChangeResult:
    """Delete the signed overrides, each once, as long as they are still exactly what was signed. One that the
    service does not have is gone, too. Whatever ends it after the first one, the outcome is unknown: what is
    left is found out by reading. Raises NotSent, with a drift where they have changed; ServiceError and
    SecretRefError where they cannot be read.
    """
    present = [override.raw for override in await step.client.waf_overrides(step.zone.id, urgent=True)]
    if digest(deletion_body(present)) != step.change.digest:
        raise NotSent("the zone's overrides have changed since they were signed", ChangeStatus.DRIFTED)
    identifiers = [str(rule["override"]["id"]) for rule in step.body["rules"]]
    all_of_them = counted(len(identifiers), "URI override")
    result, missing = ChangeResult(status=ChangeStatus.ANSWERED), ""
    for gone, identifier in enumerate(identifiers):
        result = await _delete(step, identifier)
        if _was_gone(result):
            missing = missing or result.reason
        elif result.status is not ChangeStatus.ANSWERED:
            told = f"{gone} of {all_of_them} {agreed(gone, 'is', 'are')} gone; then: {result.reason}"
            return _in_part(result, told) if gone else result
    # A list that is behind may still have it: the zone does not begin again at once, nor without end.
    return _in_part(result, f"one was gone already: {missing}") if missing else result


async def _delete(step: FencedStep, identifier: str) -> ChangeResult:
    def request() -> Awaitable[object]:
        return step.client.delete_waf_override(
            step.zone.id, identifier, before_send=lambda: step.fence.intend(f"-override-{identifier}")
        )

    try:
        return await step.fence.send(request)
    except NotSent as why:
        await step.fence.confirm(why.result)
        return why.result


def _was_gone(result: ChangeResult) -> bool:
    """Whether the service says of an override that there is none."""
    refused = result.status is ChangeStatus.REFUSED and result.cause is None
    return refused and result.http_status == HTTPStatus.NOT_FOUND


def _in_part(result: ChangeResult, reason: str) -> ChangeResult:
    """What a step comes to that did not delete them all, or not by itself."""
    unknown = {"status": ChangeStatus.UNKNOWN, "stands": False, "reason": reason[:200]}
    return result.model_copy(update=unknown)

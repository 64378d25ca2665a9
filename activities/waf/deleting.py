"""The URI-based overrides of a zone are deleted, each by a request of its own (docs/service.md §4.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Set
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus

from temporalio import activity

from activities.change.area_work import FencedStep
from activities.change.calling_off import unless_hurried
from activities.change.not_sent import NotSent
from activities.connections import Connections
from activities.polling import Lookout
from activities.waf.proposing import NOTHING, deletion_body
from activities.waf.replacing import rules_replaced
from edgeshift.areas import waf
from edgeshift.messages import ChangeResult, ChangeStatus
from edgeshift.model.counts import agreed, counted
from edgeshift.model.digests import digest
from edgeshift.runtime.secret_refs import SecretRefError
from edgeshift.service_api import RateLimited, Refused, ServiceError, Unsuccessful
from edgeshift.stores.documents import Snapshot, get_document

SHOWS_WITHIN = timedelta(minutes=1)
"""How long it is looked whether a deletion shows, before the time scale (docs/service.md §4.3, unknown)."""

LOOKS_FOR = 0.9
"""Part of the time left in which the last look begins."""


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


async def delete_overrides(connections: Connections, step: FencedStep) -> ChangeResult:
    """Delete the signed overrides, each once, as long as they are still exactly what was signed. One that the
    service does not have is gone, too. Whatever ends it after the first one, the outcome is unknown: what is
    left is found out by reading, and so that this finds it, those that are gone are looked for until they
    show as such. Raises NotSent, with a drift where they have changed; ServiceError, ArchiveError and
    SecretRefError where they cannot be read.
    """
    longest = SHOWS_WITHIN / (await connections.spec(step.change.start.spec)).time_scale
    gone = set[str]()
    result = await _deleted(step, gone)
    if gone:
        # Whoever calls it off waits for its outcome, which is known.
        await unless_hurried(step.fence, _until_shown(connections, step, gone, longest), None)
    return result


async def _deleted(step: FencedStep, gone: set[str]) -> ChangeResult:
    """What the deletions came to. ``gone``: takes the identifiers of those that are there no more, as far as
    that is known.
    """
    present = [override.raw for override in await step.client.waf_overrides(step.zone.id, urgent=True)]
    if digest(deletion_body(present)) != step.change.digest:
        raise NotSent("the zone's overrides have changed since they were signed", ChangeStatus.DRIFTED)
    identifiers = [str(rule["override"]["id"]) for rule in step.body["rules"]]
    all_of_them = counted(len(identifiers), "URI override")
    result, missing = ChangeResult(status=ChangeStatus.ANSWERED), ""
    for before, identifier in enumerate(identifiers):
        result = await _delete(step, identifier)
        if _was_gone(result):
            missing = missing or result.reason
        elif result.status is not ChangeStatus.ANSWERED:
            told = f"{before} of {all_of_them} {agreed(before, 'is', 'are')} gone; then: {result.reason}"
            return _in_part(result, told) if before else result
        gone.add(identifier)
    # A list that is behind may still have it: the zone does not begin again at once, nor without end.
    return _in_part(result, f"one was gone already: {missing}") if missing else result


async def _until_shown(
    connections: Connections, step: FencedStep, gone: Set[str], longest: timedelta
) -> None:
    """Look until the zone shows that these overrides are gone, for ``longest`` at most and as long as the
    step has time. It is read next: what does not show by then blocks it, or is proposed again. What was
    answered stands, whatever comes of looking.
    """
    start = step.change.start
    # What the last request left of its time is there for this: the activity's time-out has room for both.
    left = (step.fence.time.left() + start.policy.request_limit).total_seconds()
    limit = min(max(longest, 2 * start.policy.poll), SHOWS_WITHIN, timedelta(seconds=LOOKS_FOR * left))
    if limit <= timedelta(0):
        return
    looks = Lookout(connections, start, "deletion", limit=limit, since=None, soon=True)
    with suppress(TimeoutError), looks as lookout:
        async with asyncio.timeout(left):
            while True:
                await lookout.turn()
                try:
                    if await _shows(step, gone):
                        return
                except (ServiceError, SecretRefError) as failure:
                    activity.logger.info("not read after a deletion: %s", failure)
                # One that went wrong was in vain, too: there is no time for more than these.
                if lookout.is_over(""):
                    return


async def _shows(step: FencedStep, gone: Set[str]) -> bool:
    """Whether the zone's overrides are listed without these, and the check does not hold them against it.
    Where others are left, it is not eligible anyway.
    """
    listed = {str(override.id) for override in await step.client.waf_overrides(step.zone.id, urgent=True)}
    if listed:
        return not listed & gone
    try:
        check = await step.client.waf_check(step.zone.id, urgent=True)
    except RateLimited:
        raise
    except (Refused, Unsuccessful):
        # It is about something else: a zone that is not eligible is answered (docs/service.md §2.4).
        return True
    return check.raw.get("compatible") is True


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

"""The one fenced activity through which every mutating call to a zone goes.

One attempt. Before it sends it checks again what the workflow has checked: the sign-off, the digest, the
plan, the snapshot, the fresh configuration, the permit's expiry; and it creates the intent of this permit in
the archive, so that the same step cannot be sent twice, not even by an operator's reset. What it cannot close
is a process that is frozen between the last check and the first byte on the wire: the service has no
precondition to send along. The read-back after a commit looks for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio import activity

from activities.boundary import named_failures
from activities.connections import Connections
from activities.intents import came_to_nothing, commit_may_show, intent_key
from activities.waf import configuration_digest, deletion_body, read_configuration, runs
from edgeshift.archive import ArchiveError
from edgeshift.areas import waf
from edgeshift.areas.digests import canonical_bytes, digest, fingerprint
from edgeshift.campaign_spec import ValidationMode
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Step
from edgeshift.secret_refs import SecretRefError
from edgeshift.service_api import Conflict, RateLimited, Refused, ServiceClient, ServiceError
from edgeshift.sign_off import Tally, tally

LOOK = timedelta(seconds=60)
"""How long a validation that was answered is looked for at most; the activity's time-out has room for it."""


class NotSent(Exception):
    """It was decided, before anything was sent, not to send."""

    def __init__(self, reason: str, status: ChangeStatus = ChangeStatus.NOTHING_HAPPENED) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


@dataclass
class Fence:
    """What is checked just before each request of a step: the permit's expiry, the send window, the intent.

    The permit's expiry is the server's time; the moment the server started the activity plus this process's
    monotonic clock tells it without trusting the wall clock of this machine.
    """

    connections: Connections
    change: Change
    began: float
    intent: str = ""

    async def refuse_while_one_may_show(self) -> None:
        """Raises NotSent with an unknown outcome while a commit of this zone may still come to show: one of
        an earlier attempt, of a run that was reset, or of another campaign.
        """
        start = self.change.start
        if await commit_may_show(self.connections, start.target.zone, start.policy.migration_limit):
            raise NotSent("a commit was sent before, and may still come to show", ChangeStatus.UNKNOWN)

    async def settle(self, result: ChangeResult) -> None:
        """Record that nothing came of this intent, where that is proved. Without the record, the next attempt
        waits as if it were not.
        """
        if self.intent and result.status in (ChangeStatus.NOTHING_HAPPENED, ChangeStatus.REFUSED):
            await came_to_nothing(self.connections, self.intent, result.reason)

    def time_left(self) -> timedelta:
        """How long something may still be sent under the permit."""
        passed = timedelta(seconds=self.connections.clock.monotonic() - self.began)
        # A process that was stopped before its first line has lost time that its own clock did not see.
        late = self.connections.clock.now() - activity.info().started_time
        passed = max(passed, late)
        of_permit = self.change.permit.expires_at - (activity.info().started_time + passed)
        return min(of_permit, self.change.window - passed)

    def check_time(self) -> None:
        """Raises NotSent when the permit, or the time to send, has run out or the attempt was cancelled."""
        if self.time_left() <= timedelta(0):
            raise NotSent("the time to send ran out: slow readings, a stopped process, or a clock ahead")
        if activity.is_cancelled() or activity.is_worker_shutdown():
            raise NotSent("the worker was told to stop before it was sent")

    async def intend(self, what: str = "") -> None:
        """Create the intent, once. Raises NotSent with an unknown outcome where it exists already."""
        self.check_time()
        change = self.change
        key = intent_key(change.start.target.zone, change.start.area, f"{change.permit.name}{what}")
        record = {
            "step": change.step.value,
            "digest": change.digest,
            "campaign": change.start.campaign,
            "attempt": change.start.attempt,
            "at": self.connections.clock.now().isoformat(),
        }
        try:
            created = await self.connections.archive.create_once(key, canonical_bytes(record))
        except ArchiveError as failure:
            raise NotSent(f"the intent could not be archived: {failure}"[:200]) from None
        if not created:
            raise NotSent(
                "it has been sent under this permit before, or was about to be", ChangeStatus.UNKNOWN
            )
        self.intent = key
        self.check_time()


class MutationActivities:
    """Mutating steps of a zone."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @activity.defn(name="change_zone")
    @named_failures
    async def change(self, change: Change) -> ChangeResult:
        """Make one step under its permit. Never raises for what the service does: the result says what is
        known.
        """
        fence = Fence(self._connections, change, self._connections.clock.monotonic())
        try:
            body = await self._checked_body(change)
            client = await self._connections.service(change.start.spec, change.start.target.zone)
            if change.step is Step.DELETE_OVERRIDES:
                return await self._delete_overrides(client, change, fence, body)
            if change.step is Step.COMMIT:
                await fence.refuse_while_one_may_show()
                await self._compare_fresh(client, change, fence)
                result = await self._put(client, change, fence, body, waf.Mode.PENDING)
                await fence.settle(result)
                return result
            if change.config:
                await self._compare_fresh(client, change, fence)
            if change.mode is ValidationMode.SHADOW:
                body = waf.shadow(body)
            result = await self._put(client, change, fence, body, waf.Mode.VALIDATION)
            return await self._look(client, change, result, body)
        except NotSent as why:
            result = ChangeResult(status=why.status, reason=why.reason[:200])
            await fence.settle(result)
            return result
        except (ServiceError, ArchiveError, SecretRefError) as failure:
            # Only readings fail here; what the sending itself raises has become a result already.
            return ChangeResult(
                status=ChangeStatus.NOTHING_HAPPENED, reason=f"before it was sent: {failure}"[:200]
            )

    async def _checked_body(self, change: Change) -> dict[str, Any]:
        """The body as it was signed, from the archive. Raises NotSent where anything is not as it must be."""
        zone, archive = change.start.target.zone, self._connections.archive
        body: dict[str, Any] = (await archive.get_json(change.proposal))["body"]
        if digest(body) != change.digest or fingerprint(body, zone) != change.fingerprint:
            raise NotSent("the archived proposal is not the one that the digest names")
        if change.step is not Step.VALIDATE:
            decided = tally(
                change.decisions,
                frozenset({change.digest, change.fingerprint}),
                change.start.policy.sign_off,
                change.start.started_by,
                activity.info().started_time,
            )
            if decided is not Tally.APPROVED:
                raise NotSent("no valid sign-off of exactly this digest")
        if change.step is Step.COMMIT and waf.is_log_only(body):
            raise NotSent("a body that only logs is never committed")
        if change.step is Step.VALIDATE and (reason := waf.may_send(waf.Mode.VALIDATION, zone.plan)):
            raise NotSent(reason)
        if await archive.get_named(f"snapshot/{zone.id}/waf/{change.snapshot}") is None:
            raise NotSent("there is no snapshot of the zone in the archive")
        await archive.get_json(change.snapshot)
        return body

    async def _compare_fresh(self, client: ServiceClient, change: Change, fence: Fence) -> None:
        """Raises NotSent with a drift where the zone's configuration is not the one that was signed."""
        zone = change.start.target.zone
        try:
            async with asyncio.timeout(max(0.0, fence.time_left().total_seconds())):
                fresh = await read_configuration(client, zone, urgent=True)
        except TimeoutError:
            raise NotSent("the fresh configuration did not come in time") from None
        if configuration_digest(fresh) != change.config:
            raise NotSent("the zone's configuration has changed since it was signed", ChangeStatus.DRIFTED)

    async def _put(
        self, client: ServiceClient, change: Change, fence: Fence, body: dict[str, Any], mode: waf.Mode
    ) -> ChangeResult:
        zone = change.start.target.zone
        return await self._send(
            fence,
            lambda: client.put_entry_point(zone.id, body, waf_migration=mode.value, before_send=fence.intend),
        )

    async def _delete_overrides(
        self, client: ServiceClient, change: Change, fence: Fence, body: dict[str, Any]
    ) -> ChangeResult:
        """Delete the signed overrides, each once, as long as they are still exactly what was signed."""
        zone = change.start.target.zone
        present = [override.raw for override in await client.waf_overrides(zone.id)]
        if digest(deletion_body(present)) != change.digest:
            raise NotSent("the zone's overrides have changed since they were signed", ChangeStatus.DRIFTED)
        result = ChangeResult(status=ChangeStatus.ANSWERED)
        for rule in body["rules"]:
            identifier = str(rule["override"]["id"])

            def delete(identifier: str = identifier) -> Awaitable[object]:
                return client.delete_waf_override(
                    zone.id, identifier, before_send=lambda: fence.intend(f"/{identifier}")
                )

            result = await self._send(fence, delete)
            if result.status is not ChangeStatus.ANSWERED:
                return result
        return result

    async def _send(self, fence: Fence, send: Callable[[], Awaitable[object]]) -> ChangeResult:
        """One request, shielded from cancellation once it is under way, within the whole-request limit."""
        limit = fence.change.start.policy.request_limit.total_seconds()
        wait = max(0.0, fence.time_left().total_seconds())
        task = asyncio.ensure_future(_within(wait + limit, send))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            # The request may be on the wire: see it through, so that its outcome is not thrown away.
            await asyncio.wait([task])
            raise
        except NotSent:
            raise
        except TimeoutError:
            return ChangeResult(status=ChangeStatus.UNKNOWN, reason="no answer within the request's limit")
        except ServiceError as failure:
            return judged(failure)
        return ChangeResult(status=ChangeStatus.ANSWERED)

    async def _look(
        self, client: ServiceClient, change: Change, result: ChangeResult, body: dict[str, Any]
    ) -> ChangeResult:
        """After a validation was answered: whether it shows, looked for over a short while."""
        if result.status is not ChangeStatus.ANSWERED:
            return result
        clock = self._connections.clock
        zone, poll = change.start.target.zone, change.start.policy.poll.total_seconds()
        until = clock.monotonic() + min(LOOK.total_seconds() - 5, 3 * poll + 5)
        while True:
            try:
                status = (await client.waf_status(zone.id, urgent=True)).raw
                if waf.in_validation(status) and await runs(client, zone, body):
                    return result.model_copy(update={"seen": True})
            except ServiceError as failure:
                activity.logger.info("status not read after a validation: %s", failure)
            if clock.monotonic() + poll > until:
                return result
            await clock.sleep(poll)


async def _within(seconds: float, send: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(seconds):
        await send()


def judged(failure: ServiceError) -> ChangeResult:
    """What is known of a step whose request failed.

    Only a 429 and a failure before anything was written prove that nothing happened and may be tried again;
    another 4xx with the service's envelope ends the attempt; everything else is unknown (docs/service.md §7).
    """
    facts: dict[str, Any] = {
        "reason": str(failure)[:200],
        "http_status": failure.status or 0,
        "ray": (failure.ray or "")[:40],
    }
    if not failure.nothing_happened or isinstance(failure, Conflict):
        return ChangeResult(status=ChangeStatus.UNKNOWN, **facts)
    if isinstance(failure, RateLimited) or not isinstance(failure, Refused):
        return ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, **facts)
    return ChangeResult(status=ChangeStatus.REFUSED, cause=waf.support_cause(failure.unabridged), **facts)

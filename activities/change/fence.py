"""What surrounds each mutating request: the permit's time, the intent in the archive, one attempt, and what
is known of it afterwards.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from temporalio import activity

from activities.change.beside import SentByOthers, others_of
from activities.change.earlier import earlier_of
from activities.change.intent_records import OPENED, ClosedAs, by_server
from activities.change.intents import (
    close_intent,
    insisting,
    intent_key,
    is_given_up,
    on_the_wire_until,
    request_answered,
)
from activities.change.judging import judged
from activities.change.not_sent import NotSent
from activities.change.own import begun_by, record_of
from activities.change.permits import NO_ATTEMPT, NO_PERMIT, is_counted, is_named
from activities.change.rollbacks import settled_before
from activities.change.step_time import StepTime
from activities.connections import Connections
from activities.proof.authority import NotLetByRoots, NotSigned, RootsUnreadable
from activities.proof.listed_targets import Targets
from edgeshift.authority.roots import asking
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Step
from edgeshift.service_api import ServiceError
from edgeshift.service_api.caller import Still
from edgeshift.stores.archive import ArchiveError, ArchiveMisconfigured

CHECKED_AGAIN_AFTER = 1.0
"""Seconds of waiting for its turn after which it is asked anew whether people's signatures let a change
through: they may have stopped it since.
"""

TAKEN_BACK_WITHIN = 3.0
"""Seconds in which a campaign that was paused takes its permits back, once the pause is signed."""

Check = Callable[[Change, CampaignSpec, Targets, datetime], Awaitable[None]]
"""Asks whether a change rests on what people signed."""

STILL_ON_ITS_WAY = "another change of the zone may still be on its way"

WITHDRAWS_IN = 0.5
"""Seconds that another is given to withdraw its intent too."""


@dataclass
class Fence:
    """What is checked just before each request of a step: its permit's expiry, its time, the intent."""

    connections: Connections
    change: Change
    began: float
    """This process's monotonic clock as the step began, in seconds."""
    time: StepTime = field(init=False)
    intent: str = ""
    """The intent of the latest request, once it is created."""
    may_be_sent: bool = False
    """Whether the latest request has had its turn: from then on it may have been sent."""
    begun: bool = False
    """Whether any request of the step has had its turn: from then on the step is seen through."""
    recorded: bool = False
    """Whether any record of the step is this run's own: else it has sent nothing of it."""
    called_off: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the step is called off: what may still be sent of it is not, and nobody looks at it here."""
    opened: bool = False
    """Whether the permit's own record is there, which is created before the first request."""
    alone: bool = False
    """Whether it is sent only while no other commit of the zone may come to show."""
    checked: float = 0.0
    """When it was asked last whether people's signatures let it through, by this process's clock."""
    begun_by: str | None = None
    """The digest of the signed start that the step rests on, once it is recorded."""
    trail: str | None = None
    """Where what was there before lies, of an area that keeps that apart from the snapshot."""
    unsettled: bool = False
    """Whether nobody knows what became of the latest request, which may still come to show."""

    def __post_init__(self) -> None:
        self.time = StepTime(self.connections.clock, self.change, self.began)

    async def refuse_unsigned(self) -> None:
        """Raises NotSent where the step does not rest on what people signed with their keys, or nobody would
        find what is recorded of it.
        """
        if not is_named(self.change.permit):
            raise NotSent(NO_PERMIT, stands=True)
        if not is_counted(self.change.start):
            raise NotSent(NO_ATTEMPT, unsigned=NotSigned(NO_ATTEMPT))
        if self.change.step is Step.ROLL_BACK and (until := await self._change_arrives()):
            await self.connections.clock.sleep(
                min(until - self.time.now(), self.change.window / 2).total_seconds()
            )
        await self._ask(self.connections.authority.check)
        if self.change.step is Step.ROLL_BACK:
            signed = await settled_before(self.connections, self.change.start)
            if signed is not None:
                raise NotSent("what it would undo was seen to its end", settled=signed.seen)

    async def _ask(self, check: Check) -> None:
        """Have the step checked by what people signed, and note when. Raises NotSent, ArchiveError."""
        there = self.connections
        spec = await there.spec(self.change.start.spec)
        try:
            await check(self.change, spec, there.targets, self.time.now())
        except NotSigned as why:
            if why.halted and not why.full:
                # A moment later it is called off, and goes on at once when the campaign does. Else it is as
                # if its turn had not come: a pause passes.
                await there.clock.sleep(TAKEN_BACK_WITHIN)
            # Roots that are being replaced can be read a moment later. A rollback waits for them for days,
            # also where they do not know the service.
            kinds = NotLetByRoots if self.change.step is Step.ROLL_BACK else RootsUnreadable
            waits = why.halted or isinstance(why, kinds)
            unsigned = None if waits else why
            raise NotSent(str(why), turn=not waits, full=why.full, unsigned=unsigned) from None
        self.checked = there.clock.monotonic()

    async def _refuse_what_was_stopped(self) -> None:
        """Just before the first request of a step that was asked for and has waited for its turn since: ask
        once more what people signed. Raises NotSent, also where it cannot be seen.
        """
        waited = self.connections.clock.monotonic() - self.checked
        if self.begun or self.change.step is Step.ROLL_BACK or waited < CHECKED_AGAIN_AFTER:
            return
        await self._ask_late(self.connections.authority.check_again, "what people signed")

    async def _ask_late(self, check: Check, what: str) -> None:
        """As ``_ask``; raises NotSent where ``what`` cannot be read, too."""
        try:
            await self._ask(check)
        except ArchiveError as failure:
            raise NotSent(f"{what} could not be read: {failure}"[:200]) from None

    async def _refuse_what_was_used(self) -> None:
        """Raises NotSent, just before the first request, where what people signed has let the same through
        before, or where nobody has signed that the attempt begins; also where that cannot be seen. Not
        earlier: a run that was reset may find that nothing is left to send.
        """
        if self.begun or self.change.step is Step.ROLL_BACK:
            return
        there = self.connections

        async def check(change: Change, spec: CampaignSpec, targets: Targets, now: datetime) -> None:
            if asking(there.authority.roots_or_none()) is not None:
                earlier = await earlier_of(there, change, spec)
                await there.authority.check_earlier(change, spec, targets, now, earlier)

        await self._ask_late(check, "what was sent before")

    async def _change_arrives(self) -> datetime | None:
        """Until when what a rollback undoes may still be on its way: of two requests that cross, either may
        come last. None where it is not, and where that cannot be read, which holds no rollback up.
        """
        try:
            return await on_the_wire_until(self.connections, self.change.start)
        except ArchiveError:
            return None

    async def refuse_while_one_may_show(self) -> None:
        """Raises NotSent with an unknown outcome while a commit of this zone may still come to show: one of
        an earlier attempt, of a run that was reset, or of another campaign. What may only be on its way still
        is waited for; raises NotSent as without a turn where that takes longer than there is time.
        """
        found = await others_of(self.connections, self.change)
        if found.until is not None and not found.shows:
            rest = min(found.until - by_server(self.connections), self.time.left() / 2)
            await self.connections.clock.sleep(max(0.0, rest.total_seconds()))
            found = await others_of(self.connections, self.change)
        if found.shows:
            raise NotSent(
                "a commit was sent before, and may still come to show", ChangeStatus.UNKNOWN, earlier=True
            )
        if found.until is not None:
            raise NotSent(STILL_ON_ITS_WAY, turn=False)
        self.alone = True

    async def refuse_what_was_sent(self) -> None:
        """Raises NotSent with an unknown outcome where it has been sent under this permit, by a run that was
        reset since: what the service shows now is then this step's own doing, and no drift.
        """
        key = self._key("")
        there = await self.connections.archive.get_named(key) is not None
        if there and not await self._was_given_up(key):
            raise NotSent("it has been sent under this permit before", ChangeStatus.UNKNOWN)

    async def unless_sent_before(self, result: ChangeResult) -> ChangeResult:
        """``result``, but unknown where this run has recorded no request of the step, and an earlier one has
        sent it under this permit, or that cannot be seen: what stood in its way here, such as a reading that
        failed, or the time that ran out as its turn came, says nothing of that.
        """
        sent_here = self.recorded or result.status in (ChangeStatus.ANSWERED, ChangeStatus.UNKNOWN)
        if sent_here or not self.change.anew or self.change.step is Step.ROLL_BACK:
            return result
        if not is_named(self.change.permit):
            # Nothing is sent under such a one.
            return result
        try:
            await self.refuse_what_was_sent()
        except NotSent as why:
            return why.result.model_copy(update={"found": result.found})
        except ArchiveError as failure:
            unseen = f"it may have been sent before, which cannot be read: {failure}"
            return NotSent(unseen, ChangeStatus.UNKNOWN).result
        return result

    def _key(self, what: str) -> str:
        start, permit = self.change.start, self.change.permit
        return intent_key(start.target.zone, start.area, f"{permit.name}{what}")

    async def confirm(self, result: ChangeResult) -> None:
        """Record that nothing came of this intent, where that is proved. Without the record, the next attempt
        waits as if it were not.
        """
        if self.intent and result.status in (ChangeStatus.NOTHING_HAPPENED, ChangeStatus.REFUSED):
            # Its words may be the service's: they decide nothing.
            await close_intent(self.connections, self.intent, ClosedAs.NOTHING_CAME, result.reason)

    async def close(self) -> None:
        """Record that the request was answered, where its effect is immediate: nothing more comes of it."""
        self.unsettled = False
        if self.intent:
            await close_intent(self.connections, self.intent, ClosedAs.ANSWERED)
        self.intent = ""

    @property
    def may_be_called_off(self) -> bool:
        """Whether nothing of the step was sent, nor is about to be. The rollback is held up by nothing."""
        return not self.begun and self.change.step is not Step.ROLL_BACK

    def stopped(self) -> NotSent:
        """Nothing of it was sent, and the worker is to stop."""
        return NotSent("the worker was told to stop before it was sent", stands=True)

    def check_time(self) -> None:
        """Raises NotSent when the permit, or the time to send, has run out or the attempt was cancelled. A
        step of several requests is not left in the middle because it is called off.
        """
        if self.time.left() <= timedelta(0):
            why = "the time to send ran out: slow readings, a stopped process, or a clock ahead"
            raise NotSent(why, stands=True)
        if activity.is_worker_shutdown():
            raise self.stopped()
        whole = self.opened or self.change.step is Step.ROLL_BACK
        if activity.is_cancelled() and not whole:
            raise NotSent("it was called off before it was sent")

    async def intend(self, what: str = "") -> Still:
        """Create the intent, once; what asks again for the time, where it is not sent at once. Raises NotSent
        with an unknown outcome where it exists already, and as nothing where the permit was given up
        meanwhile.
        """
        await self._refuse_what_was_stopped()
        self.check_time()
        await self._refuse_what_was_used()
        if self.change.step is Step.ROLL_BACK and not self.begun and await self._change_arrives():
            raise NotSent("what it undoes may still be on its way", turn=False)
        first, self.may_be_sent, self.begun = not self.begun, True, True
        self.check_time()
        if what and not self.opened:
            # A run that was reset may have opened it: each request has an intent of its own.
            await self._create("", OPENED)
            self.opened = True
        if not await self._create(what, self.change.step.value):
            raise NotSent(
                "it has been sent under this permit before, or was about to be", ChangeStatus.UNKNOWN
            )
        self.intent = self._key(what)
        if self.alone:
            await self._refuse_beside_another()
        self.check_time()
        if first and self.change.step is Step.COMMIT:
            # Only now: what can no more be sent, or was given up, takes no place of the roots' caps.
            await self._ask_late(self.connections.authority.take_places, "how many commits were made")
            self.check_time()
        return self.check_time

    async def _refuse_beside_another(self) -> None:
        """Of two who looked before either had created its intent, at least one sees the other's now. Raises
        NotSent, as nothing where it cannot be seen.
        """
        try:
            if not await self._others():
                return
            why = "another change was about to be sent"
            await close_intent(self.connections, self.intent, ClosedAs.NOTHING_CAME, why)
            await self.connections.clock.sleep(WITHDRAWS_IN)
            found = await self._others()
        except ArchiveError as failure:
            raise NotSent(f"the intents could not be read: {failure}"[:200]) from None
        if not found:
            raise NotSent("another change was about to be sent, and was not")
        if not found.shows:
            raise NotSent(STILL_ON_ITS_WAY, turn=False)
        raise NotSent("another commit is about to be sent", ChangeStatus.UNKNOWN, earlier=True)

    async def _others(self) -> SentByOthers:
        there, change = self.connections, self.change
        return await insisting(there, lambda: others_of(there, change, beside=change.permit.name))

    async def _create(self, what: str, step: str) -> bool:
        """Create a record of this permit; False where there is one. Raises NotSent."""
        try:
            key = self._key(what)
        except ArchiveMisconfigured as failure:
            raise NotSent(str(failure)) from None
        # What is drawn tells this record from any other: one whose answer was lost may be there all the same.
        drawn, data = uuid.uuid4().hex, b""
        try:
            self.begun_by = self.begun_by or await begun_by(self.connections, self.change)
            record = record_of(self.change, step, self.time.now(), drawn, self.trail, self.begun_by)
            data = await self.connections.records.bytes_of(key, record)
            created = await self.connections.archive.create_once(key, data)
        except ArchiveError as failure:
            if not await self._is_this(key, data):
                raise NotSent(f"the intent could not be archived: {failure}"[:200]) from None
            created = True
        if created or await self._is_this(key, data):
            self.recorded = True
            return True
        if await self._was_given_up(key):
            raise NotSent("it was given up before it was sent", called_off=True)
        return False

    async def _is_this(self, key: str, data: bytes) -> bool:
        """Whether the record that is there has these bytes, and stays; False where that cannot be read."""
        try:
            return await self.connections.archive.holds(key, data)
        except ArchiveError:
            return False

    async def _was_given_up(self, key: str) -> bool:
        """Whether a record that is there gives the permit up. Raises NotSent with an unknown outcome."""
        try:
            return await is_given_up(self.connections, key)
        except ArchiveError as failure:
            raise NotSent(
                f"it may have been sent before, which cannot be read: {failure}"[:200], ChangeStatus.UNKNOWN
            ) from None

    async def send(self, request: Callable[[], Awaitable[object]]) -> ChangeResult:
        """One request, shielded from cancellation once it is under way, within the whole-request limit.

        ``request`` awaits ``intend`` when its turn has come, before anything of it is sent: as long as it has
        not, nothing has happened.
        """
        self.intent, self.may_be_sent = "", False
        result = await self._outcome_of(request)
        self.unsettled = result.status is ChangeStatus.UNKNOWN
        if self.intent == self._key("") and not self.unsettled:
            # The one request of this step: no other is sent under the permit.
            await request_answered(self.connections, self.intent)
        return result

    async def _outcome_of(self, request: Callable[[], Awaitable[object]]) -> ChangeResult:
        limit = self.change.start.policy.request_limit.total_seconds()
        wait = max(0.0, self.time.left().total_seconds())
        task = asyncio.ensure_future(_within(wait + limit, request))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not self.may_be_sent:
                # It waits for its turn, which goes to whoever is next.
                task.cancel()
            # Else it may be on the wire: see it through, so that its outcome is not thrown away.
            await asyncio.wait([task])
            raise
        except NotSent:
            raise
        except TimeoutError:
            if not self.may_be_sent:
                return ChangeResult(
                    status=ChangeStatus.NOTHING_HAPPENED,
                    reason="its turn within the rate limit did not come",
                    turn=False,
                    stands=True,
                )
            return ChangeResult(status=ChangeStatus.UNKNOWN, reason="no answer within the request's limit")
        except ServiceError as failure:
            return judged(failure, self.change.start.area)
        return ChangeResult(status=ChangeStatus.ANSWERED)


async def _within(seconds: float, send: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(seconds):
        await send()

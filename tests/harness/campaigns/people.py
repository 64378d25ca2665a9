"""The people of a campaign: who signs at once, late, twice, not at all, or only when it is too late; and what
support fixes. What they do depends on the schedule's seed and on what they look at, never on the hour.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Collection
from contextlib import suppress
from datetime import UTC, datetime

from temporalio.client import (
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.service import RPCError

from edgeshift.messages import CampaignResult, Waiting, ZonePhase
from edgeshift.model.sign_off import Choice
from edgeshift.testbed.invariants.seen import Signature
from edgeshift.testbed.invariants.ticketed import load_tickets
from tests.harness.campaigns.fleet_zones import EXPIRES_SECONDS
from tests.kit import Looks
from tests.kit.faults import Stage

LOOKS_EVERY = 0.5
LATE = 2.0
AGAIN = 1.0
AT_ONCE = 8

NOBODY_ANSWERS = (
    RPCError,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
"""A worker is being replaced, or the server is, or it is over: they look again."""


class People:
    """They look at the campaign until it is closed. ``fixed``: short names of zones that support fixes."""

    def __init__(self, stage: Stage, seed: str, manners: Collection[str], fixed: Collection[str]) -> None:
        self._stage = stage
        self._seed = seed
        self._manners = tuple(manners)
        self._mended = {stage.id(short): short for short in fixed}
        self._first: dict[str, float] = {}
        self._said: Counter[str] = Counter()
        self._closed: set[str] = set()
        self._anew = stage.anew
        self.unanswered = ""
        """Why nobody answered the last time that nobody did."""

    async def until_closed(self, within: float) -> CampaignResult:
        """Work until the campaign and every zone's workflow have closed. AssertionError if they do not."""
        try:
            await asyncio.wait_for(self._work(), within)
        except TimeoutError:
            raise AssertionError(f"still open after {within:g} s: {await self._stands()}") from None
        result = await self._stage.play.result()
        await self._stage.closed(60)
        return result

    async def _stands(self) -> str:
        try:
            async with asyncio.timeout(20):
                summary = await self._stage.play.summary()
        except (TimeoutError, *NOBODY_ANSWERS) as why:
            return f"nobody says how it stands ({why}; {self.unanswered})"
        return f"{summary.state}, {summary.places}, {summary.notes[-5:]}"

    async def _work(self) -> None:
        looks = Looks(LOOKS_EVERY)
        while True:
            try:
                if await self._stage.play.is_closed():
                    if await self._stage.reopen_refused():
                        continue
                    return
                await self._fix()
                await self._sign()
            except NOBODY_ANSWERS as why:
                self.unanswered = str(why)
            await looks.pause()

    async def _sign(self) -> None:
        if self._anew != self._stage.anew:
            self._anew = self._stage.anew
            self._said.clear()
            self._closed.clear()
        summary = await self._stage.play.summary()
        if summary.places.get("on_hold") and await self._stage.reopen_refused():
            return
        waiting = summary.waiting
        together = [one for one in waiting if one.zones > one.separate]
        await self._decide(together)
        if any(one.separate for one in waiting):
            await self._decide_singly()

    async def _decide(self, waiting: list[Waiting]) -> None:
        for choice in Choice:
            subjects = [one.fingerprint for one in waiting if self._due(one.fingerprint) is choice]
            if subjects:
                self._approving(choice, *subjects)
                await self._stage.play.sign(subjects, choice)
                self._said.update(subjects)

    async def _decide_singly(self) -> None:
        """Look at each zone that nobody has seen the end of."""
        looks = [self._decide_one(short) for short in self._stage.names if short not in self._closed]
        for start in range(0, len(looks), AT_ONCE):
            await asyncio.gather(*looks[start : start + AT_ONCE])

    async def _decide_one(self, short: str) -> None:
        play, name = self._stage.play, self._stage.name(short)
        with suppress(TimeoutError, *NOBODY_ANSWERS):
            async with asyncio.timeout(5):
                state = await play.state(name)
            if state.phase is ZonePhase.CLOSED:
                self._closed.add(short)
            if state.phase is not ZonePhase.AWAITING_SIGN_OFF or not state.digest:
                return
            subject = f"{short} {state.digest}"
            if choice := self._due(subject):
                self._approving(choice, state.digest, zone=self._stage.id(short))
                # A rejection that comes too late, for it was approved by its fingerprint, has to be told so.
                plain = choice is Choice.APPROVE
                await play.sign_zone(name, choice, digest=state.digest, plain=plain)
                self._said[subject] += 1

    def _approving(self, choice: Choice, *digests: str, zone: str | None = None) -> None:
        """An approval was said as soon as it is sent: the answer to it may be lost."""
        if choice is Choice.APPROVE:
            now = datetime.now(UTC)
            self._stage.play.signatures += [
                Signature(by=by, choice="approve", digest=digest, at=now, zone=zone)
                for digest in digests
                for by in self._stage.play.approvers
            ]

    def _due(self, subject: str) -> Choice | None:
        """What is to be said of it now, if anything."""
        now = asyncio.get_running_loop().time()
        waits = now - self._first.setdefault(subject, now)
        said = self._said[subject]
        # By the zone's name or by what is proposed, which are the same each time the seed is played.
        manner = random.Random(f"{self._seed}/{subject}").choice(self._manners)
        after = {"late": LATE, "expired": EXPIRES_SECONDS + 2}.get(manner, 0.0)
        again = manner == "twice" and said == 1 and waits >= AGAIN
        if again or (not said and waits >= after):
            return Choice.REJECT if manner == "reject" else Choice.APPROVE
        return None

    async def _fix(self) -> None:
        if not self._mended:
            return
        folder = self._stage.play.folder / "state" / "tickets"
        for ticket in await asyncio.to_thread(load_tickets, folder):
            if short := self._mended.pop(ticket.zone, ""):
                await self._stage.change(short, firewall_rules=[])
                await self._quietly(self._stage.play.resolve_support(self._stage.name(short)))

    @staticmethod
    async def _quietly(word: Awaitable[None]) -> None:
        with suppress(*NOBODY_ANSWERS):
            await word

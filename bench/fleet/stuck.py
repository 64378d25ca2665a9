"""Stopping a campaign whose zones are all stuck: their changes never show, and nobody has a turn to look.

All but a few zones are committed, and each is being looked at by ``verify`` when the user's quota is spent.
Then the others are given their permits, and wait for a turn. Now the campaign is paused, resumed and aborted.
After the last pause and after the abort there are turns again, so that something could be sent.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy

from bench.fleet.asking import APPROVER, OPERATOR
from bench.fleet.campaign import Course, Say, options_of, spec_of, until_served
from bench.fleet.checked import checked, verdicts
from bench.fleet.counted import AT_WORK
from bench.fleet.left import state_in
from bench.fleet.records import Asked
from bench.fleet.usage import usage_of_workers
from bench.fleet.zones import fleet_of
from edgeshift.messages import Blocked, CampaignSummary, QuotaStart, Step
from edgeshift.model.fleet import quota_id
from edgeshift.model.sign_off import Choice
from edgeshift.operations import (
    abort,
    assess,
    pause,
    planned,
    resume,
    sign_fingerprints,
    start_campaign,
    store_spec,
    summary,
)
from edgeshift.operations.pen import Pen
from edgeshift.quota.leases import terms_of
from edgeshift.rate_limit.slots import CLOCKS_APART, LEAD, LONGEST_BLOCK
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.stores.archive import Archive
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import Signature, StopRecord
from edgeshift.testbed.invariants.service import load_journal
from edgeshift.testbed.stack import Stack, stack

SHARE = 10
"""One zone in so many waits for its turn to be changed; the others are looked at in vain."""

LEASED_FOR = 15.0
"""Seconds until no process has a slot any more that it was given before the quota was spent."""

STATUS_TIMES = 50

WITHIN = 1_800.0
"""Seconds that each step towards it may take, on a slow machine."""

RULES = frozenset({1, 2, 6, 7, 8})
"""What can be judged of a campaign that is not at its end."""


class Stuck(BaseModel):
    """What is measured. ``zones``: all of them are at work, so that there are no more than the largest window
    of a campaign file has places. ``pauses``: how often it is paused before it is aborted. ``turns_for``: for
    how many seconds there are turns again.
    """

    name: str
    zones: int = 1_000
    pauses: int = 5
    turns_for: float = 10.0

    @property
    def course(self) -> Course:
        """The campaign: no limit binds until the quota is spent, and no migration ends."""
        return Course(
            name=self.name,
            zones=self.zones,
            enterprise=0,
            fingerprints=SHARE,
            limited=False,
            scale=1.0,
            migration=2 * 86_400.0,
            window=self.zones,
            pause_every=None,
        )


async def measured_stuck(part: Stuck, folder: Path, say: Say) -> dict[str, Any]:
    """Measure in ``folder``, which is removed at the end, and kept after an error (``state_in``). Raises
    RuntimeError where it does not come to that, OperationError.
    """
    fleet = fleet_of(part.zones, fingerprints=SHARE)
    with state_in(folder, say):
        async with stack(folder, fleet=fleet, time_scale=part.course.scale, say=say) as running:
            await running.control.send("PUT", "options", options_of(part.course))
            settings = TemporalSettings(address=running.address, namespace=running.namespace)
            client = await connect(settings, identity="bench")
            await until_served(client)
            return await _Scene(part, running, client, say).play()


class _Scene:
    """The campaign, and who asks it."""

    def __init__(self, part: Stuck, running: Stack, client: Client, say: Say) -> None:
        self._part, self._running, self._client, self._say = part, running, client, say
        self._archive = Archive(running.archive)
        self._spec = spec_of(part.course, running)
        service = self._spec.service
        self._user = service.caller(service.credentials[0])
        self._noted = Asked()
        self._took: dict[str, list[float]] = {"status": [], "pause": [], "abort": []}
        self._workers = usage_of_workers(running.workers)

    async def play(self) -> dict[str, Any]:
        """From the plan to what came of the abort; all figures."""
        targets = await self._begin()
        sent_before = await self._stick()
        for number in range(self._part.pauses):
            last = number == self._part.pauses - 1
            sent_paused = await self._pause(look=last)
        await self._all_permitted()
        said = await self._ask("abort", self._abort)
        await self._turns_again()
        journal = await load_journal(self._running.control)
        sent = Counter(one.zone for one in commits_of(journal))
        seen = await checked(self._running, self._client, self._spec, targets, journal, self._noted)
        return {
            "course": self._part.model_dump(),
            "zones": self._part.zones,
            "waiting_for_a_turn": self._part.zones - sent_before,
            "stuck": sent_before,
            "answer_most_seconds": {what: max(some) for what, some in self._took.items()},
            "answers_seconds": self._took,
            "abort_told_of": len(said.sent),
            "sent_after_pause": sent_paused - sent_before,
            "sent_after_abort": sum(sent.values()) - sent_paused,
            "double_commits": sum(number > 1 for number in sent.values()),
            "worker_rss_mb": self._workers.look().rss_mb,
            "rules": [one for one in verdicts(seen, frozenset()) if one["rule"] in RULES],
        }

    def _pen(self, by: str) -> Pen:
        return Pen(self._running.keyring.signer(by), self._archive, by)

    async def _begin(self) -> str:
        """Plan and start it; the digest of its targets."""
        self._say(f"{self._part.name}: planning {self._part.zones:,} zones")
        await assess(self._client, self._archive, self._spec)
        frozen = await planned(self._client, self._spec, await store_spec(self._archive, self._spec))
        start = await start_campaign(
            self._client, self._archive, self._spec, by=OPERATOR, frozen=frozen, pen=self._pen(OPERATOR)
        )
        return start.targets

    async def _stick(self) -> int:
        """Until all zones but one fingerprint's are committed, the quota is spent, and these others
        have their permits. How many commits there were.
        """
        zones = self._part.zones
        self._say(f"{self._part.name}: waiting for {zones:,} zones")
        found = await self._until("all wait", lambda one: sum(item.zones for item in one.waiting) == zones)
        groups = sorted(found.waiting, key=lambda item: item.zones)
        await self._sign(found.spec, [item.fingerprint for item in groups[1:]])
        stuck = zones - groups[0].zones
        self._say(f"{self._part.name}: committing {stuck:,} zones")
        await self._until_sent(stuck)
        await self._spend()
        # What was leased before runs out, and the last of them are looked at.
        await asyncio.sleep(LEASED_FOR)
        await self._sign(found.spec, [groups[0].fingerprint])
        await self._all_permitted()
        return len(commits_of(await load_journal(self._running.control)))

    async def _sign(self, spec: str, fingerprints: Sequence[str]) -> None:
        name, at = self._spec.name, datetime.now(UTC)
        await self._pen(APPROVER).fingerprints(
            name, spec, Choice.APPROVE, step=Step.COMMIT, fingerprints=fingerprints, reason="read"
        )
        await sign_fingerprints(self._client, name, fingerprints, Choice.APPROVE, by=APPROVER, reason="read")
        self._noted.signatures += [
            Signature(by=APPROVER, choice="approve", digest=one, at=at) for one in fingerprints
        ]

    async def _all_permitted(self) -> None:
        # Permits of what was sent are taken back by a pause: places tell of all.
        zones = self._part.zones
        await self._until("all are at work", lambda one: at_work(one) == zones)

    async def _pause(self, *, look: bool) -> int:
        """Pause and resume. ``look``: whether there are turns again in between; then how many commits there
        were by then.
        """
        await self._all_permitted()
        name, pen, sent = self._spec.name, self._pen(OPERATOR), 0
        for _ in range(STATUS_TIMES // self._part.pauses):
            await self._ask("status", lambda: summary(self._client, name))
        asked_at = datetime.now(UTC)
        await self._ask("pause", lambda: pause(self._client, name, by=OPERATOR, reason="measured", pen=pen))
        answered_at = datetime.now(UTC)
        if look:
            await self._turns_again()
            sent = len(commits_of(await load_journal(self._running.control)))
            await self._spend()
            await asyncio.sleep(LEASED_FOR)
        resumed_at = datetime.now(UTC)
        await resume(self._client, name, by=OPERATOR, reason="measured", pen=pen)
        self._noted.stops.append(
            StopRecord(
                campaign=name,
                kind="pause",
                by=OPERATOR,
                asked_at=asked_at,
                answered_at=answered_at,
                resumed_at=resumed_at,
            )
        )
        return sent

    async def _abort(self) -> Any:
        name, asked_at = self._spec.name, datetime.now(UTC)
        said = await abort(self._client, name, by=OPERATOR, reason="measured", pen=self._pen(OPERATOR))
        self._noted.stops.append(
            StopRecord(
                campaign=name, kind="abort", by=OPERATOR, asked_at=asked_at, answered_at=datetime.now(UTC)
            )
        )
        return said

    async def _ask(self, what: str, work: Callable[[], Awaitable[Any]]) -> Any:
        began = time.perf_counter()
        said = await work()
        self._took[what].append(round(time.perf_counter() - began, 3))
        if what != "status":
            self._say(f"{self._part.name}: {what} answered after {self._took[what][-1]:g} s")
        return said

    async def _spend(self) -> None:
        """From now on nobody is given a turn."""
        await self._client.start_workflow(
            "Quota",
            QuotaStart(user=self._user, terms=terms_of(self._spec.scaled())),
            id=quota_id(self._user),
            task_queue=Queue.QUOTA,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal="blocked",
            start_signal_args=[Blocked(seconds=LONGEST_BLOCK)],
        )

    async def _turns_again(self) -> None:
        """There are turns again for a while: a quota that begins again knows of no block, and hands out
        slots once none of the earlier one's can be out.
        """
        await self._client.get_workflow_handle(quota_id(self._user)).terminate("measured")
        until = terms_of(self._spec.scaled()).block_length * (1 + LEAD) + CLOCKS_APART
        await asyncio.sleep(until + self._part.turns_for)

    async def _until(self, what: str, there: Callable[[CampaignSummary], bool]) -> CampaignSummary:
        limit = time.monotonic() + WITHIN
        while not there(found := await summary(self._client, self._spec.name)):
            if time.monotonic() > limit:
                raise RuntimeError(f"{self._part.name}: not within {WITHIN:g} s: {what}; {found.places}")
            await asyncio.sleep(1.0)
        return found

    async def _until_sent(self, number: int) -> None:
        limit = time.monotonic() + WITHIN
        while (sent := len(commits_of(await load_journal(self._running.control)))) < number:
            if time.monotonic() > limit:
                raise RuntimeError(f"{self._part.name}: {sent:,} of {number:,} commits within {WITHIN:g} s")
            await asyncio.sleep(5.0)


def at_work(found: CampaignSummary) -> int:
    """Zones whose change is being sent or verified."""
    return sum(found.places.get(place, 0) for place in AT_WORK)


def commits_of(journal: Sequence[Request]) -> list[Request]:
    """The commits that took effect, or will."""
    return [one for one in journal if one.commits and one.effect != "none"]

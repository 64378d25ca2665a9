"""Leasing slots of a user's rate limit from its quota workflow, for the pacers of one process, and what the
quota knows of held calls.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from typing import Any, TypeVar

from temporalio.client import Client, WithStartWorkflowOperation, WorkflowExecutionStatus
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec
from edgeshift.messages import (
    HELD,
    AskProbe,
    Blocked,
    Fixed,
    HoldCalls,
    LeaseRequest,
    Message,
    ProbeTurn,
    QuotaStart,
)
from edgeshift.model.fleet import quota_id
from edgeshift.rate_limit.address import ByAddress, address_terms
from edgeshift.rate_limit.circuit import OpenCircuit, Standing
from edgeshift.rate_limit.others import Seen
from edgeshift.rate_limit.pacing import Pacer, SlotPacer
from edgeshift.rate_limit.slots import LONGEST_BLOCK, Lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from edgeshift.runtime.process_name import process_name
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.temporal import is_missing, memo_has, memo_value_of

Answer = TypeVar("Answer")

MINUTE = 60.0
"""Seconds between probes while calls are held, before the time scale divides them."""

_SHORTEST_MINUTE = 1.0
_ANSWER_WITHIN = timedelta(seconds=20)

_CROWDED = (0.05, 0.25)
"""Seconds until a lease is asked for again where too many have asked at a time, at least and at most."""


def terms_of(spec: CampaignSpec) -> PaceTerms:
    """The terms of a user's limit as a campaign's scaled specification says it."""
    rate = spec.service.rate
    minute = max(MINUTE / spec.time_scale, _SHORTEST_MINUTE)
    return PaceTerms(limit=rate.requests, window=rate.per.total_seconds(), people=rate.people, minute=minute)


class Quotas:
    """The pacers of one process, one a user, over the quota workflows of all users. ``holder``: what no other
    process is called there. ``address``: the name of the address that it calls from, whose limit has a quota
    of its own.
    """

    def __init__(self, temporal: Client, holder: str | None = None, *, address: str = "one") -> None:
        self._temporal = temporal
        self._holder = holder or process_name()
        self._address = address
        self._addresses: dict[tuple[str, PaceTerms], SlotPacer] = {}
        self._pacers: dict[tuple[str, PaceTerms], SlotPacer] = {}
        self._credentials: dict[tuple[str, PaceTerms], list[str]] = {}

    def pacer(self, credential: CredentialSpec, spec: CampaignSpec) -> Pacer:
        """The pacer of the user that the credential counts against; where the profile knows a limit of each
        address too, with a turn among all that is called from this process's address.
        """
        user, most = self._of_user(credential, spec), spec.service.facts.rate.per_address
        if most is None:
            return user
        whose, terms = spec.service.address(self._address), address_terms(most * spec.time_scale)
        if (whose, terms) not in self._addresses:

            async def more(want: int, lane: Lane) -> Lease:
                return await self._lease(whose, terms, want, lane, (), None)

            self._addresses[whose, terms] = SlotPacer(more, user=whose)
        return ByAddress(user, self._addresses[whose, terms])

    def _of_user(self, credential: CredentialSpec, spec: CampaignSpec) -> SlotPacer:
        user, terms = spec.service.caller(credential), terms_of(spec)
        key = (user, terms)
        credentials = self._credentials.setdefault(key, [])
        if credential.reference not in credentials:
            credentials.append(credential.reference)
        if key not in self._pacers:

            async def more(want: int, lane: Lane) -> Lease:
                seen = self._pacers[key].seen()
                return await self._lease(user, terms, want, lane, credentials, seen)

            async def on_blocked(seconds: float) -> None:
                await self._temporal.get_workflow_handle(quota_id(user)).signal(
                    "blocked", Blocked(seconds=min(max(0.0, seconds), LONGEST_BLOCK))
                )

            async def on_held(hold: OpenCircuit) -> None:
                await self._begin(user, terms, "hold", HoldCalls(hold=hold, now=True))

            self._pacers[key] = SlotPacer(
                more, on_blocked=on_blocked, on_held=on_held, minute=terms.minute, user=user
            )
        return self._pacers[key]

    async def _lease(
        self,
        user: str,
        terms: PaceTerms,
        want: int,
        lane: Lane,
        credentials: Iterable[str],
        seen: Seen | None,
    ) -> Lease:
        request = LeaseRequest(
            holder=self._holder,
            want=want,
            lane=lane,
            terms=terms,
            credentials=tuple(credentials),
            seen=seen,
        )
        return await self._update(user, terms, "lease", request, Lease)

    async def _update(
        self, user: str, terms: PaceTerms, update: str, request: Message, answers: type[Answer]
    ) -> Answer:
        """Ask the user's quota, which begins with it where there is none."""
        until = time.monotonic() + _ANSWER_WITHIN.total_seconds()
        while True:
            try:
                return await self._update_running(user, update, request, answers)
            except RPCError as failure:
                if is_missing(failure):
                    return await self._update_anew(user, terms, update, request, answers)
                if failure.status is not RPCStatusCode.RESOURCE_EXHAUSTED or time.monotonic() > until:
                    raise
            # A workflow takes ten updates at a time, and a user may have more processes than that.
            await asyncio.sleep(random.uniform(*_CROWDED))

    async def _update_running(
        self, user: str, update: str, request: Message, answers: type[Answer]
    ) -> Answer:
        found: Answer = await self._temporal.get_workflow_handle(quota_id(user)).execute_update(
            update, request, result_type=answers, rpc_timeout=_ANSWER_WITHIN
        )
        return found

    async def _update_anew(
        self, user: str, terms: PaceTerms, update: str, request: Message, answers: type[Answer]
    ) -> Answer:
        """The first one of a quota that is not there, or that somebody has ended."""

        async def begun(start: QuotaStart, reuse: WorkflowIDReusePolicy) -> Answer:
            found: Answer = await self._temporal.execute_update_with_start_workflow(
                update,
                request,
                start_workflow_operation=WithStartWorkflowOperation("Quota", start, **_options(user, reuse)),
                result_type=answers,
                rpc_timeout=_ANSWER_WITHIN,
            )
            return found

        return await _first_or_again(QuotaStart(user=user, terms=terms), begun)

    async def _begin(self, user: str, terms: PaceTerms, signal: str, message: Message) -> None:
        """Signal the user's quota, which begins with it where there is none."""

        async def begun(start: QuotaStart, reuse: WorkflowIDReusePolicy) -> None:
            await self._temporal.start_workflow(
                "Quota",
                start,
                **_options(user, reuse),
                start_signal=signal,
                start_signal_args=[message],
                rpc_timeout=_ANSWER_WITHIN,
            )

        await _first_or_again(QuotaStart(user=user, terms=terms), begun)

    # --- held calls

    async def hold(self, credential: CredentialSpec, spec: CampaignSpec, hold: OpenCircuit) -> None:
        """Hold calls of the credential's user, unless they were fixed since. What holds is then published."""
        user = spec.service.caller(credential)
        if not any(one.credential == hold.credential for one in (await self.standing(user)).holds):
            await self._update(user, terms_of(spec), "hold_calls", HoldCalls(hold=hold), Standing)

    async def standing(self, user: str) -> Standing:
        """What is held of a user's calls, as its quota publishes it; where none is open, nothing."""
        handle = self._temporal.get_workflow_handle(quota_id(user))
        described = await self._answer(handle.describe(rpc_timeout=_ANSWER_WITHIN))
        if described is None or described.status is not WorkflowExecutionStatus.RUNNING:
            return Standing()
        if memo_has(described, HELD):
            return await memo_value_of(described, HELD, Standing) or Standing()
        # A run that began before quotas published it.
        found = await self._answer(handle.query("standing", result_type=Standing, rpc_timeout=_ANSWER_WITHIN))
        return Standing.model_validate(found) if found is not None else Standing()

    async def probe(self, user: str, credentials: Iterable[str]) -> OpenCircuit | None:
        """The hold that may be probed now with one of these credentials, or None."""
        found = await self._answer(
            self._temporal.get_workflow_handle(quota_id(user)).execute_update(
                "probe",
                AskProbe(credentials=tuple(credentials)),
                result_type=ProbeTurn,
                rpc_timeout=_ANSWER_WITHIN,
            )
        )
        return ProbeTurn.model_validate(found).hold if found is not None else None

    async def fixed(self, user: str, credentials: Iterable[str]) -> None:
        """Let calls with these credentials go on, for every process and campaign of the user."""
        await self._answer(
            self._temporal.get_workflow_handle(quota_id(user)).signal(
                "fixed", Fixed(credentials=tuple(credentials)), rpc_timeout=_ANSWER_WITHIN
            )
        )

    async def _answer(self, asked: Any) -> Any:
        try:
            return await asked
        except RPCError as failure:
            if is_missing(failure):
                return None
            raise

    async def close(self) -> None:
        """End the pacers' own tasks."""
        for pacer in (*self._pacers.values(), *self._addresses.values()):
            await pacer.aclose()


def _options(user: str, reuse: WorkflowIDReusePolicy) -> dict[str, Any]:
    """How a user's quota is started, by whatever begins it."""
    return {
        "id": quota_id(user),
        "task_queue": Queue.QUOTA,
        "id_reuse_policy": reuse,
        "id_conflict_policy": WorkflowIDConflictPolicy.USE_EXISTING,
        "static_summary": f"rate limit of {user}",
    }


async def _first_or_again(
    start: QuotaStart, begun: Callable[[QuotaStart, WorkflowIDReusePolicy], Awaitable[Answer]]
) -> Answer:
    """Begin a user's quota, or ask the one that runs. Temporal knows for days that there was one: only the
    first one of all has no slots out that it does not know of, and hands out its own at once.
    """
    try:
        return await begun(start, WorkflowIDReusePolicy.REJECT_DUPLICATE)
    except WorkflowAlreadyStartedError:
        again = start.model_copy(update={"again": True})
        return await begun(again, WorkflowIDReusePolicy.ALLOW_DUPLICATE)

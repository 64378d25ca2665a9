"""Leasing slots of a user's rate limit from its quota workflow, for the pacers of one process."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy

from edgeshift.campaign_spec import CredentialSpec, RateSpec
from edgeshift.fleet import quota_id
from edgeshift.messages import Blocked, LeaseRequest, QuotaStart
from edgeshift.pace import Lane, Lease, PaceTerms
from edgeshift.service_api import Pacer, SlotPacer

QUOTA_QUEUE = "edgeshift-quota"
"""A task queue of its own: zones that wait for a slot must not keep the quota from handing it out."""


def terms_of(rate: RateSpec) -> PaceTerms:
    """The terms of a user's limit as a campaign's specification says it."""
    return PaceTerms(limit=rate.requests, window=rate.per.total_seconds(), people=rate.people)


class Quotas:
    """The pacers of one process, one a user, over the quota workflows of all users."""

    def __init__(self, temporal: Client, holder: str | None = None) -> None:
        self._temporal = temporal
        self._holder = holder or f"{socket.gethostname()}-{os.getpid()}"
        self._pacers: dict[tuple[str, PaceTerms], SlotPacer] = {}

    def pacer(self, credential: CredentialSpec, rate: RateSpec) -> Pacer:
        """The pacer of the user that the credential counts against."""
        terms = terms_of(rate)
        key = (credential.user, terms)
        if key not in self._pacers:
            user = credential.user

            async def more(want: int, lane: Lane) -> Lease:
                return await self._lease(user, terms, want, lane)

            async def on_blocked(seconds: float) -> None:
                await self._temporal.get_workflow_handle(quota_id(user)).signal(
                    "blocked", Blocked(seconds=seconds)
                )

            self._pacers[key] = SlotPacer(more, on_blocked=on_blocked)
        return self._pacers[key]

    async def _lease(self, user: str, terms: PaceTerms, want: int, lane: Lane) -> Lease:
        found: Lease = await self._temporal.execute_update_with_start_workflow(
            "lease",
            LeaseRequest(holder=self._holder, want=want, lane=lane, terms=terms),
            start_workflow_operation=WithStartWorkflowOperation(
                "Quota",
                QuotaStart(user=user, terms=terms),
                id=quota_id(user),
                task_queue=QUOTA_QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                static_summary=f"rate limit of {user}",
            ),
            result_type=Lease,
            rpc_timeout=timedelta(seconds=20),
        )
        return found

    async def close(self) -> None:
        """End the pacers' own tasks."""
        for pacer in self._pacers.values():
            await pacer.aclose()

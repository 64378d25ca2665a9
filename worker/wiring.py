"""What a worker registers, and how its activities come by their outside systems."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import (
    Interceptor,
    Replayer,
    WorkerDeploymentConfig,
)
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.calls_made import Counts, CountsCalls
from activities.change.area_work import AreaWork
from activities.change.door import MutationActivities
from activities.circuit import HeldCallActivities, HeldCalls, HeldHere
from activities.comparing import ComparingActivities
from activities.connections import Connections, PacerSource
from activities.fanout import ZoneActivities
from activities.own_archive import OwnArchive
from activities.reports import ReportActivities
from activities.rulings import RulingActivities
from activities.targets import TargetActivities
from activities.tickets import SupportActivities
from edgeshift.areas import AREAS
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.worker_pen import WorkerPen, worker_pen
from edgeshift.model.fleet import Area
from edgeshift.quota.leases import Quotas
from edgeshift.runtime.clock import Clock, SystemClock
from edgeshift.runtime.payloads import data_converter
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import Settings
from edgeshift.stores.archive import Archive
from worker.parts import WORKER
from worker.queues import Serves, serving, slots
from workflows.assessment import Assessment, TargetList
from workflows.campaign.workflow import Campaign
from workflows.quota import Quota

PARTS = {area: WORKER.of(area) for area in AREAS}

WORKFLOWS: dict[Queue, list[type]] = {
    Queue.CONTROL: [Campaign, Assessment, TargetList],
    Queue.ZONES: [workflow for part in PARTS.values() for workflow in part.workflows],
    Queue.CHANGES: [],
    Queue.LONG: [],
    Queue.QUOTA: [Quota],
}
"""The workflows of each task queue. Activities run where workflows/options.py says."""

GRACE = timedelta(seconds=90)
"""Longer than any request's limit with the checks before it, so that a stopping worker sees a change through.
"""

PASSED_THROUGH = (
    "edgeshift",
    "activities",
    "workflows",
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "rfc8785",
    "httpx",
    *(package for part in PARTS.values() for package in part.passed_through),
)


def area_work(connections: Connections) -> dict[Area, AreaWork]:
    """Each area's part of the shared activities."""
    return {area: part.work(connections) for area, part in PARTS.items()}


def activities_of(connections: Connections, calls: HeldCalls) -> dict[Queue, Sequence[Callable[..., Any]]]:
    """The activities of each task queue, bound to these connections: what changes zones has one to itself,
    and is done for nobody on another. ``calls``: who keeps what is held of a user's calls.
    """
    waiting = HeldCallActivities(connections, calls)
    work = area_work(connections)
    zones, targets = ZoneActivities(connections, work), TargetActivities(connections, work, waiting)
    mutations = MutationActivities(connections, work)
    rulings = RulingActivities(connections)
    others: list[Callable[..., Any]] = [
        *(activity for part in PARTS.values() for activity in part.activities(connections)),
        mutations.give_up,
        mutations.give_up_permits,
        mutations.look_back,
        ReportActivities(connections).tell,
        rulings.record,
        rulings.record_own,
        rulings.recall,
        SupportActivities(connections).open_ticket,
        zones.start,
        zones.tell,
        zones.describe,
        ComparingActivities(connections, work).compare,
        waiting.wait,
        waiting.let_go,
        targets.resolve,
        targets.assess,
        targets.merge,
    ]
    found: dict[Queue, Sequence[Callable[..., Any]]] = {queue: others for queue in Queue}
    return {**found, Queue.CHANGES: [mutations.change], Queue.QUOTA: ()}


def sandbox() -> SandboxedWorkflowRunner:
    """The sandbox that workflows run in: the domain's own modules are passed through, linted against clocks
    and I/O.
    """
    return SandboxedWorkflowRunner(
        restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
    )


def deployment(settings: Settings) -> WorkerDeploymentConfig | None:
    """The worker's place in a deployment, where its settings name one. Workflows move on to each new build,
    so that a safety fix reaches zones that wait for weeks; histories of theirs are replayed before it is
    released."""
    named, build = settings.worker.deployment, settings.worker.build_id
    if named is None or build is None:
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(deployment_name=named, build_id=build),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.AUTO_UPGRADE,
    )


def replayer() -> Replayer:
    """What replays a history as these workers would, without a server: raises, or names, where a history
    leaves the code's course.
    """
    return Replayer(
        workflows=[workflow for some in WORKFLOWS.values() for workflow in some],
        data_converter=data_converter,
        workflow_runner=sandbox(),
    )


def roots_of(settings: Settings) -> RootsFiles | None:
    """The worker's roots of authority, if it has some. Raises RootsError where they cannot be used."""
    if settings.authority.roots is None:
        return None
    files = RootsFiles(settings.authority.roots, owned=True)
    files.current()
    return files


def pen_of(settings: Settings, roots: RootsFiles | None) -> WorkerPen | None:
    """With what the worker signs its results, where its roots ask for that. Raises RootsError where it has no
    key that they know.
    """
    return worker_pen(settings.authority.worker_key, roots.current() if roots else None)


@asynccontextmanager
async def workers(
    client: Client,
    settings: Settings,
    *,
    clock: Clock | None = None,
    pacer: PacerSource | None = None,
    quota: bool = True,
    ticket_folder: Path | None = None,
    grace: timedelta = GRACE,
    extra: Sequence[type] = (),
    interceptors: Sequence[Interceptor] = (),
) -> AsyncIterator[Connections]:
    """Run the workers of one process until the block ends: one for each task queue that it serves.

    ``pacer``: in place of leases from the quota workflows (tests on skipped time). ``quota``: whether this
    process also serves the quotas, where its settings say so. ``extra``: further workflow types, beside the
    zones'.
    """
    quotas = Quotas(client, address=settings.worker.address)
    folder = ticket_folder or settings.state_dir / "tickets"
    roots = roots_of(settings)
    connections = Connections(
        client,
        Archive(settings.archive),
        clock or SystemClock(),
        pacer or quotas.pacer,
        str(folder),
        timedelta(seconds=settings.worker.workflow_task_timeout_seconds),
        roots,
        pen_of(settings, roots),
    )
    counts = Counts(connections.archive)
    activities = activities_of(connections, HeldHere(connections.clock) if pacer else quotas)
    sizes = slots(settings.worker)
    served = {
        queue: Serves(
            workflows=[*WORKFLOWS[queue], *(extra if queue is Queue.ZONES else ())],
            activities=activities[queue],
            slots=sizes[queue],
        )
        for queue in settings.worker.served
        if quota or queue is not Queue.QUOTA
    }
    async with AsyncExitStack() as running:
        running.push_async_callback(quotas.close)
        running.push_async_callback(connections.close)
        await running.enter_async_context(counts.recorded())
        await running.enter_async_context(
            serving(
                client,
                served,
                workflow_runner=sandbox(),
                graceful_shutdown_timeout=grace,
                interceptors=[*interceptors, OwnArchive(connections.archive), CountsCalls(counts)],
                deployment_config=deployment(settings),
            )
        )
        yield connections

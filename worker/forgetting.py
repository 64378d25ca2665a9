"""A worker that forgets a workflow which a query has brought past its last workflow task.

A query that is not sent to the worker which has the workflow in its cache brings the whole history with it,
up to the moment: messages too for which no workflow task has begun yet. The SDK applies those at once, so
that the query is answered, and keeps what comes of it. No replay comes to that state: it applies them later,
with whatever has come by the next task, and at that task's time (docs/decisions.md, "What a query may
leave"). So such a workflow is put out of the cache as soon as the query is answered, and its next task begins
with its history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import StorageDriverStoreContext
from temporalio.worker import (
    Worker,
    WorkflowInstance,
    WorkflowInstanceDetails,
    WorkflowRunner,
)
from temporalio.workflow import Info, _Definition

QUERY_ALONE = "legacy_query"
"""The SDK's name of a query that comes without a workflow task; one that comes with a task has another."""

CHANGES_NOTHING = frozenset({"query_workflow", "remove_from_cache"})
"""Jobs of an activation that bring no event to a workflow."""

Forget = Callable[[str], None]
"""Puts the run of this identifier out of the worker's cache, once what is under way there is answered."""


class Runner(WorkflowRunner):
    """Runs workflows as ``inner`` does."""

    def __init__(self, inner: WorkflowRunner) -> None:
        self._inner = inner

    def prepare_workflow(self, defn: _Definition) -> None:
        """As the inner one."""
        self._inner.prepare_workflow(defn)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """The inner one's."""
        return self._inner.create_instance(det)

    def set_worker_level_failure_exception_types(self, types: Any) -> None:
        """As the inner one."""
        self._inner.set_worker_level_failure_exception_types(types)


class Instance(WorkflowInstance):
    """A workflow in the cache, which does as ``inner`` does, but says nothing of where payloads belong, since
    neither a converter nor a store of edgeshift's asks. The SDK asks several times for each payload, and
    ``inner`` answers by code that it compiles and runs in the sandbox: a seventh of the Python of a worker.
    """

    def __init__(self, inner: WorkflowInstance) -> None:
        self._inner = inner

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """As the inner one."""
        return self._inner.activate(act)

    def get_serialization_context(self, command_info: Any) -> None:
        """Nothing: payloads are encoded alike wherever they belong."""
        return None

    def get_external_store_context(self, command_info: Any) -> StorageDriverStoreContext:
        """Nothing: payloads are kept in the history."""
        return StorageDriverStoreContext(target=None)

    def get_info(self) -> Info:
        """As the inner one."""
        return self._inner.get_info()

    def get_thread_id(self) -> int | None:
        """As the inner one."""
        return self._inner.get_thread_id()


class Forgetting(Runner):
    """Has workflows forgotten that a query has brought past their last task. A worker that has it is made by
    ``forgetting``.
    """

    def __init__(self, inner: WorkflowRunner) -> None:
        super().__init__(inner)
        self.forget: Forget = _nobody

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """The inner one's, watched."""
        return _Watched(super().create_instance(det), self._left)

    def _left(self, run: str) -> None:
        self.forget(run)


class _Watched(Instance):
    """One workflow in the cache. What a query brings past the last task is told by two things.

    The workflow's time, which each task moves on, stands still while events are applied that are no replay.
    And where a replay has come first, nobody can say whether the first events behind it came with a task or
    with the query: a task without commands is one with what follows it (docs/decisions.md). So a query that
    finds no more than those has it forgotten too, which costs a reading of the history and no more.
    """

    def __init__(self, inner: WorkflowInstance, left: Forget) -> None:
        super().__init__(inner)
        self._left = left
        self._time: tuple[int, int] | None = None
        self._past_its_task = False
        self._tasks = 0

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """As the inner one. A query that finds the workflow past its task has it forgotten; that is asked for
        before the query is answered, so that no task comes in between.
        """
        jobs = [job for job in act.jobs if job.WhichOneof("variant") not in CHANGES_NOTHING]
        if jobs:
            self._look(act, all(job.resolve_activity.is_local for job in jobs))
        elif any(job.query_workflow.query_id == QUERY_ALONE for job in act.jobs) and self._doubtful():
            self._left(act.run_id)
        return super().activate(act)

    def _doubtful(self) -> bool:
        return self._past_its_task or self._tasks == 1

    def _look(self, act: WorkflowActivation, of_its_own: bool) -> None:
        """``of_its_own``: whether results of local activities are all there is, which come within a task."""
        time = (act.timestamp.seconds, act.timestamp.nanos)
        if act.is_replaying:
            # Its beginning; or another worker had it meanwhile.
            self._past_its_task, self._tasks = False, 0
        elif time != self._time:
            self._past_its_task, self._tasks = False, self._tasks + 1
        elif not of_its_own:
            self._past_its_task = True
        self._time = time


def forgetting(client: Any, *, workflow_runner: WorkflowRunner, **parts: Any) -> Worker:
    """A worker that forgets what queries have left. ``parts``: as the SDK's worker takes them."""
    runner = Forgetting(workflow_runner)
    worker = Worker(client, workflow_runner=runner, **parts)
    # The SDK has no public way; a worker without it has to fail when it is made, not when it is queried.
    runner.forget = worker._bridge_worker.request_workflow_eviction
    return worker


def _nobody(run: str) -> None:
    """Before the worker is made nobody asks."""

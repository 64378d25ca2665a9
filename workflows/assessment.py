"""Finding and assessing the targets of a campaign, by reading alone."""

from __future__ import annotations

import asyncio

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.targets import TargetActivities
    from edgeshift.campaign.callers import TargetCallers
    from edgeshift.messages import (
        PROGRESS,
        AssessBatch,
        AssessedBatch,
        AssessmentProgress,
        AssessmentResult,
        AssessmentStart,
        MergeAssessment,
        ResolvedTargets,
        ResolveTargets,
    )
    from edgeshift.model.counts import counted
    from workflows import options

MOST_BATCHES = 400
"""Batches of one assessment at most, and one more of each credential: beyond it, batches grow, so that its
history stays small.
"""


@workflow.defn(name="TargetList")
class TargetList:
    """Resolve a campaign's targets and freeze them, without assessing them."""

    @workflow.run
    async def run(self, message: ResolveTargets) -> ResolvedTargets:
        """The frozen list."""
        return await workflow.execute_activity_method(
            TargetActivities.resolve, message, summary="list and freeze the targets", **options.resolving()
        )


@workflow.defn(name="Assessment")
class Assessment:
    """Assess every target, and stratify the waves by fingerprint."""

    @workflow.run
    async def run(self, start: AssessmentStart) -> AssessmentResult:
        """The report and the stratified targets."""
        frozen = await workflow.execute_activity_method(
            TargetActivities.resolve,
            ResolveTargets(spec=start.spec),
            summary="list and freeze the targets",
            **options.resolving(),
        )
        publishes, done = workflow.patched("progress-is-published"), 0

        def say() -> None:
            """Say in the memo how far it is: whoever follows it asks nothing of a worker."""
            if publishes:
                workflow.upsert_memo({PROGRESS: AssessmentProgress(done=done, count=frozen.count)})

        say()
        groups = batches_of(start, frozen)

        async def assess(batch: AssessBatch, at_once: asyncio.Semaphore) -> str:
            nonlocal done
            async with at_once:
                found: AssessedBatch = await workflow.execute_activity_method(
                    TargetActivities.assess,
                    batch,
                    summary=_summary(batch),
                    **options.assessing(),
                )
            done += len(batch.named)
            say()
            return found.report

        reading = []
        for batches in groups:
            at_once = asyncio.Semaphore(start.parallel)
            reading += [assess(batch, at_once) for batch in batches]
        reports = await asyncio.gather(*reading)
        return await workflow.execute_activity_method(
            TargetActivities.merge,
            MergeAssessment(spec=start.spec, targets=frozen.targets, reports=tuple(reports)),
            summary="merge the reports",
            **options.assessing(),
        )


def batches_of(start: AssessmentStart, frozen: ResolvedTargets) -> list[list[AssessBatch]]:
    """The batches of each credential that targets call with. None waits for another's: one that is refused,
    or whose user is out of turns, is waited for as long as it takes.
    """
    size, count = max(start.batch, -(-frozen.count // MOST_BATCHES)), frozen.count
    whole = AssessBatch(spec=start.spec, targets=frozen.targets, first=0, end=count)
    if frozen.callers.known and workflow.patched("callers-are-read-apart"):
        return [
            [
                whole.model_copy(update={"first": some[0], "end": some[-1] + 1, "indexes": tuple(some)})
                for some in (indexes[first : first + size] for first in range(0, len(indexes), size))
            ]
            for indexes in TargetCallers(frozen.callers, count).of_each()
        ]
    return [
        [
            whole.model_copy(update={"first": first, "end": min(count, first + size)})
            for first in range(0, count, size)
        ]
    ]


def _summary(batch: AssessBatch) -> str:
    some = f"{counted(len(batch.indexes), 'target')} of " if batch.indexes else ""
    return f"assess {some}{batch.first} to {batch.end}"

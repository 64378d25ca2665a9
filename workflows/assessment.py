"""Finding and assessing the targets of a campaign, by reading alone."""

from __future__ import annotations

import asyncio

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.targets import TargetActivities
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
    from workflows import options

MOST_BATCHES = 400
"""Batches of one assessment at most: beyond it, batches grow, so that its history stays small."""


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
        size = max(start.batch, -(-frozen.count // MOST_BATCHES))
        batches = [
            AssessBatch(
                spec=start.spec, targets=frozen.targets, first=first, end=min(frozen.count, first + size)
            )
            for first in range(0, frozen.count, size)
        ]
        at_once = asyncio.Semaphore(start.parallel)

        async def assess(batch: AssessBatch) -> str:
            nonlocal done
            async with at_once:
                found: AssessedBatch = await workflow.execute_activity_method(
                    TargetActivities.assess,
                    batch,
                    summary=f"assess {batch.first} to {batch.end}",
                    **options.assessing(),
                )
            done += batch.end - batch.first
            say()
            return found.report

        reports = await asyncio.gather(*(assess(batch) for batch in batches))
        return await workflow.execute_activity_method(
            TargetActivities.merge,
            MergeAssessment(spec=start.spec, targets=frozen.targets, reports=tuple(reports)),
            summary="merge the reports",
            **options.assessing(),
        )

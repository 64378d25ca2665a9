"""Rejections that outlive the run: they are recorded in the archive, and those of earlier runs recalled."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.rulings import RulingActivities
    from edgeshift.messages import RecalledRulings, RecallRulings, RecordRulings
    from workflows.campaign.batches import MANY, Batches
    from workflows.campaign.state import CampaignState


class Rulings:
    """Records what was ruled, in its order. Until all of it is, no zone begins."""

    def __init__(self, state: CampaignState, batches: Batches) -> None:
        self._state = state
        self._batches = batches

    async def keep(self) -> None:
        """Recall the rejections of earlier runs, once; record the next rulings of this one."""
        state = self._state
        if not state.recalled:
            found: RecalledRulings = await self._batches.work(
                RulingActivities.recall,
                RecallRulings(campaign=workflow.info().workflow_id, run=state.origin),
                "recall what was rejected before",
            )
            state.recall(found.book)
        while some := tuple(state.unrecorded[:MANY]):
            await self._batches.work(
                RulingActivities.record,
                RecordRulings(
                    campaign=workflow.info().workflow_id,
                    run=state.origin,
                    targets=state.start.targets,
                    notes=some,
                ),
                f"record rulings: {len(some)}",
            )
            del state.unrecorded[: len(some)]
            state.changed()

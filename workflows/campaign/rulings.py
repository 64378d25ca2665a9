"""Decisions outlive the run: they are recorded in the archive; rejections of earlier runs are recalled."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.rulings import RulingActivities
    from edgeshift.campaign.book import unpacked_rejections
    from edgeshift.messages import RecalledRulings, RecallRulings, RecordRulings, RulingNote
    from workflows.campaign.batches import MANY, Batches
    from workflows.campaign.state import CampaignState


def next_of(notes: list[RulingNote]) -> tuple[RulingNote, ...]:
    """The first of the notes, which are about no more than MANY targets and fingerprints together."""
    left = MANY
    found: list[RulingNote] = []
    for note in notes:
        left -= max(1, len(note.indexes), len(note.fingerprints))
        if found and left < 0:
            break
        found.append(note)
    return tuple(found)


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
                RecallRulings(
                    campaign=workflow.info().workflow_id,
                    run=state.origin,
                    archive=state.start.archive,
                    unpacks=True,
                ),
                "recall what was rejected before",
            )
            state.recall(unpacked_rejections(found.packed) if found.packed else found.book)
        while some := next_of(state.unrecorded):
            await self._batches.work(
                RulingActivities.record,
                RecordRulings(
                    campaign=workflow.info().workflow_id,
                    run=state.origin,
                    targets=state.start.targets,
                    notes=some,
                    archive=state.start.archive,
                ),
                f"record rulings: {len(some)}",
            )
            del state.unrecorded[: len(some)]
            state.changed()

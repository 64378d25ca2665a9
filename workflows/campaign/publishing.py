"""What a campaign publishes of itself, so that whoever follows it asks nothing of a worker: its summary, in
its own description (the memo that Temporal shows with ``describe``).
"""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import PUBLISHED, CampaignSummary
    from workflows.campaign.state import CampaignState
    from workflows.campaign.summary import published

EVERY = timedelta(seconds=2)
"""The shortest time between two of them. It is not scaled: who watches has the same eyes in a rehearsal, and
each costs the run's history one event, and six where nothing else happens.
"""


class Publisher:
    """Publishes the summary where it says something new."""

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._last: CampaignSummary | None = None
        self._due = workflow.now()

    async def publish(self) -> None:
        """Something has changed: publish it, no sooner than some time after the last."""
        left = self._due - workflow.now()
        if left > timedelta(0):
            await workflow.sleep(left, summary="publish the summary")
        # That it has closed is said together with its end.
        if not self._state.closed:
            self.say()

    def memo(self) -> dict[str, CampaignSummary]:
        """With what the next run begins: it is described before it has done anything."""
        return {PUBLISHED: published(self._state, workflow.now())}

    def say(self) -> None:
        """Publish what is new, at once."""
        now = workflow.now()
        found = published(self._state, now)
        if self._last is not None and found.model_copy(update={"now": self._last.now}) == self._last:
            return
        self._last, self._due = found, now + EVERY
        workflow.upsert_memo({PUBLISHED: found})

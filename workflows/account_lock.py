"""A hold on one zone for the account that covers it: its id is the zone's lock, so that no campaign can work
on the zone by itself meanwhile.
"""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.account_lock import HoldActivities
    from edgeshift.messages import Hold
    from workflows import options
    from workflows.local import locally
    from workflows.zone.failures import LOCAL_FAILURES

MOST_LOOKS = 500
"""Looks of one run, so that a hold of weeks keeps its history short."""


@workflow.defn(name="ZoneHold")
class ZoneHold:
    """Held until it is let go of, or until its holder is gone."""

    def __init__(self) -> None:
        self._released = False

    @workflow.run
    async def run(self, hold: Hold) -> None:
        """Wait, and look now and then whether the holder is still there."""
        for _ in range(MOST_LOOKS):
            try:
                await workflow.wait_condition(
                    lambda: self._released, timeout=hold.look_every, timeout_summary="is the holder there?"
                )
            except TimeoutError:
                try:
                    still_there = await locally(
                        HoldActivities.still_there, hold, summary="look at the holder", **options.telling()
                    )
                except LOCAL_FAILURES:
                    # Nobody could say in all that time: it is held on to, and asked again.
                    continue
                if still_there:
                    continue
            return
        if self._released:
            # It came during the last look: the next run would not know.
            return
        workflow.continue_as_new(hold)

    @workflow.signal
    def release(self, *ignored: object) -> None:
        """The holder lets go. Whatever comes with the word is nothing; today's SDK drops what a handler has
        no parameter for, and one that did not would fail the workflow task, again and again.
        """
        self._released = True

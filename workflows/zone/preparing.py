"""A zone's reading and proposal: by the plan at first, by the service ever after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.areas.assessment import Verdict
    from edgeshift.messages import Prepare, Prepared, ZonePhase
    from workflows import options
    from workflows.zone.reporting import Reporter
    from workflows.zone.state import ZoneMemory
    from workflows.zone.waiting import Waits


class Proposals:
    """Reads the zone by the area's activity."""

    def __init__(self, zone: ZoneMemory, reporter: Reporter, waits: Waits) -> None:
        self._zone = zone
        self._reporter = reporter
        self._waits = waits

    async def make(self, activity: Callable[..., Awaitable[Prepared]]) -> Prepared:
        """What the plan has read, where nothing has been made of it yet. Else read the zone, archive what was
        read, and propose: an activity that may wait long for its turn to call, and that no workflow task is
        held open for. Raises Ended where the zone is to stop.
        """
        zone = self._zone
        zone.check_stop()
        planned, zone.planned = zone.planned, None
        if planned is not None and planned.verdict is Verdict.READY:
            zone.prepared = planned
            return planned
        zone.told = False
        zone.enter(ZonePhase.ASSESSING)
        prepared: Prepared = await self._waits.served(
            lambda: self._waits.unless_called_off(
                workflow.start_activity_method(
                    activity,
                    Prepare(start=zone.bare_start),
                    summary="read, archive, propose",
                    **options.reading_the_service(zone.start.policy),
                )
            )
        )
        zone.prepared = prepared
        return prepared

    async def make_and_tell(self, activity: Callable[..., Awaitable[Prepared]]) -> Prepared:
        """As ``make``, for areas that ask people at once: the campaign is told of what is ready."""
        prepared = await self.make(activity)
        if prepared.verdict is Verdict.READY:
            await self._reporter.announce_reading(prepared)
        return prepared

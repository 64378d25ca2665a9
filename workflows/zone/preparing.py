"""A zone's reading and proposal, and what follows from its having been told to the campaign."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.areas.assessment import Verdict
    from edgeshift.messages import Prepare, Prepared, ZonePhase
    from workflows import options
    from workflows.local import locally
    from workflows.zone.reporting import Reporter
    from workflows.zone.state import ZoneMemory
    from workflows.zone.waiting import Waits

Announced = Callable[[Prepare, Prepared], bool]
"""Whether the area's activity has told the campaign of what it prepared."""


def where_ready(message: Prepare, prepared: Prepared) -> bool:
    """Of areas whose activity tells the campaign of every proposal that is ready."""
    return message.announce and prepared.verdict is Verdict.READY


class Proposals:
    """Reads the zone by the area's activity."""

    def __init__(self, zone: ZoneMemory, reporter: Reporter, waits: Waits) -> None:
        self._zone = zone
        self._reporter = reporter
        self._waits = waits

    async def make(
        self,
        activity: Callable[..., Awaitable[Prepared]],
        *,
        announce: bool = True,
        announced: Announced = where_ready,
    ) -> Prepared:
        """Read the zone, archive what was read, propose, and where ``announce`` says so tell the campaign.
        ``announced``: whether the activity has told it. Raises Ended where the zone is to stop.
        """
        zone, reporter = self._zone, self._reporter
        zone.check_stop()
        zone.enter(ZonePhase.ASSESSING)

        async def read() -> Prepared:
            async with reporter.turn:
                message = Prepare(
                    start=zone.start,
                    sequence=reporter.count_word(),
                    announce=announce,
                    joins=zone.joins,
                    settles=zone.to_settle if announce else None,
                    validated=zone.validated_rules,
                )
                prepared: Prepared = await locally(
                    activity, message, summary="read, archive, propose", **options.reading(zone.start.policy)
                )
            if announced(message, prepared):
                zone.to_settle, zone.heard = None, True
            zone.prepared = prepared
            return prepared

        return await self._waits.served(read)

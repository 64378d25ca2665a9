"""Zones that only the provider's support can help: tickets, and the wait for a person's word."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.tickets import SupportActivities
    from edgeshift.messages import ChangeResult, OpenTicket, ReportKind, TicketOpened, ZonePhase
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.model.reasons import Reason, ReasonCode, Reasons
    from workflows import options
    from workflows.local import locally
    from workflows.zone.reporting import Reporter, ZoneWord
    from workflows.zone.state import Ended, ZoneMemory
    from workflows.zone.waiting import Waits


class Support:
    """Opens tickets, one for each cause, and waits."""

    def __init__(self, zone: ZoneMemory, reporter: Reporter, waits: Waits) -> None:
        self._zone = zone
        self._reporter = reporter
        self._waits = waits

    async def _ticket(self, cause: ReasonCode, snapshot: str, refusal: str) -> TicketOpened:
        """The zone's ticket for a cause, opened where there is none. ``refusal``: what the service said."""
        return await locally(
            SupportActivities.open_ticket,
            OpenTicket(start=self._zone.start, cause=cause, snapshot=snapshot, refusal=refusal),
            summary=f"ticket: {cause.value}",
            **options.reading(self._zone.start.policy),
        )

    async def wait_for(self, causes: tuple[str, ...], why: Reasons, said: str = "") -> None:
        """Open a ticket for each cause and wait for a person's word that it is fixed. Raises Ended when none
        comes.
        """
        zone = self._zone
        assert zone.prepared is not None
        for cause in causes:
            ticket = await self._ticket(ReasonCode(cause), zone.prepared.snapshot, said)
            if ticket.location not in zone.tickets:
                zone.tickets.append(ticket.location)
        zone.enter(ZonePhase.NEEDS_SUPPORT)
        await self._reporter.tell(ZoneWord(ReportKind.SUPPORT, why=why))
        limit = zone.start.policy.waits_for_support
        if await self._waits.until(lambda: zone.resolved is not None, limit, resumable=True):
            zone.resolved = None
            return
        raise Ended(ZoneOutcome.NEEDS_SUPPORT, *why)

    async def refused(self, result: ChangeResult) -> None:
        """The service refused the step, or a person has to look before it is sent: a support case, or the
        end of the attempt.
        """
        code = ReasonCode.EDITED_SINCE if result.final else ReasonCode.CHANGE_REFUSED
        why = Reason(code=code, case=result.cause, said=result.reason)
        if result.cause is None:
            raise Ended(ZoneOutcome.FAILED, why)
        await self.wait_for((result.cause.value,), (why,), result.reason)

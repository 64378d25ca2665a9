"""Support tickets: one per zone and cause, whatever is retried."""

from __future__ import annotations

from temporalio import activity

from activities.boundary import named_failures
from activities.connections import Connections
from edgeshift.areas import area_of
from edgeshift.areas.ticket import plain_ticket
from edgeshift.messages import OpenTicket, TicketOpened
from edgeshift.stores.documents import Snapshot, get_document
from edgeshift.stores.tickets import Ticket, ticket_key


class SupportActivities:
    """Tickets for zones that the service migrates only with its support (docs/service.md §7, §8)."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @activity.defn(name="open_ticket")
    @named_failures
    async def open_ticket(self, message: OpenTicket) -> TicketOpened:
        """Open the ticket for one cause, or find the one that is open."""
        start = message.start
        zone = start.target.zone
        archive = self._connections.archive
        spec = await self._connections.spec(start.spec)
        refusal = (message.refusal,) if message.refusal else ()
        area = area_of(start.area)
        if area.ticket is None:
            title, body = plain_ticket(area.title, zone, message.cause, refusal)
        else:
            kind = Snapshot[area.ticket.reading]  # type: ignore[name-defined]
            snapshot = await get_document(archive, kind, message.snapshot)
            facts = spec.service.facts
            title, body = area.ticket.text(zone, message.cause, snapshot.reading, refusal, facts)
        key = ticket_key(zone.id, start.area.value, message.cause.value)
        opened = await self._connections.tickets(spec).open(
            Ticket(
                key=key,
                zone_id=zone.id,
                zone_name=zone.name,
                account=zone.account,
                cause=message.cause.value,
                title=title,
                body=body,
                campaign=start.campaign,
            )
        )
        return TicketOpened(key=key, location=opened.location)

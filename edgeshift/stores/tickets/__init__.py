"""Support tickets: one per zone and cause, whatever is retried."""

from __future__ import annotations

from pathlib import Path

from edgeshift.campaign_file.spec import TicketSpec
from edgeshift.runtime.secret_refs import SecretRef, is_reference, said_or_kept
from edgeshift.stores.tickets.folder import FolderTickets
from edgeshift.stores.tickets.ticket import (
    Ticket,
    TicketError,
    TicketRef,
    TicketsMisconfigured,
    TicketsRefused,
    TicketsUnavailable,
    TicketSystem,
    ticket_key,
)
from edgeshift.stores.tickets.webhook import WebhookTickets

__all__ = [
    "FolderTickets",
    "Ticket",
    "TicketError",
    "TicketRef",
    "TicketSystem",
    "TicketsMisconfigured",
    "TicketsRefused",
    "TicketsUnavailable",
    "WebhookTickets",
    "ticket_key",
    "ticket_system",
]


def ticket_system(
    spec: TicketSpec, folder: str | Path, *, proxy: str | None = None, ca_file: str | None = None
) -> TicketSystem:
    """The ticket system that a campaign names; ``folder`` where it names none.

    Raises TicketsMisconfigured, and SecretRefError where the webhook's secret is not to be had.
    """
    if spec.webhook is None:
        return FolderTickets(spec.folder or folder)
    secret = SecretRef(spec.secret).resolve() if spec.secret else None
    kept = said_or_kept(spec.webhook)
    assert kept is not None
    return WebhookTickets(
        kept, secret=secret, proxy=proxy, ca_file=ca_file, path_shown=not is_reference(spec.webhook)
    )

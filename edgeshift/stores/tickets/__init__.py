"""Support tickets: one per zone and cause, whatever is retried."""

from __future__ import annotations

from pathlib import Path

from edgeshift.campaign_file.parts import DIRECT
from edgeshift.campaign_file.spec import ServiceSpec, TicketSpec
from edgeshift.runtime.references import is_reference
from edgeshift.runtime.secret_refs import SecretRef, said_or_kept
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
    spec: TicketSpec, folder: str | Path, *, service: ServiceSpec | None = None
) -> TicketSystem:
    """The ticket system that a campaign names; ``folder`` where it names none. ``service``: whose proxy and
    authorities a webhook is reached by where ``spec`` has none of its own.

    Raises TicketsMisconfigured, and SecretRefError where the webhook's secret or proxy is not found.
    """
    if spec.webhook is None:
        return FolderTickets(spec.folder or folder)
    secret = SecretRef(spec.secret).resolve() if spec.secret else None
    kept = said_or_kept(spec.webhook)
    assert kept is not None
    proxy = spec.proxy or (service.proxy if service else None)
    return WebhookTickets(
        kept,
        secret=secret,
        proxy=None if proxy == DIRECT else said_or_kept(proxy),
        ca_file=spec.ca_file or (service.ca_file if service else None),
        path_shown=not is_reference(spec.webhook),
    )

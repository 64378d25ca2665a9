"""What a ticket is, and what a ticket system does."""

from __future__ import annotations

import re
from typing import Annotated, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from edgeshift.runtime.safe_text import visible

_UNSAFE = re.compile(r"[^a-z0-9_]+")

Key = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,119}$")]


def ticket_key(zone_id: str, area: str, cause: str) -> str:
    """The key of the one ticket for this cause of this zone, whichever campaign comes upon it.

    It names the three, so that people recognise it, and serves as a file name and as an idempotency key.
    """
    return "-".join(_UNSAFE.sub("_", part.lower()).strip("_") for part in (area, cause, zone_id))


Shown = Annotated[str, AfterValidator(visible)]
"""Text of which nothing hides from whoever reads the ticket, wherever it is shown."""


class Ticket(BaseModel):
    """What a ticket says. ``key`` is ``ticket_key``'s; ``body`` is Markdown: identifiers and lengths, no
    expressions.

    ``campaign``: the one that opened it.
    """

    model_config = ConfigDict(frozen=True)

    key: Key
    zone_id: str
    zone_name: Shown
    account: str
    cause: str
    title: Shown
    body: Shown
    campaign: str


class TicketRef(BaseModel):
    """An open ticket. ``location``: a path or an address for people. ``created``: False where it was open
    before.
    """

    model_config = ConfigDict(frozen=True)

    key: Key
    location: str
    created: bool


class TicketError(Exception):
    """A ticket could not be opened. Texts are short and carry neither its body nor a secret."""


class TicketsUnavailable(TicketError):
    """The ticket system did not take the ticket now; trying again is safe and may help."""


class TicketsRefused(TicketError):
    """The ticket system will not take this ticket as things are; a person has to look."""


class TicketsMisconfigured(TicketError, ValueError):
    """A setting of the ticket system that cannot work."""


class TicketSystem(Protocol):
    """Where tickets go."""

    async def open(self, ticket: Ticket) -> TicketRef:
        """Open the ticket, or find it open: one per key, whatever is retried or runs at the same time.

        Raises TicketError.
        """

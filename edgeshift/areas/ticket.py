"""What a ticket for the provider's support says, of whatever area. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from edgeshift.model.fleet import Zone
from edgeshift.model.reasons import ReasonCode
from edgeshift.profiles import ServiceProfile

AFTERWARDS = "After it is fixed, tell the campaign with `edgeshift support-resolved`."


@dataclass(frozen=True)
class TicketText:
    """An area's own tickets. ``reading``: what its snapshots hold; ``text``: the title and the Markdown body,
    by the zone, the cause, what was read of the zone, what the service said, and its profile.
    """

    reading: type[BaseModel]
    text: Callable[[Zone, ReasonCode, Any, Sequence[str], ServiceProfile], tuple[str, str]]


def plain_ticket(title: str, zone: Zone, cause: ReasonCode, refusal: Sequence[str]) -> tuple[str, str]:
    """The title and the body of a ticket in an area that has no text of its own, whose title is ``title``."""
    lines = [
        f"Zone `{zone.name}` (`{zone.id}`), account `{zone.account}`, plan {zone.plan.value}, needs the"
        " provider's support before it can be changed.",
        "",
        f"- change: {title}",
        f"- cause: `{cause.value}`",
        *(f"- the service answered: {' '.join(message.split())[:200]}" for message in refusal),
        "",
        AFTERWARDS,
    ]
    return f"{title}: {zone.name} needs the provider's support", "\n".join(lines) + "\n"

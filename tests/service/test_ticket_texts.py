"""What a ticket says is its area's: the shared activity opens one for whatever area asks for support."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel
from temporalio.testing import ActivityEnvironment

from activities import tickets
from activities.snapshots import archive_snapshot
from activities.tickets import SupportActivities
from edgeshift.areas import area_of, waf
from edgeshift.areas.area import AreaDefinition, TicketText
from edgeshift.messages import OpenTicket
from edgeshift.model.fleet import Area, Zone
from edgeshift.model.reasons import ReasonCode
from edgeshift.profiles import SPECIFICATION, ServiceProfile
from edgeshift.stores.documents import Snapshot, get_document
from tests.service.gate_kit import Gate, gate

WHY = ReasonCode.SUPPORT_REFUSAL


class Setting(BaseModel):
    """What another area reads of a zone."""

    value: str


def text_of_setting(
    zone: Zone, cause: ReasonCode, reading: Setting, refusal: Sequence[str], profile: ServiceProfile
) -> tuple[str, str]:
    """What that area's tickets say."""
    return f"{zone.name} has {reading.value}", f"{cause.value}: {', '.join(refusal)}\n"


async def opened(play: Gate, area: Area, snapshot: str) -> str:
    """The ticket that the activity opens for the zone in this area."""
    start = play.start.model_copy(update={"area": area})
    message = OpenTicket(start=start, cause=WHY, snapshot=snapshot, refusal="ask our support")
    ticket = await ActivityEnvironment().run(SupportActivities(play.connections).open_ticket, message)
    return await asyncio.to_thread(Path(ticket.location).read_text)


async def test_a_ticket_of_the_waf_says_what_was_read_of_its_rules(tmp_path: Path) -> None:
    """By the reading of the zone, and in the area's own words."""
    async with gate(tmp_path) as play:
        kept = await get_document(play.connections.archive, Snapshot[waf.Reading], play.snapshot)
        assessment = waf.assess(kept.reading, SPECIFICATION)
        title, body = waf.ticket_text(play.zone, WHY, assessment, ("ask our support",), SPECIFICATION)
        text = await opened(play, Area.WAF, play.snapshot)
        assert title in text and body in text


async def test_an_area_with_a_text_of_its_own_has_it_in_its_tickets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made of what it has read itself, which is no reading of another area."""

    def asking(area: Area) -> AreaDefinition:
        own = TicketText(Setting, text_of_setting)
        return dataclasses.replace(area_of(area), asks_support=True, ticket=own)

    monkeypatch.setattr(tickets, "area_of", asking)
    async with gate(tmp_path) as play:
        snapshot = await archive_snapshot(play.connections, play.zone, Area.ESC, Setting(value="off"))
        text = await opened(play, Area.ESC, snapshot)
        assert "bank.example has off" in text and f"{WHY.value}: ask our support" in text
        assert "WAF" not in text


async def test_an_area_without_a_text_has_tickets_all_the_same(tmp_path: Path) -> None:
    """With the zone, the change, the cause and what the service said; no snapshot is read for it."""
    async with gate(tmp_path) as play:
        text = await opened(play, Area.LOG_FIELDS, "0" * 64)
        title = area_of(Area.LOG_FIELDS).title
        assert f"{title}: bank.example needs the provider's support" in text
        assert f"- cause: `{WHY.value}`\n- the service answered: ask our support\n" in text
        assert "WAF" not in text

"""What a campaign's report is made of, as it was gathered. Pure."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from edgeshift.messages import CampaignSummary
from edgeshift.stores.documents import ZoneRecord
from edgeshift.views.entries import Timeline
from edgeshift.views.rows import ZoneRow

MOST_LISTED = 200
"""Zones whose record is read for a report, and that the page shows with a decision of their own."""


class Source(BaseModel):
    """Everything the report is made of. By zone index, as far as gathered: timelines; ``records``: the
    archived results; ``documents``: what those, or what people signed, name as evidence; ``losses``: what
    each change lost. Of which models the last three are, the area says (``DocumentsPart``,
    ``ViewPart.losses``). ``closed_tickets``: those whose file somebody has moved or deleted.
    """

    summary: CampaignSummary
    made_at: datetime
    rows: list[ZoneRow]
    timelines: dict[int, Timeline] = Field(default_factory=dict)
    records: dict[int, ZoneRecord] = Field(default_factory=dict)
    documents: dict[int, BaseModel] = Field(default_factory=dict)
    losses: dict[int, tuple[BaseModel, ...]] = Field(default_factory=dict)
    closed_tickets: frozenset[str] = frozenset()
    trouble: str = ""
    note: str = ""

"""The area log-fields in timelines and reports: what log entries said of each field. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import BaseModel

from edgeshift.areas.log_fields.entries import Judgement
from edgeshift.stores.documents.areas.log_fields import StepWritten
from edgeshift.views.areas.log_fields_lines import entries_lines, written_lines
from edgeshift.views.parts import ViewPart

if TYPE_CHECKING:
    from edgeshift.operations.preview import Preview
    from edgeshift.views.report_source import Source


class LogFieldsViews(ViewPart):
    """What a person sees of custom fields in request logs."""

    template = "area_log_fields.html.j2"
    documents = MappingProxyType({"found": (StepWritten,)})

    def report(self, source: Source) -> BaseModel:
        """Which fields arrive, by log entries."""
        from edgeshift.views.areas.log_fields_report import sections

        judged = {index: one for index, one in source.documents.items() if isinstance(one, Judgement)}
        return sections(source.rows, judged)

    def step_text(self, shown: Preview) -> str:
        """What would be written; the body has the fields and the log jobs."""
        return "have these fields logged, beside what others log; it can be undone"

    def lines(self, role: str, document: BaseModel) -> list[str]:
        """What a step wrote, and what log entries said of each field."""
        if isinstance(document, StepWritten):
            return written_lines(document)
        return entries_lines(document) if isinstance(document, Judgement) else super().lines(role, document)


PART = LogFieldsViews()

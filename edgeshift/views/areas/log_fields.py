"""The area log-fields in timelines and reports: what log entries said of each field. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgeshift.views.parts import ViewPart

if TYPE_CHECKING:
    from edgeshift.operations.preview import Preview


class LogFieldsViews(ViewPart):
    """What a person sees of custom fields in request logs."""

    template = "area_log_fields.html.j2"

    def step_text(self, shown: Preview) -> str:
        """What would be written; the body has the fields and the log jobs."""
        return "have these fields logged, beside what others log; it can be undone"


PART = LogFieldsViews()

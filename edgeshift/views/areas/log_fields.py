"""The area log-fields in timelines and reports: what log entries said of each field. Pure."""

from __future__ import annotations

from edgeshift.views.parts import ViewPart


class LogFieldsViews(ViewPart):
    """What a person sees of custom fields in request logs."""

    template = "area_log_fields.html.j2"


PART = LogFieldsViews()

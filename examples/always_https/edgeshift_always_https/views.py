"""What people see of the area beside what they see of every change that can be undone."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pydantic import BaseModel

from edgeshift.operations import Preview
from edgeshift.views.parts import ViewPart
from edgeshift.views.report_source import Source
from edgeshift.views.rolled_back import UndoneSections, rolled_back
from edgeshift_always_https.documents import AlwaysHttpsRecord
from edgeshift_always_https.rules import Reading


class Sections(UndoneSections):
    """The area's sections of a report. ``last``: how many zones have which value by their last look."""

    last: dict[str, int]


def last_looks(source: Source) -> dict[str, int]:
    """How many zones have which value by their last look, the one that most have first."""
    records = source.records.values()
    return dict(Counter(one.value for one in records if isinstance(one, AlwaysHttpsRecord)).most_common())


class AlwaysHttpsViews(ViewPart):
    """What a person sees of the setting."""

    package = "edgeshift_always_https"
    template = "area_always_https.html.j2"

    def report(self, source: Source) -> BaseModel:
        """What the template shows as ``data.area``."""
        return Sections(rolled_back=rolled_back(source.rows), last=last_looks(source))

    def report_json(self, source: Source) -> dict[str, Any]:
        """The same for programs, under ``own``."""
        return {"last": last_looks(source)}

    def seen_lines(self, shown: Preview, most: int = 6) -> list[str]:
        """What the setting is now, before people sign."""
        own = shown.own
        return [f"Always Use HTTPS is {own.value} now"] if isinstance(own, Reading) else []

    def lines(self, role: str, document: BaseModel) -> list[str]:
        """The value that the last look has read; of a proposal what is told of all."""
        if isinstance(document, AlwaysHttpsRecord):
            return [f"Always Use HTTPS was {document.value} at the last look"]
        return super().lines(role, document)


PART = AlwaysHttpsViews()

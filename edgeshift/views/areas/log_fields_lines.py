"""What the archived documents of the area log-fields say, in lines for people. Pure."""

from __future__ import annotations

from collections.abc import Collection

from edgeshift.areas.log_fields.entries import Judgement
from edgeshift.model.counts import agreed, counted
from edgeshift.stores.documents.areas.log_fields import StepWritten


def entries_lines(found: Judgement) -> list[str]:
    """Each custom field: seen in log entries, or why not."""
    room = f", {found.full} of them full" if found.full else ""
    return [f"{counted(found.entries, 'log entry', 'log entries')} read{room}", *map(str, found.fields)]


def written_lines(written: StepWritten) -> list[str]:
    """What a step wrote, and whose writes it found in between."""
    found = []
    if written.created_ruleset:
        found.append("the ruleset was created")
    if written.versions:
        found.append(f"wrote {_listed('version', written.versions)} of the ruleset")
    if written.overwritten:
        others = _listed("version", written.overwritten)
        found.append(f"somebody else wrote {others} meanwhile: merged, put again")
    if written.jobs:
        found.append(f"wrote {_listed('log job', written.jobs)}")
    if written.created_job:
        found.append(f"the log job {written.created_job} was created")
    return [*found, *written.notes]


def _listed(noun: str, numbers: Collection[int]) -> str:
    return f"{agreed(len(numbers), noun)} {', '.join(map(str, numbers))}"

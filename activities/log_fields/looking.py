"""Looking at log entries after a change: our fields, and those of others' rules (docs/service.md §2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from activities.change.own_changes import OwnChange
from activities.connections import Connections
from activities.log_fields.reading import SAMPLE
from edgeshift.areas import log_fields
from edgeshift.areas.log_fields.terms import FieldSet, LogFieldsSpec
from edgeshift.messages import Watch
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.profiles import ServiceProfile
from edgeshift.stores.documents import get_document
from edgeshift.stores.documents.areas.log_fields import StepWritten
from edgeshift.stores.log_entries import TIME_FIELD, LogStore, LogStoreError, moment

MOST_EXPLAINED = 5
"""Fields of which the result says why they were not seen; the record in the archive has all. As many log jobs
that came since.
"""

AHEAD = timedelta(minutes=5)
"""How far the clock of a worker may be ahead of the service's."""

_NOT_ASKED = log_fields.OfOthers(log_fields.Fate.NOT_ASKED)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Looked:
    """``found``: what the entries since the change say of our fields; None where none could be read, and
    ``trouble`` says why. ``others``: what they say of those of others' rules.
    """

    found: log_fields.Judgement | None = None
    trouble: str = ""
    others: log_fields.OfOthers = _NOT_ASKED

    @property
    def _some_seen(self) -> bool:
        return self.found is not None and any(field.entries for field in self.found.fields)

    @property
    def settled(self) -> bool:
        """Whether more entries would say nothing else."""
        if self.found is None or not self.found.settled:
            return False
        return self.others.settled or not self._some_seen

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not known of others' fields once the watch is over, or what their coming says of ours."""
        named = ", ".join(map(str, self.others.fields[:MOST_EXPLAINED]))
        if self.others.fate is log_fields.Fate.ALONE:
            said = f"fields of others' rules come ({named}): the service may log the fields of one rule alone"
            return (said,)
        if self.others.fate is log_fields.Fate.TOO_FEW and self._some_seen:
            return (f"too few entries to say whether fields of others' rules still come ({named})",)
        return ()


async def look_at_entries(
    connections: Connections,
    message: Watch,
    terms: LogFieldsSpec,
    reading: log_fields.Reading,
    wanted: FieldSet,
    profile: ServiceProfile,
    own: OwnChange | None,
) -> Looked:
    """What the entries since the change say, or why there are none to read."""
    if terms.entries is None:
        return Looked(trouble="log_fields.entries does not say where log entries can be read")
    url, changed = terms.entries, await _changed_at(connections, message, own)

    async def look() -> Looked:
        since: list[dict[str, Any]] = []
        before: list[dict[str, Any]] = []
        try:
            there = LogStore(url, message.start.target.zone)
            async for entry in there.entries(changed):
                since.append(entry)
            if changed is not None and log_fields.fields_of(log_fields.others_fields(reading.rules)):
                before = await there.before(changed, SAMPLE)
        except LogStoreError as failure:
            return Looked(trouble=str(failure)[:150])
        how: Any = (reading.transforms, reading.jobs, terms.enough, profile)
        found = log_fields.judge(since, wanted, *how)
        since.sort(key=lambda entry: moment(entry.get(TIME_FIELD)) or _LONG_AGO, reverse=True)
        return Looked(found=found, others=log_fields.beside(before, since, reading.rules, wanted, *how))

    looked = await look()
    # What takes a change back does not rest on one reading.
    return await look() if looked.others.fate is log_fields.Fate.STOPPED else looked


async def _changed_at(connections: Connections, message: Watch, own: OwnChange | None) -> datetime | None:
    """When the change was made, by the service's time, and not before it was sent; None where that is not
    known.
    """
    sent = own.record.at - AHEAD if own is not None else None
    if not message.found:
        return sent
    written = await get_document(connections.archive, StepWritten, message.found)
    # Times of entries and of answers are told to the second.
    made = written.service_time + timedelta(seconds=1)
    return max(made, sent) if sent is not None else made


def seen_in(found: log_fields.Judgement, later: tuple[str, ...] = ()) -> Reason:
    """What the entries say: how many fields were seen, and why the others were not. ``later``: what else is
    to be said, of log jobs that came since and of others' fields.
    """
    seen = [field for field in found.fields if field.state is log_fields.FieldState.SEEN]
    others = tuple(str(field) for field in found.fields if field not in seen)
    return Reason(
        code=ReasonCode.FIELDS_SEEN,
        count=len(seen),
        of=len(found.fields),
        size=found.entries,
        names=(*others[:MOST_EXPLAINED], *later[:MOST_EXPLAINED]),
    )

"""What a file has of a target from before a request: what of it has used up what people signed, and when the
attempt before began.

The same as at the door (activities/change/earlier.py), as of the time of the request, by what has a time in
the file: requests, and results that workers signed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from edgeshift.authority.door import Earlier
from edgeshift.messages import Step
from edgeshift.stores.documents import Intent

Ends = Callable[[str, str], Sequence[datetime]]
"""When workers signed, in this run of the campaign, how a change by the proposal with this digest ended."""


@dataclass(frozen=True)
class Recorded:
    """A record of what was about to be sent: at which line, and under which name in the archive. ``nothing``:
    whether nothing came of it, by its answer.
    """

    line: int
    key: str
    record: Intent
    nothing: bool = False

    @property
    def target(self) -> tuple[str, ...]:
        """The target, and the area, by its name."""
        return tuple(self.key.split("/")[1:3])


def earlier_than(request: Intent, some: Sequence[Recorded], ends: Ends) -> Earlier:
    """What was sent before a request. ``some``: all that is recorded of its target. A result has its time to
    the second: one of the second of the request may be of after it.
    """
    before = [one for one in some if one.record.at < request.at]
    begun: dict[tuple[str | None, int], datetime] = {}
    for record in (one.record for one in before):
        of = (record.run, record.attempt or 0)
        begun[of] = min(record.at, begun.get(of, record.at))
    alike = [one.record for one in before if not one.nothing and _is_alike(one.record, request)]
    backs = [record.at for record in alike if record.step == Step.ROLL_BACK.value]
    used: dict[int, datetime] = {}
    for sent in (record for record in alike if record.step == request.step):
        moments = [at for at in backs if at >= sent.at]
        if sent.run is not None and sent.digest is not None:
            since, until = (at.replace(microsecond=0) for at in (sent.at, request.at))
            moments += [at for at in ends(sent.run, sent.digest) if since <= at < until]
        for at in moments:
            number = sent.attempt or 0
            used[number] = max(at, used.get(number, at))
    starts = [at for (_, attempt), at in begun.items() if attempt < (request.attempt or 0)]
    return Earlier(begun=max(starts, default=None), used=used)


def _is_alike(record: Intent, request: Intent) -> bool:
    """Whether it is of the same change, or its way back."""
    if record.step not in (request.step, Step.ROLL_BACK.value):
        return False
    return record.digest == request.digest or record.fingerprint == request.fingerprint

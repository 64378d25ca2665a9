"""What a file has of a target from before a request, for the rule that the door has too
(edgeshift/authority/earlier.py): as of the time of the request, by what has a time in the file, which are
requests and results that workers signed. When something was watched to its end is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from edgeshift.authority.door import Earlier
from edgeshift.authority.earlier import Effective, SentStep, earlier_than
from edgeshift.authority.recorded import sent_of
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

    @property
    def sent(self) -> SentStep:
        """What was about to be sent."""
        return sent_of(self.record)


def earlier_in(request: Intent, some: Sequence[Recorded], ends: Ends) -> Earlier:
    """What was sent before a request. ``some``: all that is recorded of its target. A result has its time to
    the second: one of the second of the request may be of after it.
    """
    asked, until = sent_of(request), request.at.replace(microsecond=0)
    before = [(one, one.sent) for one in some if one.record.at < request.at]
    alike = []
    for one, sent in before:
        if one.nothing or not asked.is_alike(sent):
            continue
        ended: Sequence[datetime] = ()
        if sent.step == asked.step and sent.run is not None and sent.digest is not None:
            ended = ends(sent.run, sent.digest)
        alike.append(Effective(sent, one.record.at, [at for at in ended if at < until]))
    return earlier_than(asked, [(sent, one.record.at) for one, sent in before], alike)

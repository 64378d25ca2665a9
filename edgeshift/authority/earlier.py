"""What a campaign has sent to a target before: what of it has used up what people signed, and when the
attempt before began. Pure.

One rule for the door (activities/change/earlier.py) and for the verifier of audit files
(edgeshift/audit/earlier.py). Each gathers what it has on record: the door in the archive, which says more
than a file, and the verifier in a file, as of the time of a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from edgeshift.authority.door import Earlier
from edgeshift.messages import Step


@dataclass(frozen=True)
class SentStep:
    """What was sent to a target, or is about to be. ``step``: of ``Step``, or another that a record names.
    ``run``: the campaign's first run, where it is known, by whoever had it sent; ``start``: digest of the
    signed start that it rests on. ``digest``, ``fingerprint``: of what was signed, where they are known.
    """

    step: str
    attempt: int
    digest: str | None
    fingerprint: str | None
    run: str | None = None
    start: str | None = None

    @property
    def of(self) -> tuple[str | None, int]:
        """Which attempt it is of: of a signed start, whatever run is named; of a run where no start is."""
        return self.start or self.run, self.attempt

    def is_alike(self, other: SentStep) -> bool:
        """Whether the other one is of the same change, or its rollback."""
        if other.step not in (self.step, Step.ROLL_BACK.value):
            return False
        return other.digest == self.digest or other.fingerprint == self.fingerprint


@dataclass(frozen=True)
class Effective:
    """Something alike that was sent ``at`` a time and had an effect, or may have had one. ``ends``: when
    workers signed how a change by this proposal ended, to the second; of one that is sent itself, not of its
    rollback. ``seen``: whether it was watched to its end, as far as that is on record.
    """

    sent: SentStep
    at: datetime
    ends: Sequence[datetime] = ()
    seen: bool = False


def earlier_than(
    asked: SentStep, begun: Iterable[tuple[SentStep, datetime]], alike: Sequence[Effective], resends: int = 0
) -> Earlier:
    """What was sent before ``asked``. ``begun``: all that was, and when; ``alike``: of that, what is alike
    and effective. ``resends``: how often the same may be sent again because it never showed.

    An approval is used by what took effect and was taken back, or was seen to its end. What came to nothing
    uses none; nor does what may be sent again: a request that never showed, so many times, and what is left
    of a step of several requests.
    """
    first: dict[tuple[str | None, int], datetime] = {}
    for sent, at in begun:
        first[sent.of] = min(at, first.get(sent.of, at))
    starts = [at for (_, attempt), at in first.items() if attempt < asked.attempt]
    backs = [one.at for one in alike if one.sent.step == Step.ROLL_BACK.value]
    changes = [one for one in alike if one.sent.step == asked.step]
    used: dict[int, datetime] = {}
    for one in changes:
        # A result has its time to the second.
        since = one.at.replace(microsecond=0)
        moments = [at for at in backs if at >= one.at] + [at for at in one.ends if at >= since]
        tries = sum(other.seen for other in changes if other.sent.of == one.sent.of)
        if one.seen and tries > resends:
            # Within these nobody may have been able to tell what became of it, so that it is sent once more.
            moments.append(one.at)
        for at in moments:
            used[one.sent.attempt] = max(at, used.get(one.sent.attempt, at))
    return Earlier(begun=max(starts, default=None), used=used)

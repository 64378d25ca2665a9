"""What a worker has seen of how long changes take to show, for each campaign and kind of change, and what
others have: a few of each are recorded in the archive (edgeshift/model/effect_times.py).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from temporalio import activity

from edgeshift.messages import ZoneStart
from edgeshift.model.effect_times import MOST_KEPT, EffectTimes
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import EffectTook, create_record, get_record

MOST_KINDS = 64
"""Campaigns and kinds of change that are remembered."""

ASKS_AGAIN = 5
"""Beats after which the archive is asked again, where nobody knew."""


@dataclass
class Kind:
    """One kind of change of one campaign. ``recorded``: how many observations this worker has recorded or
    read; ``asked_at``: when it last asked the archive.
    """

    times: EffectTimes = field(default_factory=EffectTimes)
    recorded: int = 0
    asked_at: float | None = None


class Effects:
    """The times of one worker."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._kinds: OrderedDict[str, Kind] = OrderedDict()

    def of(self, start: ZoneStart, what: str) -> EffectTimes:
        """What is known of this kind of change in the zone's campaign."""
        return self._kind(start, what).times

    def _kind(self, start: ZoneStart, what: str) -> Kind:
        key = _folder(start, what)
        kind = self._kinds.setdefault(key, Kind())
        self._kinds.move_to_end(key)
        while len(self._kinds) > MOST_KINDS:
            self._kinds.popitem(last=False)
        return kind

    async def ask(self, start: ZoneStart, what: str, *, now: float, beat: float) -> None:
        """Where nothing is known, look what other workers have recorded; not too often. ``now``: seconds of a
        monotonic clock. An archive that cannot be read is no trouble: it is learnt by looking.
        """
        kind = self._kind(start, what)
        if kind.times.median is not None or (
            kind.asked_at is not None and now < kind.asked_at + ASKS_AGAIN * beat
        ):
            return
        kind.asked_at = now
        try:
            async for key in self._archive.list(_folder(start, what)):
                if kind.recorded >= MOST_KEPT:
                    break
                if (took := await get_record(self._archive, EffectTook, key)) is not None:
                    kind.times.learn(took.seconds)
                    kind.recorded += 1
        except ArchiveError as failure:
            activity.logger.info("times of other workers not read: %s", failure)

    async def record(self, start: ZoneStart, what: str, seconds: float) -> None:
        """Record an observation for other workers, as long as there are few."""
        kind = self._kind(start, what)
        if kind.recorded >= MOST_KEPT:
            return
        kind.recorded += 1
        try:
            key = f"{_folder(start, what)}/{start.target.zone.id}"
            took = EffectTook(seconds=round(seconds, 3))
            await create_record(self._archive, key, took, lasting=False)
        except ArchiveError as failure:
            activity.logger.info("time not recorded for other workers: %s", failure)


def _folder(start: ZoneStart, what: str) -> str:
    """The archive's folder of the observations of one kind of change in one campaign."""
    return f"took/{start.origin or start.campaign_run}/{start.area.value}/{what}"

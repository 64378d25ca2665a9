"""What the rules of the managed rulesets do by default, read once for all zones (docs/service.md §4.3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from temporalio import activity

from activities.boundary import refuse_held
from activities.connections import Connections
from activities.kept import Kept
from activities.stable_read import twice
from edgeshift.areas import waf
from edgeshift.campaign_file.service import MOST_CREDENTIALS
from edgeshift.messages import ZoneStart
from edgeshift.model.fleet import Zone
from edgeshift.service_api import NotUnderstood, RateLimited, Refused, ServiceError, Unsuccessful

KEPT_FOR = 3600.0
"""Seconds after which they are read again: the provider changes them from time to time."""

MOST_KEPT = 4 * MOST_CREDENTIALS
"""Managed rulesets, each by a credential, whose defaults are kept: those of two campaigns at a time. Zones of
a wave are judged together, whichever their credentials are.
"""

PATIENCE = 3
"""How often a window is judged again before it is judged without defaults that cannot be read just now."""


@dataclass(frozen=True)
class _Asked:
    """Who asks for which ruleset, and in which hour. They are the same for each ``zone``, whose path is
    needed to ask.
    """

    spec: str
    credential: str
    ruleset: str
    hour: int
    zone: Zone = field(compare=False)


class ManagedRules:
    """The defaults of managed rulesets, kept for an hour."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._kept = Kept(MOST_KEPT, self._read)
        self._distinct: deque[waf.Defaults] = deque(maxlen=8)

    async def of(self, start: ZoneStart, rulesets: Iterable[str]) -> dict[str, waf.Defaults]:
        """Those of each ruleset; none of one that the service does not show. Raises ServiceError where it
        cannot be asked just now, and asking again may help.
        """
        zone = start.target.zone
        credential = (await self._connections.credential(start.spec, zone)).reference
        hour = int(self._connections.clock.monotonic() // KEPT_FOR)
        found = {}
        for ruleset in sorted(rulesets):
            try:
                asked = _Asked(start.spec, credential, ruleset, hour, zone)
                found[ruleset] = await self._kept.get(asked)
            except ServiceError as failure:
                refuse_held(failure)
                if activity.info().attempt < PATIENCE:
                    raise
                activity.logger.info("judging without the defaults of %s: %s", ruleset, failure)
        return found

    async def _read(self, asked: _Asked) -> waf.Defaults:
        client = await self._connections.service(asked.spec, asked.zone)

        async def look() -> waf.Defaults:
            return waf.defaults_of((await client.ruleset(asked.zone.id, asked.ruleset)).raw)

        try:
            # What lets a false positive pass is not taken from one answer alone.
            found = await twice("rulesets.get", look)
        except (Refused, NotUnderstood, Unsuccessful) as failure:
            refuse_held(failure)
            if isinstance(failure, RateLimited):
                raise
            activity.logger.info("the defaults of %s are not known: %s", asked.ruleset, failure)
            return waf.Defaults()
        # They are the same whoever asks.
        shared = next((one for one in self._distinct if one == found), found)
        if shared is found:
            self._distinct.append(found)
        return shared

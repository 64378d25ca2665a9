"""The pace of what people call by hand, such as the doctor's checks: within the share of a user's limit that
people keep, so that it blocks no campaign that calls as the same user. It asks no quota: it works without
Temporal, and while calls are held, to find out whether they may go on.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec
from edgeshift.quota.leases import terms_of
from edgeshift.rate_limit.pacing import Pacer
from edgeshift.rate_limit.terms import LATEST, Lane, PaceTerms
from edgeshift.rate_limit.unpaced import Unpaced

FEWEST = 10
"""Calls of a window that are made also where people keep fewer, or none: one credential takes about as many,
and of the usual limit as many have no slot (edgeshift/rate_limit/terms.py).
"""


class ByHand:
    """The pacers of one run, one a user of the service, also where several files name the user. ``clock``:
    monotonic seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pacers: dict[str, _Share] = {}

    def pacer(self, credential: CredentialSpec, spec: CampaignSpec) -> Pacer:
        """The pacer of the user that the credential counts against, by the limit that is told of them first.
        ``spec``: as its file says it.
        """
        share = _Share(terms_of(spec.scaled()), self._clock)
        return self._pacers.setdefault(spec.service.caller(credential), share)


class _Share(Unpaced):
    """As many calls in any window as people keep, all of them at once where there are so many. It hears of no
    block: a call that the service refuses is told as it is.
    """

    def __init__(self, terms: PaceTerms, clock: Callable[[], float]) -> None:
        # One call may be on its way for less time than an earlier one was.
        self._window = terms.window + LATEST
        self._clock = clock
        self._made = deque[float](maxlen=max(FEWEST, int(terms.limit * terms.people)))
        self._next = asyncio.Lock()

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Wait until fewer calls than that were made within the last window."""
        async with self._next:
            if len(self._made) == self._made.maxlen:
                await asyncio.sleep(self._made[0] + self._window - self._clock())
            self._made.append(self._clock())

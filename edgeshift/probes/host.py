"""The differential probe of one host: its URLs one after the other, with and without the cookie.

Requests with and without the cookie take turns in an order that no other rhythm shares (Thue-Morse), so that
two origins that take turns are not mistaken for Edge Side Code. Where something looks different, it is asked
again until a difference has held in ten answers of each side, some of them with a cookie that is nobody's
secret.

The first request goes without the cookie. A host whose answers do not come from the edge does not get it, and
nothing is compared there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from edgeshift.areas.esc.features import Difference
from edgeshift.areas.esc.observation import NO_ANSWER, STATUS, Facts, facts_of
from edgeshift.areas.esc.probe import (
    CONFIRMING,
    Place,
    alarms,
    compare_sides,
    compare_watched,
    noise,
    rewrite_targets,
)
from edgeshift.areas.esc.sampling import ProbeUrl
from edgeshift.areas.esc.sides import Side, differing, failing, side_of
from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.probes.baseline import BaselineUrl
from edgeshift.probes.fetch import Cookie, Fetcher

MOST_DEAD = 2
"""URLs of a host without any answer, after which its other URLs are not asked for."""

_LOG = logging.getLogger(__name__)

Beat = Callable[[int, int], None]
"""Told how many URLs are done, and of how many."""


class Chosen(NamedTuple):
    """A URL to ask for, and the name of its zone."""

    zone: str
    url: ProbeUrl


@dataclass
class Findings:
    """What came of the URLs of some hosts."""

    differences: list[Difference] = field(default_factory=list)
    urls: list[BaselineUrl] = field(default_factory=list)
    noise: set[str] = field(default_factory=set)
    failures: set[str] = field(default_factory=set)
    answered: set[tuple[str, str]] = field(default_factory=set)
    pairs: int = 0
    alarms: int = 0


class Progress:
    """How many URLs are done."""

    def __init__(self, beat: Beat, total: int) -> None:
        self._beat, self._total, self._done = beat, total, 0

    def beat(self) -> None:
        self._beat(self._done, self._total)

    def done(self) -> None:
        self._done += 1
        self.beat()


class HostProbe:
    """Asks one host. ``ignore``: header names, lower case, that never count."""

    def __init__(self, fetcher: Fetcher, spec: ProbeSpec, ignore: frozenset[str], progress: Progress) -> None:
        self._fetcher = fetcher
        self._spec = spec
        self._ignore = ignore
        self._progress = progress
        self._last = max(CONFIRMING, spec.rounds + 4)

    async def probe(self, chosen: Sequence[Chosen]) -> Findings:
        """Compare the URLs with the secret's cookie and without."""
        before: dict[Place, Side] = {}
        after: dict[Place, Side] = {}
        found = Findings()
        dead = 0
        for zone, url in chosen:
            if dead < MOST_DEAD:
                a, b = await self._ask_both(url)
            else:
                a, b = [_GIVEN_UP], []
            before[url.place], after[url.place] = side_of(a), side_of(b or a)
            if before[url.place].answered or after[url.place].answered:
                found.answered.add((zone, url.host))
            else:
                dead += 1
            if failing(before[url.place]):
                found.failures.add("".join(url.place))
            if b:
                found.pairs += len(a) // 2
                found.alarms += len(alarms(url.place, a, b))
            self._progress.done()
        await self._ask_targets(chosen, before, after)
        found.noise = noise([*before.values(), *after.values()])
        found.differences = compare_sides(before, after)
        for zone, url in chosen:
            agreed = tuple(one for one in found.differences if (one.host, one.path) == url.place)
            found.urls.append(BaselineUrl.of(zone, url, before[url.place], after[url.place], agreed))
        return found

    async def _ask_both(self, url: ProbeUrl) -> tuple[list[Facts], list[Facts]]:
        """Ask for a URL with Edge Side Code and without; further, where something looks different. Of a host
        that is not at the edge there are no answers without.
        """
        rounds = self._spec.rounds
        here: tuple[list[Facts], list[Facts]] = ([], [])
        for number in range(2 * self._last):
            # Looked at now and then, and not after each round: comparing has its price.
            if number in (rounds, (rounds + self._last) // 2) and not self._suspicious(url, *here):
                break
            # The halves of a side have half of its answers; to be as sure of them takes twice as many.
            if number == self._last and not alarms(url.place, *here):
                break
            self._progress.beat()
            for side in (0, 1) if number.bit_count() % 2 == 0 else (1, 0):
                if side and not self._fetcher.at_edge(url.host):
                    continue
                cookie = Cookie.SECRET if side else Cookie.NONE
                # Never every other time: the halves of the controls have as many of them each.
                if not side and number >= rounds and number % 4 in (1, 2):
                    cookie = Cookie.DECOY
                here[side].append(await self._ask(url, cookie))
        return here if self._fetcher.at_edge(url.host) else (here[0], [])

    def _suspicious(self, url: ProbeUrl, a: Sequence[Facts], b: Sequence[Facts]) -> bool:
        """Whether it has to be asked further: something looks different, or it was silent for so long that
        nothing could be asked without Edge Side Code.
        """
        at_edge = self._fetcher.at_edge(url.host)
        if not (at_edge and b):
            return at_edge
        return bool(differing(side_of(a), side_of(b)) or alarms(url.place, a, b))

    async def _ask_targets(
        self, chosen: Sequence[Chosen], before: Mapping[Place, Side], after: dict[Place, Side]
    ) -> None:
        """Ask for what requests were rewritten to, without Edge Side Code: it tells what comes of that."""
        schemes = {url.host: url.scheme for _, url in chosen}
        for host, path in rewrite_targets(compare_sides(before, after)):
            if (host, path) not in after and self._fetcher.at_edge(host):
                self._progress.beat()
                target = ProbeUrl(schemes[host], host, path)
                seen = [await self._ask(target, Cookie.SECRET) for _ in range(self._spec.rounds)]
                after[target.place] = side_of(seen)

    async def _ask(self, url: ProbeUrl, cookie: Cookie) -> Facts:
        seen = await self._fetcher.observe(url, cookie)
        try:
            # Of a megabyte it takes a while, in which others have their turns.
            return await asyncio.to_thread(facts_of, seen, self._ignore, self._fetcher.hide)
        except Exception as why:  # a page that cannot be read is a finding, not a failure of the probe
            _LOG.info("an answer that could not be taken apart: %s", type(why).__name__)
            return facts_of(seen.model_copy(update={"error": type(why).__name__}))

    async def observe(self, known: Sequence[BaselineUrl]) -> Findings:
        """Compare the URLs without a cookie with what they were."""
        found = Findings()
        dead = 0
        for one in known:
            if dead < MOST_DEAD:
                now, differences = await self._watch(one)
            else:
                now, differences = side_of([_GIVEN_UP]), []
            found.differences += differences
            found.noise |= noise([now])
            if now.answered:
                found.answered.add((one.zone, one.url.host))
            else:
                dead += 1
            if failing(now):
                found.failures.add("".join(one.url.place))
            self._progress.done()
        return found

    async def _watch(self, one: BaselineUrl) -> tuple[Side, list[Difference]]:
        """What a URL is now; asked further where it is as neither side was."""
        before, after = one.sides()
        seen: list[Facts] = []
        while True:
            self._progress.beat()
            seen.append(await self._ask(one.url, Cookie.NONE))
            if len(seen) in (self._spec.rounds, (self._spec.rounds + self._last) // 2, self._last):
                now = side_of(seen)
                differences = compare_watched(one.url.place, before, after, one.agreed, now)
                if len(seen) == self._last or all(each in one.agreed for each in differences):
                    return now, differences


_GIVEN_UP = Facts({STATUS: f"{NO_ANSWER} (host gave none)"})


def together(parts: Sequence[Findings]) -> Findings:
    """The findings of several hosts."""
    whole = Findings()
    for part in parts:
        whole.differences += part.differences
        whole.urls += part.urls
        whole.noise |= part.noise
        whole.failures |= part.failures
        whole.answered |= part.answered
        whole.pairs += part.pairs
        whole.alarms += part.alarms
    return whole

"""The differential probe over a scope: which URLs of which zones are asked for, and what came of it."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import SecretStr

from edgeshift.areas.esc.report import Controls, Coverage, ProbeReport, SourceCoverage
from edgeshift.areas.esc.sampling import Source, sample
from edgeshift.areas.esc.terms import EscSpec, ProbeSpec
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import Zone
from edgeshift.probes.baseline import Baseline, BaselineUrl
from edgeshift.probes.fetch import Fetcher
from edgeshift.probes.host import Beat, Chosen, Findings, HostProbe, Progress, together
from edgeshift.probes.sources import Known, find_urls
from edgeshift.runtime.clock import Clock

HOSTS_AT_ONCE = 8

MOST_ZONES = 500
"""Zones of one scope that are probed; of more, the same ones in every run."""

Found = TypeVar("Found")


class Prober:
    """Probes scopes as ``spec`` says. Use it as an async context manager.

    ``proxy``, ``ca_file``: how the edge is reached. What it raises is ProbeError; an edge that does not
    answer is a finding, not an error.
    """

    def __init__(
        self, spec: ProbeSpec, *, clock: Clock, proxy: str | None = None, ca_file: str | None = None
    ) -> None:
        self._spec = spec
        self._clock = clock
        self._proxy, self._ca_file = proxy, ca_file
        self._ignore = frozenset(name.lower() for name in spec.ignore_headers)
        self._open: list[Fetcher] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        while self._open:
            await self._open.pop().__aexit__()

    async def probe(
        self, zones: Sequence[Zone], secret: SecretStr, beat: Beat
    ) -> tuple[ProbeReport, Baseline]:
        """Compare the scope's URLs with Edge Side Code and without, which the secret's cookie turns off.

        ``beat``: told how far it is, before each round. Raises ProbeError where the secret cannot be sent.
        """
        fetcher = await self._fetcher(secret)
        probed = sorted(zones, key=lambda zone: sha256(zone.id.encode()))[:MOST_ZONES]
        beat(0, 0)
        known = await _at_once([find_urls(fetcher, self._spec, zone, zones) for zone in probed])
        chosen, coverage = self._choose(probed, known)
        if len(probed) < len(zones):
            note = f"of the scope's zones, {MOST_ZONES} were probed, the same ones in every run"
            coverage = coverage.model_copy(update={"notes": (*coverage.notes, note)})
        progress = Progress(beat, len(chosen))
        hosts: defaultdict[str, list[Chosen]] = defaultdict(list)
        for each in chosen:
            hosts[each.url.host].append(each)
        parts = await _at_once([self._host(fetcher, progress).probe(own) for own in hosts.values()])
        found = together(parts)
        coverage = _reached(coverage, chosen, found, fetcher.unmarked)
        coverage = coverage.model_copy(update={"zones_covered": len(zones)})
        baseline = Baseline(urls=tuple(sorted(found.urls, key=lambda one: one.url)), coverage=coverage)
        return self._report(found, coverage), baseline

    async def observe(self, baseline: Baseline, beat: Beat) -> ProbeReport:
        """Ask the same URLs again, without a cookie, and compare with what they were with Edge Side Code.

        The report's differences are those that were found before, as far as they are seen now, and whatever
        is as neither side was.
        """
        fetcher = await self._fetcher(None)
        progress = Progress(beat, len(baseline.urls))
        hosts: defaultdict[str, list[BaselineUrl]] = defaultdict(list)
        for one in baseline.urls:
            hosts[one.url.host].append(one)
        parts = await _at_once([self._host(fetcher, progress).observe(own) for own in hosts.values()])
        found = together(parts)
        chosen = [Chosen(one.zone, one.url) for one in baseline.urls]
        return self._report(found, _reached(baseline.coverage, chosen, found, fetcher.unmarked))

    async def _fetcher(self, secret: SecretStr | None) -> Fetcher:
        fetcher = Fetcher(
            self._spec, clock=self._clock, secret=secret, proxy=self._proxy, ca_file=self._ca_file
        )
        self._open.append(await fetcher.__aenter__())
        return fetcher

    def _host(self, fetcher: Fetcher, progress: Progress) -> HostProbe:
        return HostProbe(fetcher, self._spec, self._ignore, progress)

    def _choose(self, zones: Sequence[Zone], known: Sequence[Known]) -> tuple[list[Chosen], Coverage]:
        """The URLs to ask for, each of them once."""
        chosen: dict[tuple[str, str], Chosen] = {}
        counts: Counter[Source] = Counter()
        sampled: Counter[Source] = Counter()
        for zone, one in zip(zones, known, strict=True):
            asked = [url for url in sample(one.urls, self._spec.sample) if url.place not in chosen]
            chosen.update((url.place, Chosen(zone.name, url)) for url in asked)
            for source, urls in one.urls.items():
                places = {url.place for url in urls}
                counts[source] += len(places)
                sampled[source] += len(places & {url.place for url in asked})
        notes = {note for one in known for note in one.notes}
        sources = [
            SourceCoverage(source=source, known=counts[source], sampled=sampled[source])
            for source in Source
            if counts[source]
        ]
        return list(chosen.values()), Coverage(sources=tuple(sources), notes=tuple(sorted(notes)))

    def _report(self, found: Findings, coverage: Coverage) -> ProbeReport:
        return ProbeReport(
            differences=tuple(sorted(found.differences, key=lambda one: (one.key, one.feature))),
            coverage=coverage,
            controls=Controls(pairs=found.pairs, alarms=found.alarms),
            noise=tuple(sorted(found.noise)),
            failures=tuple(sorted(found.failures)),
            made_at=self._clock.now(),
            rounds=self._spec.rounds,
        )


async def _at_once(work: Sequence[Coroutine[Any, Any, Found]]) -> list[Found]:
    """Do the work, a few at a time; the first that fails ends it all."""
    gate = asyncio.Semaphore(HOSTS_AT_ONCE)

    async def one(each: Coroutine[Any, Any, Found]) -> Found:
        async with gate:
            return await each

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(each)) for each in work]
    return [task.result() for task in tasks]


def _reached(
    coverage: Coverage, chosen: Sequence[Chosen], found: Findings, unmarked: frozenset[str]
) -> Coverage:
    tried = {one.url.host for one in chosen}
    answered = {(zone, host) for zone, host in found.answered if host not in unmarked}
    return coverage.model_copy(
        update={
            "hosts_tried": tuple(sorted(tried)),
            "hosts_reached": tuple(sorted({host for _, host in answered})),
            "hosts_unmarked": tuple(sorted(tried & unmarked)),
            "zones_probed": len({zone for zone, _ in answered}),
            "urls": len(chosen),
        }
    )


def prober_of(campaign: CampaignSpec, clock: Clock) -> Prober:
    """The probe of a campaign, as its file says it."""
    return Prober(campaign.section(EscSpec).probe, clock=clock)

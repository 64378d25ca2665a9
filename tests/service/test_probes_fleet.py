"""The differential probe over generated fleets: all that is planted is found, and nothing else."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from pydantic import SecretStr

from edgeshift.areas.esc.probe import ProbeReport, still_seen, summary, worse
from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Plan, Zone
from edgeshift.probes import Baseline, ProbeError, Prober
from edgeshift.runtime.clock import SystemClock
from edgeshift.testbed.simulator.edge.origin import known_paths
from edgeshift.testbed.simulator.fleet_edge import NOISE, EscBehaviour, OriginFailure
from edgeshift.testbed.simulator.fleet_file import Fleet
from edgeshift.testbed.simulator.generate import generate_fleet
from tests.service.simulated import Caller, simulated

SECRET = "edgeshift-" + "s3cret".join("ABCDEF")
FEATURES = {
    "redirect": "redirect rule",
    "tls_sni": "origin rule",
    "resolved_host": "origin rule",
    "host_header": "origin rule",
    "url_rewrite": "URL rewrite rule",
    "request_header": "request header transform rule",
    "feature_exception": "configuration rule",
    "custom_error": "custom error response",
    "response_header": "response header transform rule",
    "status_redirect": "serverless function",
}
"""The replacement of each kind of behaviour, by docs/service.md §1."""


class Running:
    """A clock that runs, in the days of Edge Side Code."""

    def __init__(self) -> None:
        self._began = monotonic()

    def __call__(self) -> datetime:
        return datetime(2023, 10, 1, 12, tzinfo=UTC) + timedelta(seconds=monotonic() - self._began)


@asynccontextmanager
async def edge_of(fleet: Fleet, folder: Path) -> AsyncIterator[Caller]:
    """The fleet's edge, with the secret set for each zone that has Edge Side Code."""
    async with simulated(folder, fleet=fleet, time=Running(), esc_effect_seconds=0) as caller:  # type: ignore[arg-type]
        for zone in fleet.zones:
            zone.esc.with_secret = None
            await ask(caller, fleet, "POST", zone.id, {"with_secret": SECRET})
        yield caller


async def ask(caller: Caller, fleet: Fleet, method: str, zone: str, body: Any = None) -> None:
    """A call on a zone's setting, which must succeed."""
    by = fleet.credentials[0].label
    answer = await caller(method, f"/zones/{zone}/disable_esc", body, by=by)
    assert answer.status_code < 300, answer.text


def zones_of(fleet: Fleet) -> list[Zone]:
    """The fleet's zones as a campaign names them."""
    return [
        Zone(id=zone.id, name=zone.name, account="0" * 32, plan=Plan.of(zone.plan)) for zone in fleet.zones
    ]


def spec_for(caller: Caller, **more: Any) -> ProbeSpec:
    """A fast probe of the simulator's edge."""
    return ProbeSpec.model_validate({"edge": caller.server.edge_url, "per_second": 1000, **more})


def unheard(done: int, total: int) -> None:
    """Nobody listens."""


async def probe(spec: ProbeSpec, zones: Sequence[Zone]) -> tuple[ProbeReport, Baseline]:
    async with Prober(spec, clock=SystemClock()) as prober:
        return await prober.probe(zones, SecretStr(SECRET), unheard)


async def observe(spec: ProbeSpec, baseline: Baseline) -> ProbeReport:
    async with Prober(spec, clock=SystemClock()) as prober:
        return await prober.observe(baseline, unheard)


def noisy(fleet: Fleet) -> Fleet:
    """The fleet with every kind of natural noise in every zone."""
    for zone in fleet.zones:
        zone.edge.noise = list(NOISE)
        zone.esc.always = False
    return fleet


def found_in(report: ProbeReport) -> dict[str, list[tuple[str, str]]]:
    """Path and feature of each difference, by host."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in report.differences:
        found.setdefault(one.host, []).append((one.path, one.feature.value))
    return {host: sorted(each) for host, each in found.items()}


def planted_in(fleet: Fleet) -> dict[str, list[tuple[str, str]]]:
    """Path and feature of what every behaviour does to the origin's known paths, by zone."""
    planted: dict[str, list[tuple[str, str]]] = {}
    for zone in fleet.zones:
        for behaviour, path in itertools.product(zone.esc.behaviours, known_paths(zone)):
            if fnmatchcase(path, behaviour.path):
                planted.setdefault(zone.name, []).append((path, FEATURES[behaviour.kind]))
    return {host: sorted(each) for host, each in planted.items()}


async def test_every_planted_behaviour_is_found_once_and_mapped_right(tmp_path: Path) -> None:
    """Over a noisy fleet, each planted behaviour is one difference with the feature that replaces it."""
    fleet = noisy(generate_fleet(20, seed=4, esc=0.75))
    planted = planted_in(fleet)
    assert {feature for each in planted.values() for _, feature in each} == set(FEATURES.values())
    async with edge_of(fleet, tmp_path) as caller:
        report, _ = await probe(spec_for(caller), zones_of(fleet))
    assert found_in(report) == planted
    assert report.controls.alarms == 0
    assert report.controls.pairs > 100
    assert {"header x-request-id", "header x-variant", "header x-experiment"} <= set(report.noise)


async def test_what_people_sign_is_the_same_in_every_run(tmp_path: Path) -> None:
    """Two probes of the same noisy behaviours have equal summaries, byte for byte, in canonical JSON."""
    fleet = noisy(generate_fleet(2, seed=8, esc=1))
    async with edge_of(fleet, tmp_path) as caller:
        first, second = [await probe(spec_for(caller), zones_of(fleet)) for _ in range(2)]
    assert first[0].differences
    assert canonical_bytes(summary(first[0])) == canonical_bytes(summary(second[0]))
    named = {each for one in summary(first[0])["differences"] for each in one["paths"]}
    assert named == {path for each in planted_in(fleet).values() for path, _ in each}


async def test_a_watched_scope_is_as_agreed_and_after_a_roll_back_as_before(
    tmp_path: Path,
) -> None:
    """Off for all: what was agreed is seen, and nothing worse. On again: no difference to the baseline."""
    fleet = noisy(generate_fleet(2, seed=5, esc=1))
    zone = fleet.zones[0]
    async with edge_of(fleet, tmp_path) as caller:
        spec = spec_for(caller)
        agreed, kept = await probe(spec, zones_of(fleet)[:1])
        baseline = Baseline.model_validate_json(kept.model_dump_json())
        agreed = ProbeReport.model_validate_json(agreed.model_dump_json())
        before = await observe(spec, baseline)
        await ask(caller, fleet, "POST", zone.id, {"always": True})
        off = await observe(spec, baseline)
        await ask(caller, fleet, "DELETE", zone.id)
        back = await observe(spec, baseline)
    assert agreed.differences
    assert before.differences == back.differences == ()
    assert off.differences == agreed.differences == tuple(still_seen(agreed, off))
    assert worse(agreed, off, 0.0) == worse(agreed, back, 0.0) == []
    assert still_seen(agreed, back) == []


async def test_what_the_cookie_could_not_foresee_is_worse_than_agreed(tmp_path: Path) -> None:
    """URLs that fail once all requests run without Edge Side Code are named, beyond the tolerance."""
    fleet = generate_fleet(1, seed=6, esc=1)
    fleet.zones[0].edge.failures = [OriginFailure(path="/blog/*", when="esc_off")]
    async with edge_of(fleet, tmp_path) as caller:
        spec = spec_for(caller)
        agreed, baseline = await probe(spec, zones_of(fleet))
        await ask(caller, fleet, "POST", fleet.zones[0].id, {"always": True})
        off = await observe(spec, baseline)
    path = f"{fleet.zones[0].name}/blog/first-post"
    assert worse(agreed, off, 0.0) == [f"1 of 16 URLs fail that did not fail before: {path}"]
    assert worse(agreed, off, 0.1) == []


async def test_a_page_from_elsewhere_is_one_rewrite(tmp_path: Path) -> None:
    """A rewrite to another page shows in its text and cookies alone, and is still a rewrite and no more."""
    fleet = generate_fleet(1, seed=6, esc=1)
    zone = fleet.zones[0]
    zone.esc.behaviours = [
        EscBehaviour(kind="url_rewrite", path="/about", to="/login"),
        EscBehaviour(kind="url_rewrite", path="/api/items", to="/account/profile"),
    ]
    async with edge_of(fleet, tmp_path) as caller:
        report, _ = await probe(spec_for(caller), zones_of(fleet))
        lone = spec_for(caller, sitemap=False, links=False, urls=("/api/items",))
        half, _ = await probe(lone, zones_of(fleet))
    rewrite = FEATURES["url_rewrite"]
    assert found_in(report) == {zone.name: [("/about", rewrite), ("/api/items", rewrite)]}
    assert found_in(half) == {zone.name: [("/api/items", rewrite)]}


async def test_heads_find_what_heads_show(tmp_path: Path) -> None:
    """With HEAD, redirects, headers and cookies are found; nothing is asked with another method."""
    fleet = noisy(generate_fleet(1, seed=2, esc=1))
    zone = fleet.zones[0]
    zone.esc.behaviours = [
        EscBehaviour(kind="redirect", path="/old/*", to="/shop/cart"),
        EscBehaviour(kind="response_header", path="/blog/*", name="set-cookie", operation="add", value="a=1"),
        EscBehaviour(kind="request_header", path="/api/*", name="x-region", value="eu"),
    ]
    async with edge_of(fleet, tmp_path) as caller:
        report, _ = await probe(spec_for(caller, method="HEAD"), zones_of(fleet))
    found = [(one.path, one.what) for one in report.differences if one.kind != "body"]
    assert found == [("/blog/first-post", "a"), ("/old/catalogue", "location")]
    assert {one.what for one in report.differences if one.kind == "body"} <= {"length"}


async def test_coverage_names_sources_hosts_and_zones(tmp_path: Path) -> None:
    """Known and sampled URLs by source; hosts and zones reached of those tried."""
    fleet = generate_fleet(2, seed=3, esc=1)
    away = Zone(id="f" * 32, name="away.example", account="0" * 32, plan=Plan.PRO)
    own = f"https://shop.{fleet.zones[0].name}/landing?id=1"
    async with edge_of(fleet, tmp_path) as caller:
        spec = spec_for(caller, sample=6, urls=(own, "/api/items", "https://elsewhere.example/"))
        report, _ = await probe(spec, [*zones_of(fleet), away])
    coverage = report.coverage
    assert {one.source: one.known for one in coverage.sources} == {
        "campaign file": 4,
        "root page": 3,
        "sitemap": 32,
        "links of the root page": 16,
    }
    assert all(one.sampled for one in coverage.sources)
    assert (coverage.zones_covered, coverage.zones_probed) == (3, 3)
    assert f"shop.{fleet.zones[0].name}" in coverage.hosts_reached
    assert json.loads(report.model_dump_json())["coverage"]["urls"] == coverage.urls <= 3 * 6


@pytest.mark.parametrize("secret", ["with space", "semi;colon", "line\nbreak", "ümlaut", ""])
async def test_a_secret_that_no_cookie_can_carry_is_refused(secret: str) -> None:
    """It is named what such a secret may hold, and the secret itself is not said."""
    async with Prober(ProbeSpec(), clock=SystemClock()) as prober:
        with pytest.raises(ProbeError, match="cannot be sent as a cookie") as refused:
            await prober.probe([], SecretStr(secret), unheard)
    assert not secret or secret not in str(refused.value)


async def test_a_secret_of_a_megabyte_is_refused_at_once() -> None:
    """A service that answers nonsense may give one: to prepare for it would stop a worker for an hour."""
    secret, began = "a" * 1_000_000, time.process_time()
    async with Prober(ProbeSpec(), clock=SystemClock()) as prober:
        with pytest.raises(ProbeError, match="1,000,000 characters, and the probe can hide at most 1,000"):
            await prober.probe([], SecretStr(secret), unheard)
    assert time.process_time() - began < 30

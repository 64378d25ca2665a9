"""A seeded share of what `make test-faults` plays whole: a case of each main family, and of a few others."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.harness.cases import World
from tests.harness.families.every import all_cases, case_of
from tests.harness.families.seeds import CAMPAIGNS
from tests.harness.running.played import played
from tests.harness.running.share import seed_of, stratified
from tests.kit.tiers import tiered

pytestmark = pytest.mark.embedded

FEW = 16
"""Zones of a campaign whose number is free."""

MAIN = (*CAMPAIGNS, "unknown", "api", "kills")
OTHERS = 4
"""Families of which one case is played, beside the main ones; the seed says which."""


QUICK = ("waf", "kills", "unknown")
"""Families whose case `make test` plays; the others are of the long tier."""


def chosen() -> list[str]:
    """The ids of the cases; of campaigns whose number of zones is free, with few of them."""
    order = (*QUICK, *(family for family in MAIN if family not in QUICK))
    found = sorted(
        stratified(all_cases(), 0.0001, seed_of()),
        key=lambda case: order.index(case.family) if case.family in order else len(order),
    )
    return [
        f"{case.id}/{FEW}" if case.family in {*CAMPAIGNS, "unknown"} else case.id
        for case in found[: len(MAIN) + OTHERS]
    ]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("identifier", tiered(chosen(), len(QUICK)))
async def test_no_fault_leads_to_anything_that_must_not_be(
    identifier: str, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """No unsigned commit, no double one, no lost zone, by the journal; every rule by its checker."""
    case = case_of(identifier)
    verdict = await played(case, World(temporal_client, embedded.address, tmp_path))
    assert not verdict.complaints, "\n".join(verdict.complaints)
    assert bool(verdict.zone_schedules) == bool(case.zones)

"""What an enemy sends Temporal, and writes into the archive, beside a running campaign leads to no step
forward and to no outcome that the service does not show; and the campaign goes on. ``make test-forgeries``
tries more.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.forgeries.running.listed import AREAS, PHASES, Phase, Try, kinds_of, whole
from tests.forgeries.running.playing import Tried, attacked
from tests.kit.tiers import tiered

pytestmark = pytest.mark.embedded

SHARE = 8
"""Kinds that are tried against the waiting zones of each area."""

A_PHASE = 1
"""How many are tried in each other phase."""


def share(area: str, seed: object) -> list[Try]:
    """A few of all, others by another seed."""
    chance = random.Random(f"{seed}/{area}")
    found = [Try(name, Phase.WAITING) for name in chance.sample(kinds_of(area), SHARE)]
    for phase in PHASES[area]:
        if phase is not Phase.WAITING:
            found += chance.sample([one for one in whole(area) if one.phase is phase], A_PHASE)
    return found


@pytest.mark.parametrize("area", tiered(AREAS))
async def test_no_forgery_beside_a_running_campaign_counts(
    area: str, temporal_client: Client, tmp_path: Path
) -> None:
    """Some of the kinds, others with another ``EDGESHIFT_SHARE_SEED``; then the campaign is ended, and signed
    in others' names, and people have it go on.
    """
    tried, tries = Tried(), share(area, os.environ.get("EDGESHIFT_SHARE_SEED", 1))
    await attacked(temporal_client, tmp_path, area, tries, tried)
    assert sum(tried.kinds.values()) == len(tries) + 2
    assert (tried.counted, tried.told_wrong, tried.unrecorded, tried.held_up) == ([], [], [], [])

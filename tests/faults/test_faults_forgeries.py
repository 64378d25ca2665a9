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

from tests.forgeries.running.playing import AREAS, KINDS, Tried, attacked, mixed
from tests.kit.tiers import tiered

pytestmark = pytest.mark.embedded

SHARE = 12
"""Kinds that are tried against the campaign of each area."""


@pytest.mark.parametrize("area", tiered(AREAS))
async def test_no_forgery_beside_a_running_campaign_counts(
    area: str, temporal_client: Client, tmp_path: Path
) -> None:
    """Some of the kinds, others with another ``EDGESHIFT_SHARE_SEED``; then the campaign is ended, and signed
    in others' names, and people have it go on.
    """
    chance = random.Random(f"{os.environ.get('EDGESHIFT_SHARE_SEED', 1)}/{area}")
    names = [name for name, kind in KINDS.items() if area in kind.areas]
    tried = Tried()
    await attacked(temporal_client, tmp_path, area, mixed(names, SHARE, chance), tried)
    assert sum(tried.kinds.values()) == SHARE + 2
    assert (tried.counted, tried.told_wrong, tried.unrecorded) == ([], [], [])
    assert tried.goes_on

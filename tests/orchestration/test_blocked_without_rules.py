"""A zone whose new configuration has no rules is blocked, however the service writes that (docs/service.md
§2.4).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.model.reasons import ReasonCode
from tests.kit.faults import staged, zone

pytestmark = pytest.mark.embedded


@pytest.mark.parametrize("written", ["null", "left_out"])
async def test_a_zone_whose_configuration_has_no_rules_is_blocked(
    written: str, temporal_client: Client, tmp_path: Path
) -> None:
    """It says why, and nothing is sent."""
    async with staged(temporal_client, tmp_path, zone("bare"), simulator={"config_rules": written}) as stage:
        assert (await stage.finish()).outcomes == {"blocked": 1}
        (why,) = (await stage.play.zone(stage.name("bare")).result()).why
        assert why.code is ReasonCode.EMPTY_CONFIGURATION
        assert await stage.changes() == []

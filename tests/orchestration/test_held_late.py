"""A look whose answer comes late holds nobody's calls again."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from tests.kit.held_late import held_late

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]


async def test_a_look_from_before_holds_nobody_again(temporal_client: Client, tmp_path: Path) -> None:
    """Every step that waited for its turn would be called off, for an outage that is over."""
    async with held_late(temporal_client, tmp_path) as play:
        await play.sign_everything(120)
        assert (await play.result()).outcomes == {"migrated": 1}
        stopped = [note for note in (await play.summary()).notes if "paused by itself" in note]
        assert len(stopped) == 1, stopped

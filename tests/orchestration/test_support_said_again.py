"""A zone that waits for support says so again where its campaign does not know it."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from tests.kit.support_unheard import asked_in_vain, support_unheard

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]


async def test_one_that_holds_a_permit_to_validate_says_again_that_it_waits_for_support(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It began with the permit, as Enterprise zones do, and has not come to use it: else its place in the
    window would be taken for as long as support takes.
    """
    async with support_unheard(temporal_client, tmp_path) as stage:
        play = stage.play
        await play.until(lambda seen: seen.places.get("support") == 1, 40)
        await play.ask("abort")
        assert (await play.result()).outcomes == {"aborted": 1}
        assert await stage.changes() == []


async def test_one_that_a_version_before_was_asked_in_vain_answers_when_it_is_asked_again(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It said nothing then, and its course is played again so: that once said nothing ever after."""
    async with asked_in_vain(temporal_client, tmp_path) as stage:
        await stage.play.until(lambda seen: seen.places.get("support") == 1, 60)
        await stage.play.ask("abort")
        assert (await stage.play.result()).outcomes == {"aborted": 1}

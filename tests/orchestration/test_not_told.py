"""A word that the campaign cannot be told: the zone does not wait for it without end."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from edgeshift.messages import ZonePhase
from tests.kit.faults import staged, zone
from workflows import options

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

MOST_EVENTS = 51_200
"""Events that a history may have before the server ends its workflow."""

EVENTS = 6
"""What a try that waits for the next one leaves: a marker, a timer's two, a workflow task's three."""


def test_a_word_is_tried_for_a_day_and_leaves_room_for_others() -> None:
    """Even a zone all of whose words cannot be told stays far below what its history may have."""
    how = options.telling()
    policy = how["retry_policy"]
    assert how["schedule_to_close_timeout"] == timedelta(days=1)
    assert set(policy.non_retryable_error_types) == {"CampaignGone", "CampaignClosed"}
    assert not policy.maximum_attempts
    events = EVENTS * (how["schedule_to_close_timeout"] / policy.maximum_interval)
    assert 20 * events < MOST_EVENTS


class Deaf(Interceptor):
    """A campaign that takes no words, but for those of a reading that tells it what it found."""

    def __init__(self) -> None:
        self.tried = 0

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        deaf = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                if activity.info().activity_type == "tell_campaign":
                    deaf.tried += 1
                    raise ApplicationError("the campaign takes no signals")
                return await super().execute_activity(input)

        return Inbound(next)


@pytest.mark.long
async def test_a_zone_goes_on_though_its_campaign_cannot_be_told(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its window passes, people sign it, it is migrated and ends; the campaign finds by its sweep what it has
    not heard, the end too.
    """
    monkeypatch.setattr(options, "TOLD_WITHIN", timedelta(seconds=2))
    deaf = Deaf()
    async with staged(
        temporal_client, tmp_path, zone("a", "enterprise"), interceptors=[deaf], sweep="4h"
    ) as stage:
        state = await stage.phase("a", ZonePhase.AWAITING_SIGN_OFF)
        assert any("could not be told" in line for line in state.ignored)
        await stage.play.until(lambda seen: bool(seen.waiting))
        assert (await stage.finish()).outcomes == {"migrated": 1}
        assert deaf.tried > 4
        notes = (await stage.play.summary()).notes
        assert any("ended before its word came: migrated" in note for note in notes), notes
        await stage.check({4, 7})

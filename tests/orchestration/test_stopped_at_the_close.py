"""A campaign in which nothing is left, and that Temporal still has open: that it says so itself keeps nobody
from signing that it stops, since it may be somebody else who says so. What stands is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from activities.comparing import Comparing
from edgeshift.authority.records import SignedRecords
from edgeshift.messages import Answer, ComparedOutcomes
from edgeshift.operations.errors import Refused
from edgeshift.operations.steering import abort, pause
from tests.kit import OPERATOR
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import Roster

pytestmark = pytest.mark.embedded

Stop = Callable[..., Awaitable[Answer]]


@pytest.fixture
async def closing(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    """A campaign that compares its outcomes, until it is let go on; it has then closed."""
    done, compare = asyncio.Event(), Comparing.all

    async def waits(self: Comparing, **how: Any) -> ComparedOutcomes:
        await done.wait()
        return await compare(self, **how)

    monkeypatch.setattr(Comparing, "all", waits)
    async with staged(temporal_client, tmp_path, zone("a"), authority=Roster()) as stage:
        play = stage.play
        await play.sign([(await stage.waits("a")).fingerprint])
        await play.until(lambda seen: seen.state == "closed", 60)
        assert (await play.campaign.describe()).status is WorkflowExecutionStatus.RUNNING
        yield stage
        done.set()
        assert (await play.result()).outcomes == {"migrated": 1}


async def words(stage: Stage) -> list[str]:
    """The words that somebody has signed."""
    found = await SignedRecords(stage.play.archive).words(stage.play.spec.name)
    return [said.statement.word for said in found]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("stop", "stands"),
    [
        (pause, "zones that begin again send nothing until somebody resumes it"),
        (abort, "no zone of this start can begin again"),
    ],
)
async def test_a_stop_of_a_campaign_in_which_nothing_is_left_is_told_as_signed(
    closing: Stage, stop: Stop, stands: str
) -> None:
    """What stands, and how to go on, is said with the refusal."""
    play, verb = closing.play, stop.__name__
    with pytest.raises(Refused) as told:
        await stop(play.client, play.spec.name, by=OPERATOR, pen=play.pen(OPERATOR))
    closed = f"campaign {play.spec.name} is closed: nothing is left to {verb}"
    assert told.value.text == f"{closed}. The {verb} was signed and archived all the same: {stands}"
    assert "`edgeshift start FILE --again`" in told.value.hint or "`edgeshift resume" in told.value.hint
    assert await words(closing) == [verb]

"""A campaign in which nothing is left, and that Temporal still has open: that it says so itself keeps nobody
from signing that it stops, since it may be somebody else who says so. What stands is told.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from edgeshift.authority.records import SignedRecords
from edgeshift.messages import Answer
from edgeshift.model.sign_off import Choice
from edgeshift.operations.again import begin_again
from edgeshift.operations.errors import Refused
from edgeshift.operations.steering import abort, pause
from edgeshift.testbed.invariants.seen import Word
from tests.kit import OPERATOR
from tests.kit.closing import begin_at_the_close, comparison_waits
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import Roster
from worker.wiring import replayer

pytestmark = pytest.mark.embedded

Stop = Callable[..., Awaitable[Answer]]


@pytest.fixture
async def closing(temporal_client: Client, tmp_path: Path) -> AsyncIterator[Stage]:
    """A campaign that compares its outcomes, until it is let go on; it has then closed."""
    with comparison_waits() as go:
        async with staged(temporal_client, tmp_path, zone("a"), authority=Roster()) as stage:
            play = stage.play
            await play.sign([(await stage.waits("a")).fingerprint])
            await play.until(lambda seen: seen.state == "closed", 60)
            assert (await play.campaign.describe()).status is WorkflowExecutionStatus.RUNNING
            yield stage
            go.set()
            assert (await play.result()).outcomes == {"migrated": 1}


async def words(stage: Stage) -> list[str]:
    """The words that somebody has signed."""
    found = await SignedRecords(stage.play.archive).words(stage.play.spec.name)
    return [said.statement.word for said in found]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("stop", "stands"),
    [
        (pause, "zones that are open, or begin again, send nothing until somebody resumes it"),
        (abort, "zones that are open send nothing, and no zone of this start can begin again"),
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


async def test_a_zone_that_begins_again_at_the_close_is_seen_to_its_end(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Somebody was told that it begins again: the campaign does not close over it."""
    kept = {"urls": ["{zone}/x"], "groups": {}, "rules": {}}
    zones = (zone("a"), zone("b", uri_overrides=[kept]))
    with comparison_waits() as go:
        async with staged(temporal_client, tmp_path, *zones, authority=Roster()) as stage:
            play = stage.play
            await play.sign([(await stage.waits("a")).fingerprint])
            await play.until(lambda seen: seen.state == "closed", 60)
            await begin_at_the_close(stage, ended="a", again="b")
            go.set()
            assert (await play.result()).outcomes == {"migrated": 1, "blocked": 1}
            assert (await play.state(stage.name("b"))).attempt == 2
            await replayer().replay_workflow(await play.campaign.fetch_history())


@pytest.mark.parametrize(("verb", "place"), [("retry", "blocked"), ("reopen", "rejected")])
async def test_what_somebody_begins_again_at_the_close_is_not_refused_as_closed(
    temporal_client: Client, tmp_path: Path, verb: str, place: str
) -> None:
    """While the campaign compares its outcomes: who has signed that a zone begins again is not told that the
    campaign is closed, and it goes on until that zone has ended.
    """
    kept = {"urls": ["{zone}/x"], "groups": {}, "rules": {}}
    zones = (zone("a"), zone("b", uri_overrides=[kept] if verb == "retry" else []))
    with comparison_waits() as go:
        async with staged(temporal_client, tmp_path, *zones, authority=Roster()) as stage:
            play, b = stage.play, stage.name("b")
            if verb == "reopen":
                await stage.waits("b")
                await play.sign_zone(b, Choice.REJECT)
            await stage.waits("a")
            await play.sign_zone(stage.name("a"))
            await play.until(lambda seen: seen.state == "closed", 60)
            play.words.append(Word(by=OPERATOR, at=play.now(), zone=stage.id("b"), reopens=verb == "reopen"))
            told = await begin_again(
                play.client,
                play.spec.name,
                verb,
                by=OPERATOR,
                indexes=[play.index(b)],
                places=[place],
                pen=play.pen(OPERATOR),
                zones=[stage.id("b")],
            )
            assert told.text.startswith("restarts 1 zone")
            go.set()
            if verb == "reopen":
                assert (await stage.waits("b")).attempt == 2
                await play.sign_zone(b)
            ends = {"migrated": 2} if verb == "reopen" else {"migrated": 1, "blocked": 1}
            assert (await play.result()).outcomes == ends
            assert (await play.state(b)).attempt == 2
            await replayer().replay_workflow(await play.campaign.fetch_history())
            await stage.check()

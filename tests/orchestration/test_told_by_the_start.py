"""Zones that begin with a plan's reading, and of which whoever starts them tells the campaign what they wait
for: no word is lost with an answer, a worker, a run, or a zone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import (
    ActivityInboundInterceptor,
    ActivityOutboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from edgeshift.messages import AskingZone, StartedZones, Step, ZonePhase
from edgeshift.model.fleet import ZoneOutcome, campaign_id
from tests.harness.disturbances.operators import reset
from tests.kit import Scene
from tests.kit.faults import staged, zone
from tests.kit.planned import start_by_plan
from tests.replay.commands import commands_of

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

TOLD = "tell_campaign"


async def commands(play: Scene, name: str) -> list[str]:
    """What a zone's workflow has asked the engine for."""
    return commands_of(json.loads((await play.zone(name).fetch_history()).to_json()))


async def signals(play: Scene, name: str) -> list[str]:
    """The signals that a zone has got."""
    history = await play.zone(name).fetch_history()
    return [
        event.workflow_execution_signaled_event_attributes.signal_name
        for event in history.events
        if event.HasField("workflow_execution_signaled_event_attributes")
    ]


class Answers(Interceptor):
    """Changes what the activity that starts zones answers. ``lost``: how often its answer, and all that it
    has told on the way, is lost with its worker.
    """

    def __init__(
        self, change: Callable[[StartedZones], StartedZones] = lambda answer: answer, lost: int = 0
    ) -> None:
        self.change, self.lost, self.answers = change, lost, list[StartedZones]()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        answers = self

        class Silent(ActivityOutboundInterceptor):
            def heartbeat(self, *details: Any) -> None:
                if activity.info().activity_type != "start_zones":
                    super().heartbeat(*details)

        class Inbound(ActivityInboundInterceptor):
            def init(self, outbound: ActivityOutboundInterceptor) -> None:
                super().init(Silent(outbound))

            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                answer = await super().execute_activity(input)
                if activity.info().activity_type != "start_zones":
                    return answer
                answers.answers.append(answer)
                if len(answers.answers) <= answers.lost:
                    raise RuntimeError("the worker is gone before it has answered")
                return answers.change(answer)

        return Inbound(next)


async def test_a_zone_that_begins_with_a_plan_does_not_say_that_it_waits(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its campaign knows from the start, also of a zone that is signed by itself."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), begin=False) as stage:
        play = stage.play
        await start_by_plan(play)
        found = await play.until(lambda seen: sum(one.zones for one in seen.waiting) == 2)
        assert all(not one.separate for one in found.waiting)
        for name in ("a", "b"):
            await play.zone_until(stage.name(name), lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF)
            assert await commands(play, stage.name(name)) == []
        assert (await stage.finish()).outcomes == {"migrated": 2}
        assert not any("permit" in one for one in await commands(play, stage.name("a")))
        await stage.check({3, 4, 7})


async def test_a_zone_whose_start_was_not_answered_says_what_it_waits_for(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The next try finds it started already: the campaign asks it at once, before any sweep."""
    answers = Answers(lost=1)
    async with staged(
        temporal_client, tmp_path, zone("a"), begin=False, interceptors=[answers], sweep="30d"
    ) as stage:
        play = stage.play
        await start_by_plan(play)
        await play.until(lambda seen: sum(one.zones for one in seen.waiting) == 1)
        assert [len(one.asking) for one in answers.answers] == [1, 0]
        assert answers.answers[1].found == (0,)
        assert "say_again" in await signals(play, stage.name("a"))
        assert (await stage.finish()).outcomes == {"migrated": 1}
        await stage.check({3, 4, 7})


async def test_a_zone_of_which_an_answer_does_not_tell_is_found_by_the_sweep(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A worker of an earlier version has answered, or a run has ended before it heard."""
    answers = Answers(lambda answer: answer.model_copy(update={"asking": ()}))
    async with staged(temporal_client, tmp_path, zone("a"), begin=False, interceptors=[answers]) as stage:
        await start_by_plan(stage.play)
        assert (await stage.finish()).outcomes == {"migrated": 1}
        assert "say_again" in await signals(stage.play, stage.name("a"))
        await stage.check({3, 4, 7})


async def test_a_campaign_that_was_reset_to_before_its_zones_began_knows_what_they_wait_for(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It starts them again, finds them started, and asks them."""
    answers = Answers()
    async with staged(
        temporal_client, tmp_path, zone("a"), zone("b"), begin=False, interceptors=[answers], sweep="30d"
    ) as stage:
        play = stage.play
        await start_by_plan(play)
        await play.until(lambda seen: sum(one.zones for one in seen.waiting) == 2)
        assert await reset(play.client, play.client.get_workflow_handle(campaign_id(play.spec.name)), 4)
        await play.until(lambda seen: sum(one.zones for one in seen.waiting) == 2)
        assert answers.answers[-1].found == (0, 1)
        assert (await stage.finish()).outcomes == {"migrated": 2}
        await stage.check({3, 4, 7})


async def test_a_zone_that_is_terminated_right_after_its_start_is_settled(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It has said nothing, and the campaign believes that it waits: the sweep finds its end."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), begin=False) as stage:
        play = stage.play
        await start_by_plan(play)
        await play.until(lambda seen: sum(one.zones for one in seen.waiting) == 2)
        await play.zone(stage.name("a")).terminate("the test ends it")
        assert (await stage.finish()).outcomes == {"failed": 1, "migrated": 1}


async def test_a_forged_answer_does_no_more_than_a_forged_word(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Of zones that were not asked for nothing counts, and what it says of others gives way to what they say
    themselves: no zone is lost, and none is signed with what it does not propose.
    """

    def forged(answer: StartedZones) -> StartedZones:
        wrong = [
            AskingZone(index=index, step=Step.COMMIT, digest="f" * 64, fingerprint="f" * 64, joins=True)
            for index in (-1, 0, 0, 1, 2, 99)
        ]
        return answer.model_copy(update={"asking": tuple(wrong), "found": (-1, 99)})

    answers = Answers(forged)
    async with staged(
        temporal_client, tmp_path, zone("a"), zone("b"), begin=False, interceptors=[answers]
    ) as stage:
        play = stage.play
        await start_by_plan(play)
        true = (await play.zone_until(stage.name("a"), lambda state: bool(state.fingerprint))).fingerprint
        await play.until(lambda seen: [one.fingerprint for one in seen.waiting] == [true])
        assert (await stage.finish()).outcomes == {"migrated": 2}
        assert await play.outcome(stage.name("b")) is ZoneOutcome.MIGRATED
        await stage.check({3, 4, 7})

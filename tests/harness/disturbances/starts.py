"""A campaign that is started a hundred times at once, and another one over the same zones."""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio.client import Client

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignResult, CampaignSummary
from edgeshift.model.fleet import campaign_id
from edgeshift.operations import waits
from edgeshift.operations.campaigns import start_campaign
from edgeshift.operations.errors import Failed, OperationError, Refused
from tests.harness.disturbances import Acting, Disturbance, disturbance
from tests.kit import OPERATOR
from tests.kit.queue import OnQueue

MANY = 100

_pollers = waits.pollers


async def _pollers_of_scene(client: Client, *kind: Any) -> list[str]:
    """Who polls edgeshift's task queues; of a scene they are others, which its own workers poll."""
    moved = any(isinstance(plugin, OnQueue) for plugin in client.config()["plugins"])
    return ["the scene's"] if moved else await _pollers(client, *kind)


waits.pollers = _pollers_of_scene


async def start_many(acting: Acting, number: int = MANY) -> list[OperationError]:
    """Start the scene's campaign so many times at once, as the command line does; what the others are told.
    Fails where more than one is told that it has started it, or none.
    """
    play = acting.stage.play
    found = await asyncio.gather(
        *(
            start_campaign(play.client, play.archive, play.spec, by=OPERATOR, pen=play.pen(OPERATOR))
            for _ in range(number)
        ),
        return_exceptions=True,
    )
    started = [one for one in found if not isinstance(one, BaseException)]
    odd = [one for one in found if isinstance(one, BaseException) and not isinstance(one, OperationError)]
    assert not odd, f"{len(odd)} starts failed without a word for people: {odd[0]!r}"
    assert len(started) <= 1, f"{len(started)} starts were told that they had started it"
    if started:
        play.start = started[0]
        acting.told("started at once")
    return [one for one in found if isinstance(one, OperationError)]


async def rival(acting: Acting) -> dict[int, str]:
    """Another campaign over the same zones: which of them it leaves to this one, and why."""
    play = acting.stage.play
    assert play.start is not None
    name = f"{play.spec.name}-two"
    spec = CampaignSpec.model_validate({**play.spec.model_dump(), "name": name})
    await start_campaign(play.client, play.archive, spec, by="rita", pen=play.pen("rita"))
    handle = play.client.get_workflow_handle(campaign_id(name), result_type=CampaignResult)
    await handle.result()
    summary = await handle.query("summary", result_type=CampaignSummary)
    acting.told("rival")
    return dict(summary.excluded)


async def _again(acting: Acting) -> None:
    await asyncio.sleep(acting.chance.uniform(0.5, 5.0))
    refusals = await start_many(acting)
    for refused in refusals:
        assert isinstance(refused, Refused | Failed), repr(refused)
    acting.told("started at once")


disturbance(Disturbance("starts-100", _again))

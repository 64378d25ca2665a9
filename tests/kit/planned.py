"""A scene's campaign that begins with what a plan has read."""

from __future__ import annotations

from edgeshift.model.fleet import Target
from edgeshift.operations import assess, frozen_by, start_campaign
from tests.kit.checkers import Scene
from tests.kit.names import OPERATOR


async def start_by_plan(play: Scene, *, again: bool = False) -> None:
    """Plan the scene's campaign, and start it by the plan. ``again``: what ``start --again`` does."""
    _, result = await assess(play.client, play.archive, play.spec)
    play.start = await start_campaign(
        play.client,
        play.archive,
        play.spec,
        by=OPERATOR,
        frozen=frozen_by(result, play.now()),
        pen=play.pen(OPERATOR),
        again=again,
    )
    if again:
        # Its new run counts from none.
        play.accepted.append(play.now())
    play.targets = [Target.model_validate(item) for item in await play.archive.get_json(result.targets)]

"""A permit that a zone puts back, and that its campaign says once more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from edgeshift.messages import Permit, PermitGrant, Step
from edgeshift.model.sign_off import Choice, Decision
from tests.kit import APPROVER, eventually
from tests.kit.faults import Stage


async def say_twice(stage: Stage, short: str) -> None:
    """The zone's campaign gives it a permit that it puts back, since nobody has signed yet; and says it once
    more after the zone has told so, with decisions, as a batch that is told again does.
    """
    play, state = stage.play, await stage.waits(short)
    handle = play.zone(stage.name(short))
    permit = Permit(
        number=7,
        name="given-7",
        index=play.index(stage.name(short)),
        step=Step.COMMIT,
        expires_at=datetime.now(UTC) + timedelta(minutes=5),
    )
    run = (await play.campaign.describe()).run_id or ""
    grant = PermitGrant(campaign_run=run, attempt=1, permit=permit)
    await handle.signal("permit", grant)

    async def is_put_back() -> bool:
        return (await play.state(stage.name(short))).sequence > state.sequence

    await eventually(is_put_back, 30, "the permit goes back")
    signed = Decision(choice=Choice.APPROVE, digest=state.digest, by=APPROVER, at=datetime.now(UTC))
    await handle.signal("permit", grant.model_copy(update={"decisions": (signed,)}))

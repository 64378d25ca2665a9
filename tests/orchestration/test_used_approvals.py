"""What was rolled back is not done again by what was signed for it, whoever calls: it takes an operator who
begins it again, and people who approve it after that.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.messages import ChangeResult, ChangeStatus
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import Choice
from edgeshift.operations.again import begin_again
from tests.forgeries.running.attack import BOTH, Attack
from tests.forgeries.running.foreign import forged_change, scheduled
from tests.harness.campaigns.authority import ONE, TWO
from tests.harness.campaigns.stages import esc_stage, esc_zone
from tests.kit import APPROVER, OPERATOR
from tests.kit.faults import Stage

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(400)]

OFF = ("esc.set", "always")


async def reopened(stage: Stage) -> None:
    """The campaign has closed, and an operator begins the zone again."""
    play = stage.play
    await play.result()
    name = stage.name("worse")
    answer = await begin_again(
        play.client,
        play.spec.name,
        "reopen",
        by=OPERATOR,
        indexes=[play.index(name)],
        places=["rolled_back", "on_hold"],
        pen=play.pen(OPERATOR),
        zones=[stage.id("worse")],
    )
    assert "is reopened" in answer.text


async def test_what_was_rolled_back_is_not_done_again_by_what_was_signed_for_it(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A stranger's workflow has the change made once more, in the attempt that is over and in one that nobody
    has begun. An operator begins it again then, and people approve it after that: it goes on.
    """
    zones = esc_zone("worse", own=True, worse=True), esc_zone("other")
    async with esc_stage(temporal_client, tmp_path, *zones, authority=TWO) as stage:
        play = stage.play
        state = await stage.waits("worse", within=120)
        await play.sign_by_key((state.fingerprint,), Choice.APPROVE, BOTH)
        await play.sign_zone(stage.name("worse"))
        assert await stage.outcome("worse", 120) is ZoneOutcome.ROLLED_BACK
        attack = Attack(stage, temporal_client, "worse", FileSigner(PrivateKey.made()), state, set())
        for attempt, why in (1, "attempt 1 has sent it"), (2, "nobody has signed that it begins again"):
            change = await forged_change(attack, attempt=attempt)
            permit = change.permit.model_copy(update={"name": f"mallory-{attempt}"})
            _, found = await scheduled(
                attack,
                "change_zone",
                change.model_copy(update={"permit": permit}),
            )
            result = ChangeResult.model_validate(found)
            assert result.status is ChangeStatus.NOTHING_HAPPENED and why in result.reason, result
        assert (await stage.changes("worse")).count(OFF) == 1
        await play.until(lambda seen: seen.places.get("rolled_back") == 1)
        await play.again("reopen", stage.name("worse"))
        assert (await stage.waits("worse", within=120)).attempt == 2
        # Signatures are dated to the second: one of that in which the end was seen may be from before it.
        await asyncio.sleep(1)
        await play.sign_zone(stage.name("worse"))
        assert await stage.outcome("worse", 120) is ZoneOutcome.ROLLED_BACK
        assert (await stage.changes("worse")).count(OFF) == 2


async def test_a_reopened_zone_whose_approval_was_used_says_so_and_is_signed_anew(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The campaign has the approval of its fingerprint in its book: the zone comes to the door, goes on hold
    and says whose signature was used. Reopened once more it waits for people.
    """
    async with esc_stage(temporal_client, tmp_path, esc_zone("worse", worse=True), authority=ONE) as stage:
        play, name = stage.play, stage.name("worse")
        state = await stage.waits("worse", within=120)
        await play.sign((state.fingerprint,))
        assert await stage.outcome("worse", 120) is ZoneOutcome.ROLLED_BACK
        await reopened(stage)
        await play.until(lambda seen: seen.places.get("on_hold") == 1)
        (why,) = (await play.state(name)).why
        assert why.code is ReasonCode.SIGN_OFF_NOT_COUNTED and f"what {APPROVER} signed was used" in why.said
        assert (await stage.changes("worse")).count(OFF) == 1
        await reopened(stage)
        state = await stage.waits("worse", within=120)
        assert state.attempt == 3
        await play.sign((state.fingerprint,))
        assert await stage.outcome("worse", 120) is ZoneOutcome.ROLLED_BACK
        assert (await stage.changes("worse")).count(OFF) == 2

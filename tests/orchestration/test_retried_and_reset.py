"""A campaign that is reset to before it began a zone again takes up the later attempt of the zone."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.operations.again import zones_at
from tests.harness.disturbances.operators import reset, tasks
from tests.kit import eventually
from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(240)]


async def ended(stage: Stage, short: str) -> None:
    """The zone's workflow is terminated, and the campaign finds that."""

    async def is_failed() -> bool:
        failed = await zones_at(stage.play.client, stage.play.spec.name, [ZoneOutcome.FAILED.value])
        return [one.index for one in failed.targets] == [stage.play.index(stage.name(short))]

    await stage.play.zone(stage.name(short)).terminate("by hand")
    await eventually(is_failed, 60, "the campaign finds that the zone was terminated")


async def begun_again(stage: Stage, short: str, attempt: int) -> None:
    """People begin the zone again, and the attempt waits for a sign-off."""

    async def waits() -> bool:
        state = await stage.play.state(stage.name(short))
        return state.attempt == attempt and bool(state.digest)

    await stage.play.again("retry", stage.name(short))
    await eventually(waits, 60, f"attempt {attempt} waits for a person")


async def reset_after_a_retry(stage: Stage) -> None:
    """The zone ``one`` waits in its second attempt, and the campaign is reset to before it had ended."""
    await stage.waits("one")
    await stage.waits("other")
    before = (await tasks(stage.play.campaign))[-1]
    await ended(stage, "one")
    await begun_again(stage, "one", attempt=2)
    assert await reset(stage.play.client, stage.play.campaign, before)


async def test_a_zone_that_waits_in_a_later_attempt_is_not_taken_for_ended(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The campaign closes when it has been signed and migrated, not before."""
    async with staged(temporal_client, tmp_path, zone("one"), zone("other")) as stage:
        await reset_after_a_retry(stage)
        found = f"zone {stage.play.index(stage.name('one'))} was found awaiting, which was not known"

        async def is_found() -> bool:
            return any(found in note for note in (await stage.play.summary()).notes)

        await eventually(is_found, 60, "the campaign takes up the second attempt")
        assert (await stage.finish(150)).outcomes == {"migrated": 2}
        assert await stage.outcome("one") is ZoneOutcome.MIGRATED


async def test_a_later_attempt_that_was_ended_is_followed_by_the_one_after_it(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A retry begins the third attempt, and does not take the second for it."""
    async with staged(temporal_client, tmp_path, zone("one"), zone("other")) as stage:
        await reset_after_a_retry(stage)
        await ended(stage, "one")
        await begun_again(stage, "one", attempt=3)
        assert (await stage.finish(150)).outcomes == {"migrated": 2}


@pytest.mark.parametrize("task", [0, 1])
async def test_what_was_signed_counts_after_a_reset_to_before_any_zone_began(
    temporal_client: Client, tmp_path: Path, task: int
) -> None:
    """Nobody has to sign it once more: it comes before the campaign has looked at what its zones propose."""
    async with staged(temporal_client, tmp_path, zone("one"), zone("other")) as stage:
        state = await stage.waits("one")
        await stage.play.until(lambda seen: seen.places.get("awaiting") == 2)
        before = (await tasks(stage.play.campaign))[task]
        await stage.play.ask("pause", "a long lunch")
        await stage.play.sign([state.fingerprint])
        assert await reset(stage.play.client, stage.play.campaign, before)
        await stage.play.ask("resume")
        assert await stage.outcome("one", 90) is ZoneOutcome.MIGRATED
        assert await stage.outcome("other", 90) is ZoneOutcome.MIGRATED
        await stage.closed()


async def test_a_pause_after_a_reset_waits_for_the_permit_that_was_forgotten(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The campaign is reset while a step is under way, grants anew and is paused: nothing is sent after it
    has answered. The zone that came first keeps the new permit from having the old one's number.
    """
    async with staged(
        temporal_client,
        tmp_path,
        zone("first"),
        zone("one"),
        zone("open"),
        window=3,
        request_limit="20s",
        commit={"send_window": "25s", "lease": "2m"},
    ) as stage:
        play = stage.play
        for short in ("first", "one", "open"):
            await stage.waits(short)
        await play.until(lambda seen: seen.places.get("awaiting") == 3)
        before = (await tasks(play.campaign))[-1]
        await play.sign_zone(stage.name("first"))
        assert await stage.outcome("first") is ZoneOutcome.MIGRATED
        await stage.fault("latency", "waf.config", "one", seconds=12)
        await play.sign_zone(stage.name("one"))
        await stage.phase("one", ZonePhase.COMMITTING)
        assert await reset(play.client, play.campaign, before)
        await play.until(lambda seen: seen.places.get("permitted") == 1)
        assert await stage.changes("one") == []
        await play.ask("pause")
        sent = await stage.changes("one")
        await stage.outcome("one")
        assert await stage.changes("one") == sent
        await play.ask("resume")
        assert (await stage.finish(150)).outcomes == {"migrated": 3}
        await stage.check({3, 4})

"""What people and processes do while calls are held: resume, pause, abort, another campaign, a new run, a new
worker, another token.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import campaign_id
from tests.harness.running.share import shared
from tests.kit import REVOKED, Scene, eventually
from tests.kit.faults import Stage, staged, zone
from tests.kit.held import calls_since, fault, few, last, set_status, stands_still, watched
from worker.wiring import workers

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(300)]

NAMES = ("a", "b", "c")


async def held_stage(stage: Stage) -> None:
    """All zones signed, and the token revoked before anything could be sent."""
    play = stage.play
    waiting = await play.until(lambda found: found.places.get("awaiting", 0) == len(stage.names))
    await set_status(play, "expired")
    await play.sign([item.fingerprint for item in waiting.waiting])
    await stands_still(play)


async def probed(play: Scene, times: int) -> None:
    """Return once the service has been called so often from now on."""
    before = await last(play)

    async def called() -> bool:
        return len(await calls_since(play, before)) >= times

    await eventually(called, 60, f"{times} call(s) while calls are held")


async def resume_too_early(client: Client, folder: Path) -> None:
    """A resume while the token is refused still costs one call, and the campaign pauses itself again."""
    async with staged(client, folder, *map(zone, NAMES), paced=True) as stage:
        play = stage.play
        await held_stage(stage)
        await watched(play, 0)
        before = await last(play)
        answer = await play.campaign.execute_update("resume", {"by": "olga"})
        assert "it pauses itself again" in answer["text"]

        async def noted() -> bool:
            found = await play.summary()
            return bool(found.holds) and sum("paused by itself" in note for note in found.notes) == 2

        await eventually(noted, 30, "it pauses itself again")
        # But for the one that the resume cost, at most one a minute.
        assert few((await calls_since(play, before))[1:])
        assert few(await watched(play))
        await set_status(play, "active")
        assert (await stage.finish()).outcomes == {"migrated": 3}
        await stage.check()


async def a_persons_pause(client: Client, folder: Path) -> None:
    """A person's pause stays a person's: it is there after the service answers again."""
    async with staged(client, folder, *map(zone, NAMES), paced=True) as stage:
        play = stage.play
        await held_stage(stage)
        await play.ask("pause", "lunch")
        assert (await play.summary()).why.startswith("by olga: lunch; by itself: the service refuses")
        await set_status(play, "active")
        found = await play.until(lambda seen: not seen.holds)
        assert (found.state, found.why) == ("paused", "by olga: lunch")
        await play.until(lambda seen: seen.places.get("ready", 0) == 3)
        assert await stage.changes() == [] or all(entry["effect"] == "none" for entry in await play.commits())
        await play.ask("resume")
        assert (await stage.finish()).outcomes == {"migrated": 3}
        await stage.check({3, 4})


async def abort_meanwhile(client: Client, folder: Path) -> None:
    """What waits ends at once; what was sent waits until it can be read, and ends as the service shows it."""
    slow = {"migration_seconds": 86_400}
    async with staged(
        client,
        folder,
        zone("sent"),
        zone("waits"),
        simulator=slow,
        commit={"migration_limit": "20s"},
        paced=True,
    ) as stage:
        play = stage.play
        await stage.waits("sent")
        await stage.waits("waits")
        await play.sign_zone(stage.name("sent"))
        await stage.phase("sent", ZonePhase.VERIFYING)
        await set_status(play, "expired")
        await stage.phase("sent", ZonePhase.WAITING_FOR_SERVICE)
        await play.ask("abort", "enough")
        assert await stage.outcome("waits") == "aborted"
        assert few(await watched(play))
        assert (await stage.phase("sent", ZonePhase.WAITING_FOR_SERVICE)).hold is not None
        await set_status(play, "active")
        assert (await stage.finish()).outcomes == {"migrated": 1, "aborted": 1}
        await stage.check({3, 4})


async def two_campaigns(client: Client, folder: Path) -> None:
    """Two campaigns of one user make one call a minute together, and both go on."""
    async with staged(client, folder, *map(zone, NAMES), begin=False, paced=True) as stage:
        play = stage.play
        specs = [
            play.spec.model_copy(
                update={
                    "name": f"{play.spec.name}-{number}",
                    "targets": play.spec.targets.model_copy(update={"all": False, "include": names}),
                }
            )
            for number, names in enumerate([(stage.name("a"),), (stage.name("b"), stage.name("c"))])
        ]
        both = [replace(play, spec=spec, signatures=play.signatures) for spec in specs]
        for one in both:
            await one.begin()
        for one in both:
            waiting = await one.until(
                lambda found: (
                    bool(found.waiting) and found.open_runs == sum(item.zones for item in found.waiting)
                )
            )
            assert waiting.count
        await set_status(play, "expired")
        for one in both:
            await one.sign([item.fingerprint for item in (await one.summary()).waiting])
        for one in both:
            await stands_still(one)
        await probed(play, 2)
        assert few(await watched(play, 5))
        await set_status(play, "active")
        for one, count in zip(both, (1, 2), strict=True):
            assert (await one.sign_everything()).outcomes == {"migrated": count}
        assert len([entry for entry in await play.commits() if entry["effect"] != "none"]) == 3


async def a_new_run(client: Client, folder: Path) -> None:
    """The campaign goes on in a new run while it stands still: it waits on, and knows who waits."""
    async with staged(client, folder, *map(zone, NAMES), begin=False, paced=True) as stage:
        play = stage.play
        await play.begin(most_events=40)
        await held_stage(stage)
        before = (await play.campaign.describe()).run_id
        for number in range(12):
            await play.ask("pause", f"pause {number}")

        async def elsewhere() -> bool:
            return (await play.campaign.describe()).run_id != before

        await eventually(elsewhere, 30, "the campaign goes on in a new run")
        found = await play.until(lambda seen: seen.held_zones == 3)
        assert found.holds
        assert few(await watched(play))
        await set_status(play, "active")
        await play.until(lambda seen: not seen.holds)
        await play.campaign.execute_update("resume", {"by": "olga"})
        assert (await stage.finish()).outcomes == {"migrated": 3}
        described = play.client.list_workflows(f"WorkflowId = '{campaign_id(play.spec.name)}'")
        assert len([run async for run in described]) >= 2


async def a_new_worker(client: Client, folder: Path) -> None:
    """The worker stops while calls are held, and another one starts: it waits on, with one call a minute."""
    async with staged(client, folder, *map(zone, NAMES), serve=False, paced=True) as stage:
        play = stage.play

        def worker() -> Any:
            return workers(play.client, play.settings, quota=True, grace=timedelta(seconds=2))

        async with worker():
            await play.begin()
            await held_stage(stage)
            await watched(play, 1)
        async with worker():
            await probed(play, 1)
            assert few(await watched(play, 6))
            await set_status(play, "active")
            assert (await stage.finish()).outcomes == {"migrated": 3}
        await stage.check()


async def another_token(client: Client, folder: Path) -> None:
    """A reference that leads to another token by now is enough: nobody has to say so."""
    async with staged(client, folder, *map(zone, NAMES), paced=True) as stage:
        play = stage.play
        (credential,) = play.spec.service.credentials
        variable = credential.reference.removeprefix("env:")
        good = os.environ[variable]
        waiting = await play.until(lambda found: found.places.get("awaiting", 0) == 3)
        os.environ[variable] = "x" * 40
        await play.sign([item.fingerprint for item in waiting.waiting])
        found = await stands_still(play)
        assert f"start the worker again with a valid one in {variable}" in found.fix
        assert few(await watched(play))
        os.environ[variable] = good
        assert (await stage.finish()).outcomes == {"migrated": 3}
        await stage.check()


async def no_token(client: Client, folder: Path) -> None:
    """Where the reference leads nowhere nothing is sent, and it is said which one is meant."""
    async with staged(client, folder, *map(zone, NAMES), paced=True) as stage:
        play = stage.play
        (credential,) = play.spec.service.credentials
        variable = credential.reference.removeprefix("env:")
        waiting = await play.until(lambda found: found.places.get("awaiting", 0) == 3)
        good = os.environ.pop(variable)
        try:
            await play.sign([item.fingerprint for item in waiting.waiting])
            found = await stands_still(play)
            assert f"the credential env:{variable} was not found" in found.why
            assert await watched(play) == []
        finally:
            os.environ[variable] = good
        assert (await stage.finish()).outcomes == {"migrated": 3}
        await stage.check()


async def the_commit_itself(client: Client, folder: Path) -> None:
    """The very request of the commit is refused for its credential: nothing happened, its permit goes back,
    and it is sent once more when the token is taken again.
    """
    async with staged(client, folder, zone("a"), paced=True) as stage:
        play = stage.play
        await stage.waits("a")
        async with fault(play, REVOKED, call="entrypoint.put"):
            await play.sign_zone(stage.name("a"))
            await stands_still(play)
            await play.until(lambda seen: seen.permits_out == 0)
        assert (await stage.finish()).outcomes == {"migrated": 1}
        effects = [entry["effect"] != "none" for entry in await play.commits()]
        assert effects.count(True) == 1 and effects[-1] and len(effects) > 1
        await stage.check()


async def the_sweep(client: Client, folder: Path) -> None:
    """A zone that somebody terminated meanwhile is not judged before the service can be read."""
    async with staged(client, folder, *map(zone, NAMES), paced=True) as stage:
        play = stage.play
        await held_stage(stage)
        await play.zone(stage.name("a")).terminate("by hand")
        assert few(await watched(play, 6))
        assert (await play.summary()).places.get("unknown", 0) == 0
        await set_status(play, "active")
        result = await stage.finish()
        assert result.outcomes == {"migrated": 2, "failed": 1}


SCENARIOS: dict[str, Callable[[Client, Path], Awaitable[None]]] = {
    scenario.__name__: scenario
    for scenario in (
        resume_too_early,
        a_persons_pause,
        abort_meanwhile,
        two_campaigns,
        a_new_run,
        a_new_worker,
        another_token,
        no_token,
        the_commit_itself,
        the_sweep,
    )
}


@pytest.mark.long
@pytest.mark.parametrize("scenario", shared("held calls, steered", SCENARIOS))
async def test_while_calls_are_held(scenario: str, temporal_client: Client, tmp_path: Path) -> None:
    """Each as its own docstring says."""
    await SCENARIOS[scenario](temporal_client, tmp_path)

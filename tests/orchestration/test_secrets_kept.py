"""Activities that a stranger schedules, of a specification that lies in the archive: no secret of a worker's
is sent where its roots, or this machine without roots, do not let it be sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError

from edgeshift.messages.areas.esc import Probe, Probed
from edgeshift.runtime.queues import Queue
from tests.harness.campaigns.stages import ESC, esc_zone, signed_stage
from tests.kit import Scene, eventually, fleet_of, scene
from tests.kit.faults import Stage
from tests.kit.foreign import scheduled
from tests.kit.secrets import AWAY, SECRET, Listener, listening, message
from tests.kit.signing import Roster

pytestmark = pytest.mark.embedded

FLEET = {"name": "a.example", "plan": "pro"}
QUEUES = (Queue.LONG, Queue.CONTROL, Queue.ZONES)


@dataclass
class Play:
    """A worker with a secret, somebody who may have it, and a stranger who may not."""

    scene: Scene
    friend: Listener
    stranger: Listener
    reference: str


@asynccontextmanager
async def playing(client: Client, folder: Path, *, roots: bool) -> AsyncIterator[Play]:
    """Workers, with roots that know the friend alone, or without any."""
    folder.joinpath("secret").write_text(SECRET)
    async with AsyncExitStack() as stage:
        friend, stranger = [await stage.enter_async_context(listening()) for _ in "12"]
        found = await stage.enter_async_context(
            scene(client, folder, fleet_of(FLEET), begin=False, authority=Roster() if roots else None)
        )
        play = Play(found, friend, stranger, f"file:{folder / 'secret'}")
        if roots:
            assert found.keys is not None
            file = found.keys.roots
            known = {
                "base_url": friend.at(),
                "credentials": [play.reference],
                "webhooks": [f"{friend.at()}/hook", play.reference],
            }
            file.write_text(json.dumps({**json.loads(file.read_text()), "services": [known]}))
        yield play


async def sent(play: Play, activity: str, allowed: dict[str, Any], refused: dict[str, Any]) -> None:
    """A stranger has the activity done of both specifications, on each queue that has it. Fails where the
    friend is not told the secret, so that nothing is shown, and where the stranger hears anything.
    """
    seconds = 30.0
    async with AsyncExitStack() as stage:
        for said, queues in ((refused, QUEUES), (allowed, QUEUES[:1])):
            wanted = await message(play.scene.archive, activity, play.reference, said)
            for queue in queues:
                handle = await stage.enter_async_context(
                    scheduled(play.scene.client, activity, wanted, queue, seconds)
                )
                stage.push_async_callback(_ended, handle)

        async def told() -> bool:
            return play.friend.has(SECRET)

        await eventually(told, seconds, "whoever may have it is told the secret")
        await asyncio.sleep(2)
    assert play.stranger.heard == []


async def _ended(handle: Any) -> None:
    """Whoever waits for a service that is nobody's waits on."""
    with suppress(Exception):
        await handle.terminate()
    with suppress(WorkflowFailureError):
        await handle.result()


Said = Callable[[Play], dict[str, Any]]
HOOK = "/hook"


def friendly(play: Play) -> dict[str, Any]:
    """Where the secret may go: to a service and to a webhook."""
    return {
        "service": {"base_url": play.friend.at()},
        "tickets": {"webhook": play.friend.at() + HOOK, "secret": play.reference},
    }


def by_a_proxy(play: Play) -> dict[str, Any]:
    """The service is the same, and the proxy a stranger's."""
    return {"service": {"base_url": play.friend.at(), "proxy": play.stranger.at(AWAY)}}


def tickets_by_a_proxy(play: Play) -> dict[str, Any]:
    """The same of tickets."""
    proxy = play.stranger.at(AWAY)
    hook = {"webhook": play.friend.at() + HOOK, "secret": play.reference, "proxy": proxy}
    return {"service": {"base_url": play.friend.at()}, "tickets": hook}


def to_a_webhook(play: Play) -> dict[str, Any]:
    """A stranger's, elsewhere."""
    hook = {"webhook": play.stranger.at(AWAY, "https") + HOOK, "secret": play.reference}
    return {"service": {"base_url": play.friend.at()}, "tickets": hook}


def to_a_webhook_here(play: Play) -> dict[str, Any]:
    """A stranger's, on this machine."""
    hook = {"webhook": play.stranger.at() + HOOK, "secret": play.reference}
    return {"service": {"base_url": play.friend.at()}, "tickets": hook}


def to_a_service(play: Play) -> dict[str, Any]:
    """A stranger's, on this machine."""
    return {"service": {"base_url": play.stranger.at()}}


@pytest.mark.parametrize(
    ("activity", "refused"),
    [
        ("resolve_targets", by_a_proxy),
        ("await_service", by_a_proxy),
        ("open_ticket", to_a_webhook),
        ("open_ticket", tickets_by_a_proxy),
        ("open_ticket", by_a_proxy),
    ],
)
async def test_without_roots_no_secret_leaves_this_machine(
    temporal_client: Client, tmp_path: Path, activity: str, refused: Said
) -> None:
    """Whatever the service is, and whoever schedules it."""
    async with playing(temporal_client, tmp_path, roots=False) as play:
        wrong = refused(play)
        if activity == "open_ticket":
            wrong = {"tickets": friendly(play)["tickets"], **wrong}
        await sent(play, activity, friendly(play), wrong)


@pytest.mark.parametrize(
    ("activity", "refused"),
    [
        ("resolve_targets", to_a_service),
        ("await_service", to_a_service),
        ("await_service", by_a_proxy),
        ("open_ticket", to_a_webhook_here),
        ("open_ticket", tickets_by_a_proxy),
    ],
)
async def test_with_roots_no_secret_goes_to_a_stranger(
    temporal_client: Client, tmp_path: Path, activity: str, refused: Said
) -> None:
    """The roots know of the friend alone."""
    async with playing(temporal_client, tmp_path, roots=True) as play:
        await sent(play, activity, friendly(play), refused(play))


async def probed(stage: Stage, message: Probe) -> Probed:
    """What becomes of a probe that a stranger has made."""
    queue = f"faults-{stage.tag}-{Queue.LONG.short}"
    async with scheduled(stage.play.client, "probe_esc_scope", message, queue, 60.0) as handle:
        return Probed.model_validate(await handle.result())


async def probe_of(stage: Stage, short: str) -> Probe:
    """The message by which a zone was probed: anybody can read it in the history."""
    zone = stage.play.zone(stage.name(short))
    async for event in zone.fetch_history_events():
        said = event.activity_task_scheduled_event_attributes
        if said.activity_type.name == "probe_esc_scope":
            (found,) = await stage.play.client.data_converter.decode(said.input.payloads, [Probe])
            return Probe.model_validate(found)
    raise AssertionError("it was never probed")


@pytest.mark.timeout(240)
async def test_a_scope_s_secret_is_sent_to_its_own_hosts_alone(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A message of the stranger's has the zone under a name of his own, or another place, or another file."""
    async with signed_stage(temporal_client, tmp_path, esc_zone("a"), **ESC) as stage:
        await stage.waits("a", 120)
        genuine = await probe_of(stage, "a")
        assert (await probed(stage, genuine)).gathered is not None
        start = genuine.start
        zone = start.target.zone.model_copy(update={"name": "evil.example"})
        for more in (
            {"target": start.target.model_copy(update={"zone": zone})},
            {"index": 5},
            {"target": start.target.model_copy(update={"wave": 3})},
        ):
            forged = genuine.model_copy(update={"start": start.model_copy(update=more)})
            with pytest.raises(WorkflowFailureError) as refused:
                await probed(stage, forged)
            assert "none of the signed targets" in str(refused.value.cause.__cause__)

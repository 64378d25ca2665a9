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

from edgeshift.runtime.queues import Queue
from tests.foreign_kit import scheduled
from tests.kit import Scene, eventually, fleet_of, scene
from tests.kit.signing import Roster
from tests.secrets_kit import AWAY, SECRET, Listener, listening, message

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

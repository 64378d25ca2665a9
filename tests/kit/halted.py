"""A campaign that has halted since a commit failed, while its other zone is signed and ready."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio.client import Client

from tests.kit.faults import Stage, staged, zone

NONE_MAY_FAIL: dict[str, Any] = {"window": 1, "advance": {"percent": 1, "failures": 0}}
"""Of a campaign file: the first failure halts it, and one zone is sent at a time."""

REFUSED = '{"success":false,"errors":[{"code":1000,"message":"not now"}],"messages":[],"result":null}'
"""What the service answers to the commit that fails."""


@asynccontextmanager
async def halted_with_one_ready(client: Client, folder: Path) -> AsyncIterator[Stage]:
    """Zone ``a`` has failed; ``b`` is sent once a person accepts that."""
    async with staged(client, folder, zone("a"), zone("b"), **NONE_MAY_FAIL) as stage:
        play = stage.play
        await stage.fault("server_error", "entrypoint.put", "a", effect="before", status=400, body=REFUSED)
        await play.until(lambda seen: seen.places.get("awaiting") == 2)
        await play.sign_zone(stage.name("a"))
        await play.until(lambda seen: seen.state == "halted")
        await play.sign_zone(stage.name("b"))
        await play.until(lambda seen: seen.places.get("ready") == 1)
        yield stage

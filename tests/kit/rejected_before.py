"""A fingerprint that was rejected in an earlier start of a campaign, which is signed zone by zone by now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from tests.harness.disturbances.operators import start_again
from tests.kit import APPROVER
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import Roster
from tests.kit.version_before import taken, version_before
from workflows.zone.signing import SignOffs

WHY = "the editor is blocked"
OFF = {"targets": ["*{zone}/x*"], "actions": [{"id": "waf", "value": "off"}]}
NAMED: dict[str, Any] = {"plan": "business", "page_rules": [OFF]}
"""A zone whose proposal names it, so that its digest is not its fingerprint."""

WAVES = [{"name": "first", "zones": 1}, {"name": "rest"}]


@asynccontextmanager
async def rejected_before(
    client: Client, folder: Path, authority: Roster | None = None, **more: Any
) -> AsyncIterator[Stage]:
    """Of two zones with one fingerprint, ``a`` came to its rejection and ``b`` had not begun when the
    campaign was aborted; it has been started again by a file with ``sign_off.per: zone``, where both are in
    one wave. ``more``: as of ``staged``.
    """
    zones = (zone("a", **NAMED), zone("b", **NAMED))
    async with staged(client, folder, *zones, authority=authority, waves=WAVES, **more) as stage:
        play = stage.play
        state = await stage.waits("a")
        await play.ask("pause", "people look")
        await play.sign([state.fingerprint], Choice.REJECT, by=APPROVER, reason=WHY)
        assert await stage.outcome("a") is ZoneOutcome.REJECTED
        await play.until(lambda seen: seen.places == {"rejected": 1, "pending": 1})
        await play.ask("abort", "zone by zone")
        await play.result()
        # The new start has neither the pause nor the abort.
        play.stops = [stop.model_copy(update={"resumed_at": play.now()}) for stop in play.stops]
        by_zone = {**play.spec.model_dump(), "waves": []}
        by_zone["sign_off"]["per"] = "zone"
        play.spec = type(play.spec).model_validate(by_zone)
        await start_again(stage)
        yield stage


@asynccontextmanager
async def told_in_vain(client: Client, folder: Path) -> AsyncIterator[Stage]:
    """The same, and ``b`` has been told of the rejection under workers of a version that passes over it.
    Workers keep no zone in mind, so that the next task does again what those did.
    """
    with version_before(SignOffs, "_is_ruled_out") as update:
        async with rejected_before(client, folder, worker={"zones_cached": 0}) as stage:
            await stage.waits("b")
            await taken(stage.play.zone(stage.name("b")), "ruling")
            update()
            yield stage

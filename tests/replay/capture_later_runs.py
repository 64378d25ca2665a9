"""The acts of the capture whose zones go on in a later run: reset by an operator, or continued as new."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.messages import Stop, ZonePhase
from tests.harness.disturbances.operators import reset, task_before, tasks
from tests.kit import SCALE, Scene, eventually, fleet_of, scene
from tests.kit.zones import esc_zone
from tests.replay.capture_planned import JOB, LOG_FIELDS
from tests.replay.capture_reversible import ESC
from tests.replay.keeping import is_in, keep

MIGRATES_IN = 8
"""Seconds until a commit shows."""

SLOW: dict[str, Any] = {
    "simulator": {"migration_seconds": MIGRATES_IN * SCALE},
    "commit": {"migration_limit": "80h", "lease": "2m"},
}

FOLLOWED_BY = 60
"""Events after which the server says that a run should go on in a new one. It has to be started so."""

AREAS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "zone": ({"name": "stormy.example", "plan": "pro"}, {}),
    "esc": (esc_zone("stormy.example"), ESC),
    "log-fields": ({"name": "stormy.example", "plan": "enterprise", "logs": {"jobs": [JOB]}}, LOG_FIELDS),
}
"""A zone of each area, and the campaign's part."""


async def reset_zones(client: Client, folder: Path) -> None:
    """Zones that wait, and are reset to where they began or to where they stand; and one whose commit is
    under way.
    """
    fleet = fleet_of(*({"name": f"{name}.example", "plan": "pro"} for name in ("first", "later", "sent")))
    async with scene(client, folder, fleet, **SLOW) as play:
        for name in ("first", "later", "sent"):
            await play.zone_until(f"{name}.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        first, later, sent = (play.zone(f"{name}.example") for name in ("first", "later", "sent"))
        assert await reset(client, first, (await tasks(first))[0], reapplies=False)
        await waits_again(play, "first.example")
        await keep("zone-reset-to-its-beginning-awaiting_sign_off", first)
        assert await reset(client, later, (await tasks(later))[-1], reapplies=False)
        await waits_again(play, "later.example")
        await keep("zone-reset-midway-awaiting_sign_off", later)
        before = (await tasks(sent))[-1]
        await play.sign_zone("sent.example")
        await play.zone_until("sent.example", partial(is_in, ZonePhase.VERIFYING))
        assert await reset(client, sent, before, reapplies=False)
        await sent.result()
        await keep("zone-reset-after-its-commit-migrated", sent)
        for name, handle in (("first", first), ("later", later)):
            await play.sign_zone(f"{name}.example")
            await handle.result()
        await keep("zone-reset-to-its-beginning-migrated", first)
        await keep("zone-reset-midway-migrated", later)


async def reset_under_a_permit(client: Client, folder: Path) -> None:
    """A zone that is reset while its change is on the wire, and told to give back the permit: while it waits
    until that is over.
    """
    commit = {**ESC["commit"], "send_window": "3s", "margin": "1s", "lease": "30s"}
    async with scene(
        client, folder, fleet_of(esc_zone("plain.example")), **{**ESC, "commit": commit}
    ) as play:
        await play.zone_until("plain.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        match = {"zone": play.zone_id("plain.example"), "call": "esc.set"}
        slow = {"match": match, "kind": "latency", "effect": "before", "seconds": 6.0, "times": 1}
        await play.control.send("POST", "faults", slow)
        plain = play.zone("plain.example")
        await play.sign_zone("plain.example")
        await play.zone_until("plain.example", partial(is_in, ZonePhase.COMMITTING))
        before = await task_before(plain, "probe_esc_scope")
        assert before and await reset(client, plain, before, reapplies=False)
        await play.zone_until("plain.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        pausing = asyncio.create_task(play.ask("pause"))
        await eventually(partial(marked, play, "plain.example", "revoked-"), 60, "it gives the permit back")
        await keep("esc-reset-gives-its-permit-back", plain)
        pausing.cancel()


async def continued(client: Client, folder: Path) -> None:
    """A zone of each area that hears more than one run should take: both runs."""
    for area, (described, spec) in AREAS.items():
        async with scene(client, folder / area, fleet_of(described), **spec) as play:
            name = described["name"]
            await play.zone_until(name, partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
            await play.until(lambda seen: seen.places.get("awaiting") == 1)
            handle = play.zone(name)
            first = (await handle.describe()).run_id
            nobodys = Stop(by="nobody", campaign_run="another")
            for _ in range(FOLLOWED_BY):
                await handle.signal("stop", nobodys)
            await eventually(partial(went_on, play, name, str(first)), 60, "it goes on in a new run")
            await keep(f"{area}-continued-as-new", client.get_workflow_handle(handle.id, run_id=first))
            await waits_again(play, name)
            await keep(f"{area}-gone-on-awaiting_sign_off", handle)
            await play.sign_zone(name)
            await handle.result()
            await keep(f"{area}-gone-on-ended", handle)


async def waits_again(play: Scene, name: str) -> None:
    """The zone's later run waits for people, and has nothing more to do until they come."""

    async def rests() -> bool:
        state = await play.state(name)
        raw = (await play.zone(name).describe()).raw_description
        works = raw.pending_activities or raw.HasField("pending_workflow_task")
        return state.phase is ZonePhase.AWAITING_SIGN_OFF and not works

    await eventually(rests, 60, f"{name} waits again")


async def marked(play: Scene, name: str, patch: str) -> bool:
    """Whether the zone's history has a marker of a patch whose name begins so."""
    history = await play.zone(name).fetch_history()
    return any(
        patch.encode() in payload.data
        for event in history.events
        if event.HasField("marker_recorded_event_attributes")
        for value in event.marker_recorded_event_attributes.details.values()
        for payload in value.payloads
    )


async def went_on(play: Scene, name: str, run: str) -> bool:
    """Whether another run of the zone is there."""
    return (await play.zone(name).describe()).run_id != run

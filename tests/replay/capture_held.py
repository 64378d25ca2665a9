"""The acts of the capture in which something is held up: the first permit, the service, a worker."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.messages import Blocked, ZonePhase
from edgeshift.model.fleet import campaign_id, quota_id
from tests.harness.aimed.scene import Stalled
from tests.kit import REVOKED, SCALE, TOO_MANY_RULES, eventually, fleet_of, scene
from tests.kit.called_off import CalledOff
from tests.kit.cancelled import cancelled_as_it_waits
from tests.kit.faults import staged, zone
from tests.kit.held import fault, stands_still
from tests.kit.planned import start_by_plan
from tests.kit.zones import esc_zone
from tests.replay.capture_planned import JOB, LOG_FIELDS
from tests.replay.capture_reversible import ESC
from tests.replay.keeping import is_in, keep
from workflows.campaign.batches import GIVEN_UP_TOGETHER

MANY = GIVEN_UP_TOGETHER + 10
"""Permits: more than are given up in one activity."""


async def held_up(client: Client, folder: Path) -> None:
    """A zone that waits for its first permit, and for a service that refuses the credential."""
    fleet = fleet_of(
        {"name": "window.example", "plan": "enterprise", "firewall_rules": TOO_MANY_RULES},
        {"name": "refused.example", "plan": "business", "previous_waf": {"owasp": {"sensitivity": "low"}}},
    )
    async with scene(client, folder, fleet, paced=True) as play:
        await play.zone_until("window.example", partial(is_in, ZonePhase.NEEDS_SUPPORT))
        # Nobody gets a permit while the campaign is paused.
        await play.ask("pause")
        window = f"zones/{play.zone_id('window.example')}"
        await play.control.send("PATCH", window, {"firewall_rules": []})
        await play.resolve_support("window.example")
        await play.zone_until("window.example", partial(is_in, ZonePhase.AWAITING_VALIDATION))
        await keep("zone-awaiting_validation_permit", play.zone("window.example"))
        await play.zone_until("refused.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        async with fault(play, REVOKED):
            await play.ask("resume")
            await play.sign_zone("refused.example")
            await play.zone_until("refused.example", partial(is_in, ZonePhase.WAITING_FOR_SERVICE))
            await keep("zone-waiting_for_service", play.zone("refused.example"))
            await stands_still(play)
            await keep("campaign-held", client.get_workflow_handle(campaign_id(play.spec.name)))
        await play.zone("refused.example").result()
        await keep("zone-migrated-after-the-service", play.zone("refused.example"))


async def reversible_held_up(client: Client, folder: Path) -> None:
    """The same of changes that can be undone: zones that wait for their permits, and for the service."""
    job = {"plan": "enterprise", "logs": {"jobs": [JOB]}}
    areas: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "esc": (esc_zone(""), ESC),
        "log-fields": (job, LOG_FIELDS),
    }
    for area, (described, spec) in areas.items():
        fleet = fleet_of(*({**described, "name": f"{name}.example"} for name in ("signed", "other")))
        async with scene(client, folder / area, fleet, paced=True, **spec) as play:
            for name in ("signed.example", "other.example"):
                await play.zone_until(name, partial(is_in, ZonePhase.AWAITING_SIGN_OFF), 120)
            await play.ask("pause")
            await play.sign_zone("signed.example")
            await play.zone_until("signed.example", partial(is_in, ZonePhase.AWAITING_PERMIT))
            await keep(f"{area}-awaiting_permit", play.zone("signed.example"))
            async with fault(play, REVOKED):
                await play.ask("resume")
                await play.zone_until("signed.example", partial(is_in, ZonePhase.WAITING_FOR_SERVICE))
                await keep(f"{area}-waiting_for_service", play.zone("signed.example"))
            await play.zone("signed.example").result()
            await keep(f"{area}-settled-after-the-service", play.zone("signed.example"))


async def given_up(client: Client, folder: Path) -> None:
    """A change that its worker does not come to send."""
    stalled = Stalled("change_zone")
    fleet = fleet_of({"name": "stalled.example", "plan": "pro"})
    commit = {"send_window": "3s", "margin": "1s", "migration_limit": "8s", "poll": "1s"}
    async with scene(client, folder, fleet, interceptors=[stalled], commit=commit) as play:
        await play.zone_until("stalled.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        await play.sign_zone("stalled.example")
        await play.sign_everything(120)
        stalled.go.set()
        await keep("zone-migrated-after-it-was-given-up", play.zone("stalled.example"))


async def called_off(client: Client, folder: Path) -> None:
    """A zone whose worker calls off what it does, each kind of local activity twice."""
    fleet = fleet_of({"name": "late.example", "plan": "pro"})
    async with scene(client, folder, fleet, interceptors=[CalledOff()]) as play:
        await play.sign_everything(120)
        await keep("zone-migrated-though-called-off", play.zone("late.example"))


async def reading_called_off(client: Client, folder: Path) -> None:
    """A campaign that is aborted while its zone is read, by a worker that does not come to an end."""
    stalled = Stalled("prepare_waf_zone")
    fleet = fleet_of({"name": "read.example", "plan": "pro"})
    async with scene(client, folder, fleet, interceptors=[stalled], silence="40d") as play:
        await stalled.begun.wait()
        await play.ask("abort")
        await play.zone("read.example").result()
        stalled.go.set()
        await play.result()
        await keep("zone-reading-called-off", play.zone("read.example"))


async def cancelled(client: Client, folder: Path) -> None:
    """A zone whose workflow somebody cancels while its commit is verified, which shows some seconds later."""
    fleet = fleet_of({"name": "cancelled.example", "plan": "pro"})
    shows, commit = {"migration_seconds": 8 * SCALE}, {"migration_limit": "60h"}
    async with scene(client, folder, fleet, simulator=shows, commit=commit) as play:
        await play.zone_until("cancelled.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        await play.sign_zone("cancelled.example")
        await play.zone_until("cancelled.example", partial(is_in, ZonePhase.VERIFYING))
        handle = play.zone("cancelled.example")
        await handle.cancel()
        await handle.result()
        await keep("zone-migrated-though-cancelled", handle)


async def cancelled_waiting(client: Client, folder: Path) -> None:
    """The same while the service refuses the credential by which the commit is verified."""
    shows: dict[str, Any] = {"simulator": {"migration_seconds": 86_400}, "commit": {"migration_limit": "20s"}}
    async with staged(client, folder, zone("cancelled"), paced=True, **shows) as stage:
        handle = await cancelled_as_it_waits(stage, "cancelled")
        await handle.result()
        await keep("zone-migrated-though-cancelled-as-it-waited", handle)


async def many_given_up(client: Client, folder: Path) -> None:
    """A campaign that is paused while each of its zones has a permit, of more than one batch, and no turn."""
    fleet = fleet_of(*({"name": f"z{number}.example", "plan": "pro"} for number in range(MANY)))
    # So slow that no sweep comes between, and with a plan's readings: else most of it are other words.
    slow: dict[str, Any] = {"time_scale": 1_000.0, "sweep": "4h", "window": MANY}
    async with scene(client, folder, fleet, begin=False, paced=True, **slow) as play:
        await start_by_plan(play)
        await play.until(lambda seen: sum(item.zones for item in seen.waiting) == MANY, 600)
        service = play.spec.service
        quota = client.get_workflow_handle(quota_id(service.caller(service.credentials[0])))
        await quota.signal("blocked", Blocked(seconds=300))
        await play.sign([item.fingerprint for item in (await play.summary()).waiting])

        async def all_permitted() -> bool:
            return (await play.summary()).permits_out == MANY

        await eventually(all_permitted, 120, "every zone has its permit")
        await play.ask("pause")
        await keep("campaign-many-given-up", play.campaign)
        await quota.terminate("the scene is over")

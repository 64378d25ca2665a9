"""Capture the histories that the replay tests run: ``python -m tests.replay.capture [ACT …]``.

Made anew only when a change of the workflows is meant to be incompatible; a safety fix must replay them.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome, campaign_id, quota_id
from edgeshift.model.sign_off import Choice
from edgeshift.quota.leases import Quotas
from edgeshift.rate_limit.circuit import Trouble, held
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from tests.kit import Scene, eventually, fleet_of, scene
from tests.kit.held import set_status
from tests.kit.signing import Roster
from tests.replay.capture_held import (
    called_off,
    cancelled,
    cancelled_waiting,
    given_up,
    held_up,
    many_given_up,
    reading_called_off,
    reversible_held_up,
)
from tests.replay.capture_later_runs import FOLLOWED_BY, continued, reset_under_a_permit, reset_zones
from tests.replay.capture_planned import planned, planned_esc, planned_log_fields
from tests.replay.capture_reversible import esc_accounts, esc_zones, log_fields
from tests.replay.capture_shared import four, many_held, planned_apart, shared
from tests.replay.capture_waiting import (
    aborted_at_the_close,
    assessing,
    begun_at_the_close,
    crowded,
    ended_in_its_batch,
    halted,
    looked_late,
    missed,
    paused_as_it_leaves,
    paused_while_halted,
    put_back,
    ruled_out,
    ruled_out_in_vain,
    support_asked,
    support_asked_in_vain,
)
from tests.replay.keeping import HISTORIES, is_in, keep
from workflows.campaign.ends import LOOKED_AT_AGAIN

OVERRIDE = {"urls": ["a.example/x"], "groups": {}, "rules": {}}


def long_rule() -> dict[str, object]:
    """A bypass rule whose expression is over the limit."""
    hosts = " or ".join(f'http.host eq "h{number:04d}.example"' for number in range(200))
    return {"action": "bypass", "products": ["waf"], "expression": hosts}


async def in_every_state(play: Scene, zones: dict[str, ZonePhase], within: float = 40) -> None:
    """Wait until each zone is in its state, and keep its history as it is then."""
    for zone, phase in zones.items():
        await play.zone_until(zone, partial(is_in, phase), within)
        await keep(f"zone-{phase.value}", play.zone(zone))


Act = Callable[[Client, Path], Awaitable[None]]


async def waiting(client: Client, folder: Path) -> None:
    """Zones in every waiting state, their campaign, then their ends."""
    fleet = fleet_of(
        {"name": "pro.example", "plan": "pro"},
        {"name": "rejected.example", "plan": "business", "previous_waf": {"owasp": {"sensitivity": "low"}}},
        {"name": "window.example", "plan": "enterprise"},
        {"name": "support.example", "plan": "pro", "firewall_rules": [long_rule()]},
        {"name": "overrides.example", "plan": "pro", "uri_overrides": [OVERRIDE]},
        {"name": "done.example", "plan": "pro", "migration": {"state": "complete"}},
    )
    async with scene(
        client, folder, fleet, consents={"delete_uri_overrides": True}, validation={"window": "36h"}
    ) as play:
        await in_every_state(
            play,
            {
                "window.example": ZonePhase.VALIDATING,
                "pro.example": ZonePhase.AWAITING_SIGN_OFF,
                "support.example": ZonePhase.NEEDS_SUPPORT,
            },
        )
        await play.zone_until("overrides.example", lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF)
        await keep("zone-awaiting_sign_off-of-deletion", play.zone("overrides.example"))
        await play.zone("done.example").result()
        await keep("zone-already_migrated", play.zone("done.example"))
        await keep("campaign-running", client.get_workflow_handle(campaign_id(play.spec.name)))
        await play.ask("pause")
        await play.sign_zone("pro.example")
        await play.zone_until("pro.example", lambda state: state.phase is ZonePhase.AWAITING_PERMIT)
        await keep("zone-awaiting_permit", play.zone("pro.example"))
        await keep("campaign-paused", client.get_workflow_handle(campaign_id(play.spec.name)))
        await play.ask("resume")
        await play.sign_zone("rejected.example", Choice.REJECT)
        await play.zone("rejected.example").result()
        await keep("zone-rejected", play.zone("rejected.example"))
        await play.zone("pro.example").result()
        await keep("zone-migrated-professional", play.zone("pro.example"))
        await play.zone_until("window.example", lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF)
        await keep("zone-awaiting_sign_off-with-evidence", play.zone("window.example"))
        await play.sign_zone("window.example")
        await play.zone("window.example").result()
        await keep("zone-migrated-enterprise", play.zone("window.example"))
        await play.sign_everything()
        await keep("zone-needs_support-ended", play.zone("support.example"))
        await keep("zone-overrides-deleted-and-migrated", play.zone("overrides.example"))
        await keep("campaign-closed", client.get_workflow_handle(campaign_id(play.spec.name)))


async def troubled(client: Client, folder: Path) -> None:
    """Zones whose change had no answer, whose configuration drifted, and that were aborted."""
    fleet = fleet_of(
        {"name": "unknown.example", "plan": "pro"},
        {"name": "drift.example", "plan": "business", "previous_waf": {"owasp": {"sensitivity": "low"}}},
        {"name": "aborted.example", "plan": "enterprise"},
    )
    async with scene(client, folder, fleet) as play:
        await play.control.send(
            "POST",
            "faults",
            {
                "match": {"zone": play.zone_id("unknown.example"), "call": "entrypoint.put"},
                "kind": "server_error",
                "effect": "before",
                "times": 1,
            },
        )
        await play.zone_until("unknown.example", lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF)
        await play.sign_zone("unknown.example")
        drifting = await play.zone_until(
            "drift.example", lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF
        )
        await play.control.send(
            "PATCH",
            f"zones/{play.zone_id('drift.example')}",
            {"previous_waf": {"owasp": {"sensitivity": "medium"}}},
        )
        await play.sign_zone("drift.example", digest=drifting.digest)
        await play.zone_until("drift.example", lambda state: bool(state.drifted_from))
        await keep("zone-drifted", play.zone("drift.example"))
        await play.zone("unknown.example").result()
        await keep("zone-unknown", play.zone("unknown.example"))
        await play.ask("abort")
        await play.result()
        await keep("zone-aborted", play.zone("aborted.example"))
        await keep("campaign-aborted", client.get_workflow_handle(campaign_id(play.spec.name)))


async def paced(client: Client, folder: Path) -> None:
    """A quota that has handed out slots, and whose calls were held for a while."""
    fleet = fleet_of({"name": "paced.example", "plan": "pro"})
    async with scene(client, folder, fleet, paced=True, time_scale=3600.0) as play:
        await play.sign_everything()
        caller = play.spec.service.caller(play.spec.service.credentials[0])
        quotas = Quotas(client)
        hold = held(Trouble.OUTAGE, "503", datetime.now(UTC), "")
        await quotas.hold(play.spec.service.credentials[0], play.spec, hold)
        await quotas.probe(caller, [])
        await quotas.fixed(caller, [])
        await eventually(lambda: _let_go(quotas, caller), 20, "the calls go on")
        await keep("quota-held", client.get_workflow_handle(quota_id(caller)))
        await keep("freeze", client.get_workflow_handle(f"targets/{play.spec.name}"))


async def _let_go(quotas: Quotas, caller: str) -> bool:
    return not (await quotas.standing(caller)).holds


async def signed(client: Client, folder: Path) -> None:
    """A campaign that counts what workers have signed: while a forged word is looked into, and its end."""
    fleet = fleet_of(*({"name": f"{name}.example", "plan": "pro"} for name in "abc"))
    async with scene(client, folder, fleet, authority=Roster()) as play:
        for name in "abc":
            await play.zone_until(f"{name}.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        campaign = client.get_workflow_handle(campaign_id(play.spec.name))
        await play.say_ended("a.example", ZoneOutcome.MIGRATED)
        await play.until(lambda found: any("said to have ended" in note for note in found.notes))
        await keep("campaign-late-running", campaign)
        await play.sign_everything()
        await play.result()
        await keep("campaign-late-closed", campaign)


async def unread(client: Client, folder: Path) -> None:
    """A campaign that looks into the word of a zone whose workflow is gone, while the service refuses the
    token that would say where it stands. ``campaign-unread-once`` is what the version before
    ``unread-ends-are-looked-at-again`` made of it.
    """
    fleet = fleet_of(*({"name": f"{name}.example", "plan": "pro"} for name in "ab"))
    async with scene(client, folder, fleet, authority=Roster()) as play:
        for name in "ab":
            await play.zone_until(f"{name}.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        campaign = client.get_workflow_handle(campaign_id(play.spec.name))
        await set_status(play, "expired")
        await play.zone("a.example").terminate("by mistake")
        await play.say_ended("a.example", ZoneOutcome.FAILED)

        async def looked() -> bool:
            looks = 0
            async for event in campaign.fetch_history_events():
                asked = event.activity_task_scheduled_event_attributes
                looks += asked.activity_type.name == "describe_zones" and b'"ended":[0]' in (
                    asked.input.payloads[0].data
                )
            return looks == 1 + LOOKED_AT_AGAIN

        await eventually(looked, 60, "the zone is looked at again")
        await keep("campaign-unread-running", campaign)


SETTINGS: dict[Act, dict[str, str]] = {
    continued: {"limit.historyCount.suggestContinueAsNew": str(FOLLOWED_BY)}
}
"""What the server of an act is told beside what it always is."""


async def main() -> None:
    """Capture them all, or those of the acts that are named."""
    HISTORIES.mkdir(exist_ok=True)
    acts: list[Act] = [
        waiting,
        troubled,
        paced,
        esc_zones,
        esc_accounts,
        log_fields,
        held_up,
        reversible_held_up,
        given_up,
        called_off,
        cancelled,
        cancelled_waiting,
        reading_called_off,
        many_given_up,
        signed,
        unread,
        planned,
        planned_esc,
        planned_log_fields,
        halted,
        paused_while_halted,
        begun_at_the_close,
        missed,
        ended_in_its_batch,
        looked_late,
        paused_as_it_leaves,
        aborted_at_the_close,
        put_back,
        ruled_out,
        ruled_out_in_vain,
        support_asked,
        support_asked_in_vain,
        shared,
        four,
        many_held,
        crowded,
        planned_apart,
        assessing,
        reset_zones,
        reset_under_a_permit,
        continued,
    ]
    acts = [act for act in acts if act.__name__ in sys.argv[1:] or not sys.argv[1:]]
    with tempfile.TemporaryDirectory() as name:
        for act in acts:
            async with embedded_temporal(None, settings=SETTINGS.get(act)) as server:
                client = await connect(TemporalSettings(address=server.address), identity="replay")
                await act(client, Path(name) / act.__name__)


if __name__ == "__main__":
    asyncio.run(main())

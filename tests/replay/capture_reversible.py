"""The acts of the capture whose changes can be undone: esc for zones and accounts, and log-fields."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import campaign_id
from tests.kit import BUCKET, fleet_of, scene
from tests.kit.zones import ON, esc_zone
from tests.replay.keeping import is_in, keep

ESC: dict[str, Any] = {
    "area": "esc",
    "esc": {
        "observe": "40h",
        "every": "10h",
        "probe": {"sample": 4, "rounds": 2, "per_second": 500, "sitemap": False, "urls": ["/api/items"]},
    },
    "commit": {"migration_limit": "8s", "poll": "1s"},
}


async def esc_zones(client: Client, folder: Path) -> None:
    """Scopes in every waiting state, settled, rolled back and left alone."""
    failing = {"failures": [{"path": "/api/items", "when": "esc_off"}]}
    fleet = fleet_of(
        esc_zone("plain.example"),
        esc_zone("worse.example", edge=failing),
        {**esc_zone("off.example"), "esc": {**ON, "always": True}},
    )
    async with scene(client, folder, fleet, begin=False, **ESC) as play:
        slow = {"match": {"call": "esc.get"}, "kind": "latency", "seconds": 1.0, "times": 6}
        await play.control.send("POST", "faults", slow)
        await play.begin()
        # The pause comes while the zones are read: they have begun, and get no permit.
        await play.until(lambda seen: not seen.places.get("pending"))
        await play.ask("pause")
        await play.zone_until("plain.example", partial(is_in, ZonePhase.AWAITING_FIRST_PERMIT))
        await keep("esc-awaiting_first_permit", play.zone("plain.example"))
        await play.ask("resume")
        await play.zone_until("plain.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        await keep("esc-awaiting_sign_off", play.zone("plain.example"))
        await keep("campaign-esc-running", client.get_workflow_handle(campaign_id(play.spec.name)))
        await play.sign_zone("plain.example")
        await play.zone_until("plain.example", partial(is_in, ZonePhase.WATCHING))
        await keep("esc-watching", play.zone("plain.example"))
        await play.sign_everything()
        await keep("esc-settled", play.zone("plain.example"))
        await keep("esc-rolled_back", play.zone("worse.example"))
        await keep("esc-already_settled", play.zone("off.example"))


async def esc_accounts(client: Client, folder: Path) -> None:
    """An account with the holds on its zones."""
    fleet = fleet_of(
        esc_zone("first.example"), esc_zone("second.example"), accounts=[{"name": "one", "esc": {}}]
    )
    spec = {**ESC, "esc": {**ESC["esc"], "scope": "account"}}
    async with scene(client, folder, fleet, **spec) as play:
        account = client.get_workflow_handle(f"account/{fleet.accounts[0].id}/esc")
        hold = client.get_workflow_handle(f"zone/{fleet.zones[0].id}/esc")
        await play.until(lambda found: bool(found.waiting))
        await keep("account-awaiting_sign_off", account)
        await keep("hold-held", hold)
        await play.sign_everything()
        await keep("account-settled", account)
        await keep("hold-released", hold)


async def log_fields(client: Client, folder: Path) -> None:
    """Zones that wait, that log their fields, and from which they were taken back."""
    job = {
        "destination": f"s3://{BUCKET}/logs?region=eu-west-1",
        "logpull_options": "fields=RayID&timestamps=rfc3339",
        "name": "own",
    }
    names = ("plain.example", "refused.example")
    fleet = fleet_of(*({"name": name, "plan": "enterprise", "logs": {"jobs": [job]}} for name in names))
    terms = {"request_headers": ["user-agent"], "verify": "40h", "every": "10h"}
    commit = {"migration_limit": "8s", "poll": "1s"}
    spec: dict[str, Any] = {"area": "log-fields", "log_fields": terms, "commit": commit}
    async with scene(client, folder, fleet, **spec) as play:
        refusing = {"zone": play.zone_id("refused.example"), "call": "logpush.jobs.update"}
        fault = {"match": refusing, "kind": "rate_limit", "times": 500}
        await play.control.send("POST", "faults", fault)
        for name in names:
            await play.zone_until(name, partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        await keep("log-fields-awaiting_sign_off", play.zone("plain.example"))
        await play.sign_zone("plain.example")
        await play.zone_until("plain.example", partial(is_in, ZonePhase.WATCHING))
        await keep("log-fields-watching", play.zone("plain.example"))
        await play.sign_zone("refused.example")
        await play.zone_until("refused.example", lambda state: state.phase is ZonePhase.COMMITTING)
        await play.zone("plain.example").result()
        await keep("log-fields-settled", play.zone("plain.example"))
        await play.ask("abort")
        await play.zone("refused.example").result()
        await keep("log-fields-rolled_back", play.zone("refused.example"))

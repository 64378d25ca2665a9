"""The acts of the capture whose zones begin with what a plan has read.

The histories ``planned-professional-…``, ``planned-log-fields-…`` and ``campaign-planned-…`` are of before
whoever starts such a zone told its campaign that it waits: nothing captures them again.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import campaign_id
from tests.kit import BUCKET, fleet_of, scene
from tests.kit.planned import start_by_plan
from tests.kit.zones import esc_zone
from tests.replay.capture_reversible import ESC
from tests.replay.keeping import is_in, keep

JOB = {
    "destination": f"s3://{BUCKET}/logs?region=eu-west-1",
    "logpull_options": "fields=RayID&timestamps=rfc3339",
    "name": "own",
}
LOG_FIELDS: dict[str, Any] = {
    "area": "log-fields",
    "log_fields": {"request_headers": ["user-agent"], "verify": "40h", "every": "10h"},
    "commit": {"migration_limit": "8s", "poll": "1s"},
}


async def planned(client: Client, folder: Path) -> None:
    """A Professional and an Enterprise zone that begin with a plan's readings, and their campaign."""
    fleet = fleet_of(
        {"name": "pro.example", "plan": "pro"}, {"name": "enterprise.example", "plan": "enterprise"}
    )
    async with scene(client, folder, fleet, begin=False) as play:
        await start_by_plan(play)
        pro, enterprise = play.zone("pro.example"), play.zone("enterprise.example")
        await play.zone_until("pro.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        await keep("told-professional-awaiting_sign_off", pro)
        await play.zone_until("enterprise.example", partial(is_in, ZonePhase.VALIDATING))
        await keep("planned-enterprise-validating", enterprise)
        await keep("campaign-told-running", client.get_workflow_handle(campaign_id(play.spec.name)))
        await play.zone_until("enterprise.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        await keep("planned-enterprise-awaiting_sign_off", enterprise)
        await play.sign_everything()
        await keep("told-professional-migrated", pro)
        await keep("planned-enterprise-migrated", enterprise)
        await keep("campaign-told-closed", client.get_workflow_handle(campaign_id(play.spec.name)))


async def planned_esc(client: Client, folder: Path) -> None:
    """A zone of the area esc that begins with a plan's reading."""
    async with scene(client, folder, fleet_of(esc_zone("plain.example")), begin=False, **ESC) as play:
        await start_by_plan(play)
        await play.zone_until("plain.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        await keep("planned-esc-awaiting_sign_off", play.zone("plain.example"))
        await play.sign_everything()
        await keep("planned-esc-settled", play.zone("plain.example"))


async def planned_log_fields(client: Client, folder: Path) -> None:
    """A zone of the area log-fields that begins with a plan's reading."""
    fleet = fleet_of({"name": "plain.example", "plan": "enterprise", "logs": {"jobs": [JOB]}})
    async with scene(client, folder, fleet, begin=False, **LOG_FIELDS) as play:
        await start_by_plan(play)
        await play.zone_until("plain.example", partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        await keep("told-log-fields-awaiting_sign_off", play.zone("plain.example"))
        await play.sign_everything()
        await keep("told-log-fields-settled", play.zone("plain.example"))

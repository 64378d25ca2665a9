"""The paths of waf at each of whose activities a worker is killed."""

from __future__ import annotations

from typing import Any

from edgeshift.messages import ZonePhase
from tests.harness.campaigns.fleet_zones import OVERRIDE, TOO_LONG
from tests.harness.kills.scene import Changes, Course
from tests.kit.faults import Stage, zone

BEGIN = ("resolve_targets", "recall_rulings", "start_zones", "prepare_waf_zone")
COMMIT = ("record_rulings", "tell_zones", "change_zone", "verify_waf_zone", "tell_campaign")
PUT = ("entrypoint.put", "pending")
TERMS: dict[str, Any] = {"consents": {"delete_uri_overrides": True}}


async def _fix(stage: Stage) -> None:
    await stage.phase(stage.names[0], ZonePhase.NEEDS_SUPPORT)
    await stage.change(stage.names[0], firewall_rules=[])
    await stage.play.resolve_support(stage.name(stage.names[0]))


def _course(given: dict[str, Any], changes: Changes, *between: str, **more: Any) -> Course:
    return Course((given,), TERMS, (*BEGIN, *between, *COMMIT), changes, "migrated", **more)


COURSES: dict[str, Course] = {
    "professional": _course(zone("shop"), [PUT], "tell_campaign"),
    "enterprise": _course(
        zone("big", "enterprise"),
        [("entrypoint.put", "validation"), PUT],
        "change_zone",
        "tell_campaign",
        "gather_evidence",
    ),
    "overrides": _course(
        zone("legacy", uri_overrides=[OVERRIDE]),
        [("waf.overrides.delete", ""), PUT],
        "tell_campaign",
        "record_rulings",
        "tell_zones",
        "change_zone",
        "prepare_waf_zone",
        "tell_campaign",
    ),
    "support": _course(
        zone("crowded", firewall_rules=TOO_LONG),
        [PUT],
        "open_ticket",
        "tell_campaign",
        "prepare_waf_zone",
        "tell_campaign",
        meanwhile=_fix,
    ),
}

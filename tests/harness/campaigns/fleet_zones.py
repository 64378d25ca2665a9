"""Zones as a schedule's shapes have them, and the terms of campaigns that are over within a minute."""

from __future__ import annotations

import math
from typing import Any

from tests.harness.campaigns.schedules import Schedule, ZonePlan
from tests.harness.campaigns.stages import ESC, LOG_FIELDS, TURNS, esc_zone, log_zone, over
from tests.kit import SCALE
from tests.kit.faults import QUICK, zone

OVERRIDE = {"urls": ["shop.example/admin/*"], "rules": {"100000": "disable"}}
TOO_LONG = [{"expression": f'http.request.uri.path eq "/{"x" * 4097}"', "products": ["waf"]}]
LONGEST = [{"expression": f'http.request.uri.path eq "/{"x" * 4068}"', "products": ["waf"]}]
PAGE_RULE = {"targets": ["{zone}/upload/*"], "actions": [{"id": "waf", "value": "off"}]}

EXPIRES_SECONDS = 10.0
"""Real seconds until a sign-off expires, in campaigns where some do."""

SUPPORT_SECONDS = 6.0
"""Real seconds for which a zone waits for support."""


def bypasses(count: int) -> list[dict[str, Any]]:
    """So many firewall rules that migrate."""
    return [{"expression": f"ip.src eq 192.0.2.{n % 250}", "products": ["waf"]} for n in range(count)]


WAF: dict[str, dict[str, Any]] = {
    "pro": zone(""),
    "business": zone("", "business"),
    "bypass": zone(
        "", firewall_rules=bypasses(3), previous_waf={"managed": {"rules": {"100008": "simulate"}}}
    ),
    "page": zone("", "business", page_rules=[PAGE_RULE]),
    "enterprise": zone("", "enterprise"),
    "adopted": zone("", "enterprise", migration={"state": "validation"}),
    "overrides": zone("", uri_overrides=[OVERRIDE]),
    "already": zone("", migration={"state": "complete"}),
    "default": zone("", "business", migration={"state": "default"}),
    "many": zone("", firewall_rules=bypasses(201)),
    "long": zone("", firewall_rules=TOO_LONG),
    "full": zone("", firewall_rules=[*bypasses(199), *LONGEST]),
}
"""Zones of waf by shape, without their names."""

MENDED = frozenset({"long"})
"""Shapes whose support case is resolved; others wait until they wait no longer."""


def fleet_zone(plan: ZonePlan) -> dict[str, Any]:
    """The zone of a plan, as a fleet has it."""
    match plan.shape:
        case "plain" | "own" | "worse":
            return esc_zone(plan.name, own=plan.shape == "own", worse=plan.shape == "worse")
        case "off":
            made = esc_zone(plan.name)
            return {**made, "esc": {**made["esc"], "always": True}}
        case "bare" | "jobless":
            return log_zone(plan.name, job=plan.shape != "jobless")
        case "foreign" | "unseen":
            return log_zone(plan.name, foreign=True)
    return {**WAF[plan.shape], "name": plan.name}


def terms_of(schedule: Schedule) -> dict[str, Any]:
    """The campaign's terms."""
    match schedule.area:
        case "esc":
            # A late secret is waited for, so that the probe sees what it is to see.
            wait = math.ceil((schedule.delays["esc_effect_seconds"] + 1) * SCALE)
            found = over(
                ESC, esc={"secret_takes": f"{wait}s", "observe": f"{3 * wait}s", "every": f"{wait}s"}
            )
        case "log-fields":
            found = over(LOG_FIELDS, log_fields={"unverified": "roll_back", "verify": "4s"})
        case _:
            found = {
                "area": "waf",
                "commit": QUICK["commit"],
                "waits_for_support": f"{math.ceil(SUPPORT_SECONDS * SCALE)}s",
                "consents": {"delete_uri_overrides": schedule.consents, "enforce_validation": True},
                "validation": {"modes": list(schedule.modes)},
            }
    found = over(found, commit={"resend_unchanged": schedule.resend_unchanged})
    # On a busy machine a campaign lasts longer than a fortnight of its own time.
    found = over(found, sign_off={"expires_after": "90d", "valid_for": "90d"})
    if schedule.paced:
        found = over(found, commit=TURNS)
    if schedule.expires:
        found = over(found, sign_off={"expires_after": f"{math.ceil(EXPIRES_SECONDS * SCALE)}s"})
    return found

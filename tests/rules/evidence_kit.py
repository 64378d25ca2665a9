"""Security events as they are planted, and the evidence of them."""

from __future__ import annotations

from typing import Any

from edgeshift.areas.waf import MANAGED_RULESET, OWASP_RULESET
from edgeshift.areas.waf.evidence import Evidence, EvidencePolicy, judge

Json = dict[str, Any]
OURS = frozenset({MANAGED_RULESET, OWASP_RULESET})
LENIENT = EvidencePolicy(enough=0, false_positives=10**6, gaps=10**6)


def event(ray: str, source: str, action: str, **more: Any) -> Json:
    """A security event as the service gives it."""
    return {
        "rayName": ray,
        "source": source,
        "action": action,
        "ruleId": "r1",
        "rulesetId": MANAGED_RULESET if source.lower() == "firewallmanaged" else "",
        "datetime": "2026-03-01T12:00:00Z",
        "clientIP": "192.0.2.1",
        "clientRequestHTTPHost": "shop.example",
        "clientRequestHTTPMethodName": "GET",
        "clientRequestPath": "/cart",
        "clientRequestQuery": "",
        **more,
    }


def old(ray: str, action: str = "block", **more: Any) -> Json:
    return event(ray, "waf", action, **more)


def new(ray: str, action: str = "log", **more: Any) -> Json:
    return event(ray, "firewallManaged", action, **more)


def seen(*events: Json, mode: str = "shadow", policy: EvidencePolicy = LENIENT) -> Evidence:
    return judge(events, OURS, mode, policy)


def counts(found: Evidence) -> tuple[int, int, int]:
    return found.false_positives, found.gaps, found.agreed
